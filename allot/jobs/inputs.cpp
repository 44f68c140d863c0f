#include "allot/jobs/inputs.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "allot/base/control.hpp"
#include "allot/jobs/template.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kMostProblems = 100;  // in one file: with this many, it is probably not the right kind
                                            // of file
constexpr int kDeepest = 64;                // maximum depth of folders for `**`

bool is_pattern(std::string_view text) noexcept {
  return text.find_first_of("*?[") != std::string_view::npos;
}

/// Walks the folders in which a pattern can match.
class Matcher {
 public:
  Matcher(std::string folder, std::size_t most, std::vector<std::string>& found)
      : folder_(std::move(folder)), most_(most), found_(found) {}

  void run(std::string_view pattern) {
    const bool is_absolute = pattern.starts_with('/');
    std::vector<std::string> steps;
    for (std::size_t at = 0; at <= pattern.size();) {
      const std::size_t end = std::min(pattern.find('/', at), pattern.size());
      if (end > at) steps.emplace_back(pattern.substr(at, end - at));
      at = end + 1;
    }
    match(is_absolute ? "/" : "", steps, 0, 0);
  }

 private:
  /// `prefix` is the beginning of the values: empty, or with a slash at its end.
  void match(const std::string& prefix, const std::vector<std::string>& steps, std::size_t at, int depth) {
    if (at == steps.size() || found_.size() > most_) return;
    const std::string& step = steps[at];
    const bool is_last = at + 1 == steps.size();
    if (step == "**" && !is_last) match(prefix, steps, at + 1, depth);
    if (!is_pattern(step)) {
      std::error_code error;
      const std::string path = prefix + step;
      if (is_last) {
        if (fs::symlink_status(on_disk(path), error).type() != fs::file_type::not_found && !error)
          found_.push_back(path);
      } else {
        match(path + "/", steps, at + 1, depth);
      }
      return;
    }
    for (const auto& [name, is_folder, is_link] : entries(prefix)) {
      if (::fnmatch(step == "**" ? "*" : step.c_str(), name.c_str(), FNM_PERIOD) != 0) continue;
      const std::string path = prefix + name;
      if (is_last) {
        found_.push_back(path);
      } else if (is_folder && step != "**") {
        match(path + "/", steps, at + 1, depth);
      }
      // Links to folders could form cycles.
      if (step == "**" && is_folder && !is_link && depth < kDeepest) match(path + "/", steps, at, depth + 1);
    }
  }

  struct Name {
    std::string name;
    bool is_folder;
    bool is_link;
  };
  std::vector<Name> entries(const std::string& prefix) const {
    std::vector<Name> names;
    std::error_code error;
    for (fs::directory_iterator it(on_disk(prefix), error), end; !error && it != end; it.increment(error)) {
      std::error_code ignored;
      names.push_back({it->path().filename().string(), it->is_directory(ignored), it->is_symlink(ignored)});
    }
    return names;
  }

  fs::path on_disk(const std::string& path) const {
    if (path.starts_with('/')) return path;
    const fs::path folder = folder_.empty() ? fs::path(".") : fs::path(folder_);
    return path.empty() ? folder : folder / path;
  }

  std::string folder_;
  std::size_t most_;
  std::vector<std::string>& found_;
};

/// Whether there are too many; reports it as a problem.
bool are_too_many(const InputTable& table, std::size_t most, std::vector<InputProblem>& problems) {
  if (table.rows() <= most) return false;
  problems.push_back({0, "gives more than " + std::to_string(most) + " tasks"});
  return true;
}

/// Records of a CSV text, field by field.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::vector<InputProblem>& problems) : text_(text), problems_(problems) {}

  bool at_end() const noexcept { return at_ >= text_.size(); }
  std::size_t line() const noexcept { return line_; }

  /// Reads one record. False, with a problem, if the rest cannot be parsed.
  bool record(std::vector<std::string>& fields) {
    fields.clear();
    start_ = line_;
    while (true) {
      fields.emplace_back();
      if (!(look() == '"' ? quoted(fields.back()) : plain(fields.back()))) return false;
      if (look() != ',') break;
      ++at_;
    }
    if (look() == '\r') ++at_;
    if (look() == '\n') {
      ++at_;
      ++line_;
    }
    return true;
  }
  std::size_t start() const noexcept { return start_; }

 private:
  char look() const noexcept { return at_ < text_.size() ? text_[at_] : '\n'; }

  bool plain(std::string& field) {
    std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    if (end > at_ && text_[end - 1] == '\r' && (end == text_.size() || text_[end] == '\n')) --end;
    field = text_.substr(at_, end - at_);
    at_ = end;
    if (field.find('"') == std::string::npos) return true;
    problems_.push_back(
        {line_,
         "a quote in the middle of a field; put the whole field in quotes, and double the quote in it"});
    return true;
  }

  bool quoted(std::string& field) {
    const std::size_t opened = line_;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') ++line_;
      if (text_[at_] != '"') {
        field += text_[at_];
      } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        field += text_[++at_];
      } else {
        ++at_;
        const bool ends_line =
            look() == '\n' || (look() == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n'));
        if (look() == ',' || ends_line) return true;
        problems_.push_back({line_, "a quoted field continues after its closing quote"});
        return false;
      }
    }
    problems_.push_back({opened, "a quoted field is not closed"});
    return false;
  }

  std::string_view text_;
  std::vector<InputProblem>& problems_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t start_ = 1;
};

void check_columns(const std::vector<std::string>& columns, std::vector<InputProblem>& problems) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& column : columns) {
    Placeholder placeholder{};
    std::size_t at = 0;
    if (column.empty()) {
      problems.push_back({1, "a column has no name"});
    } else if (find_placeholder(column, {{}, true, true}, placeholder, at)) {
      problems.push_back(
          {1, "a column cannot be called '" + column + "': {" + column + "} means something else"});
    } else if (column.find_first_of("{}") != std::string::npos || has_control_character(column)) {
      problems.push_back(
          {1, "a column's name cannot hold braces, line ends or other control characters: '" + column + "'"});
    }
    if (!seen.insert(column).second && !column.empty())
      problems.push_back({1, "two columns are called '" + column + "'"});
  }
}

bool has_null(std::string_view text) noexcept { return text.find('\0') != std::string_view::npos; }

}  // namespace

InputTable inputs_from_patterns(std::span<const std::string> entries, const std::string& folder,
                                std::size_t most, std::vector<InputProblem>& problems) {
  InputTable table;
  for (const std::string& entry : entries) {
    if (entry.empty() || has_null(entry)) {
      problems.push_back(
          {0, entry.empty() ? "an empty string is not an input" : "an input cannot hold a zero byte"});
      continue;
    }
    if (!is_pattern(entry)) {
      table.values.push_back(entry);
    } else {
      std::vector<std::string> found;
      Matcher(folder, most, found).run(entry);
      // A file with a name like an option must not become one. Values written by the user stay unchanged:
      // they may be meant as options.
      for (std::string& path : found) {
        if (path.starts_with('-')) path.insert(0, "./");
      }
      // `**` may find a path more than once.
      std::sort(found.begin(), found.end());
      found.erase(std::unique(found.begin(), found.end()), found.end());
      if (found.empty()) problems.push_back({0, "'" + entry + "' matches nothing"});
      table.values.insert(table.values.end(), found.begin(), found.end());
    }
    if (are_too_many(table, most, problems)) break;
  }
  return table;
}

InputTable inputs_from_list(std::string_view text, std::size_t most, std::vector<InputProblem>& problems) {
  InputTable table;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::size_t line = 0;
  while (!text.empty()) {
    ++line;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view value = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (value.ends_with('\r')) value.remove_suffix(1);
    if (value.empty()) continue;
    if (has_null(value)) {
      problems.push_back({line, "an input cannot hold a zero byte"});
      if (problems.size() >= kMostProblems) break;
      continue;
    }
    table.values.emplace_back(value);
    if (are_too_many(table, most, problems)) break;
  }
  if (table.values.empty() && problems.empty()) problems.push_back({0, "has no line"});
  return table;
}

InputTable inputs_from_null_list(std::string_view text, std::size_t most,
                                 std::vector<InputProblem>& problems) {
  InputTable table;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    if (end > 0) table.values.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (are_too_many(table, most, problems)) break;
  }
  if (table.values.empty() && problems.empty()) problems.push_back({0, "has no value"});
  return table;
}

InputTable inputs_from_stream(std::istream& in, bool null_separated, std::size_t most,
                              std::vector<InputProblem>& problems) {
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (text.size() <= kMostInputBytes && in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad() || text.size() > kMostInputBytes) {
    problems.push_back({0, in.bad() ? "cannot be read" : "is larger than 256 MiB"});
    return {};
  }
  return null_separated ? inputs_from_null_list(text, most, problems)
                        : inputs_from_list(text, most, problems);
}

InputTable inputs_from_csv(std::string_view text, std::size_t most, std::vector<InputProblem>& problems) {
  InputTable table;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (text.empty()) {
    problems.push_back({0, "is empty: the first line names the columns"});
    return table;
  }
  CsvReader reader(text, problems);
  if (!reader.record(table.columns)) return table;
  check_columns(table.columns, problems);
  std::vector<std::string> fields;
  while (!reader.at_end() && problems.size() < kMostProblems) {
    if (!reader.record(fields)) break;
    if (fields.size() == 1 && fields.front().empty() && table.columns.size() > 1) continue;  // an empty line
    if (fields.size() != table.columns.size()) {
      problems.push_back({reader.start(), "has " + std::to_string(fields.size()) + " fields, not " +
                                              std::to_string(table.columns.size()) +
                                              " as the columns in the first line"});
      continue;
    }
    if (std::any_of(fields.begin(), fields.end(), [](const std::string& field) { return has_null(field); })) {
      problems.push_back({reader.start(), "an input cannot hold a zero byte"});
      continue;
    }
    std::move(fields.begin(), fields.end(), std::back_inserter(table.values));
    if (are_too_many(table, most, problems)) break;
  }
  if (table.values.empty() && problems.empty()) problems.push_back({0, "has no line after its columns"});
  return table;
}

InputTable inputs_from_file(const std::string& path, std::size_t most, std::vector<InputProblem>& problems) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  const auto refuse = [&](const std::string& why) {
    problems.push_back({0, why});
    return InputTable();
  };
  if (!fs::exists(status)) return refuse("cannot be read: " + std::generic_category().message(ENOENT));
  if (!fs::is_regular_file(status)) return refuse("is not a file");
  if (fs::file_size(path, error) > kMostInputBytes) return refuse("is larger than 256 MiB");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad())
    return refuse("cannot be read" + (errno == 0 ? "" : ": " + std::generic_category().message(errno)));
  std::string extension = fs::path(path).extension().string();
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == ".csv" ? inputs_from_csv(text, most, problems) : inputs_from_list(text, most, problems);
}

InputTable inputs_by_counting(std::size_t count) {
  InputTable table;
  table.values.reserve(count);
  for (std::size_t k = 1; k <= count; ++k) table.values.push_back(std::to_string(k));
  return table;
}

}  // namespace allot
