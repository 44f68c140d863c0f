#include "allot/format/problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "allot/base/control.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"
#include "allot/format/duration.hpp"
#include "allot/model/violations.hpp"

namespace allot {
namespace {

constexpr std::size_t kMostProblems = 10'000;
constexpr std::size_t kMostSuggestions = 300;

/// What other tools call our keys.
struct OtherName {
  std::string_view theirs;
  std::string_view ours;
  std::string_view how = "";  ///< the value differs, too
};
constexpr std::string_view kAsRate = ", in tasks per second";
constexpr std::array<OtherName, 32> kOtherNames = {
    {{"slots", "servers"},
     {"cores", "servers"},
     {"workers", "servers"},
     {"cpus", "servers"},
     {"jobs", "servers"},
     {"units", "servers"},
     {"queue", "discipline"},
     {"type", "kind"},
     {"watts", "power"},
     {"threads", "count"},
     {"number", "count"},
     {"n", "count"},
     {"weight", "priority"},
     {"share", "priority"},
     {"rate", "rates", kAsRate},
     {"speed", "rates", kAsRate},
     {"speeds", "rates", kAsRate},
     {"cmd", "command"},
     {"run", "command"},
     {"exec", "command"},
     {"files", "inputs"},
     {"args", "inputs"},
     {"cwd", "directory"},
     {"workdir", "directory"},
     {"environment", "env"},
     {"time_limit", "timeout"},
     {"time", "timeout"},
     {"times", "repeat"},
     {"time", "rates", kAsRate},
     {"times", "rates", kAsRate},
     {"seconds", "rates", kAsRate},
     {"max_response", "floor", ", count / max_response tasks per second"}}};

/// What abbreviations stand for.
struct Meaning {
  std::string_view word;
  std::string_view meaning;
};
constexpr std::array<Meaning, 4> kMeanings = {{{"gp", "general processor"},
                                               {"sa", "specialised accelerator"},
                                               {"ps", "processor sharing"},
                                               {"fcfs", "first come, first served"}}};

/// "'gp' (general processor), 'sa' (specialised accelerator)"
std::string explained(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words) {
    text += (text.empty() ? "" : ", ") + quote::name(word);
    for (const Meaning& known : kMeanings) {
      if (known.word == word) text += " (" + std::string(known.meaning) + ")";
    }
  }
  return text;
}

/// The key that an unknown one stands for, if any: what other tools call a key comes before similar spelling.
OtherName other_name(std::string_view key, std::span<const std::string_view> keys) {
  for (const OtherName& other : kOtherNames) {
    if (other.theirs == key && std::find(keys.begin(), keys.end(), other.ours) != keys.end()) return other;
  }
  return {key, nearest(key, keys)};
}

}  // namespace

std::string suggestion(std::string_view name, std::span<const std::string_view> names) {
  const std::string_view meant = nearest(name, names);
  return meant.empty() ? "" : "; did you mean " + quote::name(meant) + "?";
}

Problems::Problems(const Document& document) : document_(document) {
  for (const Node* node : document.duplicates()) {
    const std::string& key = (*node->parent->get<Node::Table>())[node->slot].key;
    add(*node, "key " + quote::name(key) + " is given twice in the same object; keep one");
  }
}

void Problems::add(const Node& where, std::string message) {
  if (found_.size() < kMostProblems) {
    found_.push_back({&where, std::move(message)});
  } else {
    ++left_out_;
  }
}

std::string Problems::suggestion(std::string_view name, std::span<const std::string_view> names) const {
  return size() < kMostSuggestions ? allot::suggestion(name, names) : std::string();
}

std::vector<Diagnostic> Problems::diagnostics() const {
  std::vector<Found> sorted = found_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Found& a, const Found& b) {
    return a.where->line != b.where->line ? a.where->line < b.where->line : a.where->order < b.where->order;
  });
  std::vector<Diagnostic> out;
  out.reserve(sorted.size() + 1);
  for (Found& found : sorted) out.push_back({document_.place(*found.where), std::move(found.message)});
  if (left_out_ > 0) {
    out.push_back({document_.place(document_.root()), "and " + std::to_string(left_out_) + " more problems"});
  }
  return out;
}

std::optional<std::string> read_text(const Node& node, const std::string& what, Problems& problems) {
  if (const auto* value = node.get<std::string>()) return *value;
  problems.add(node, what + " must be a string, is " + problems.document().describe(node));
  return std::nullopt;
}

std::optional<Count> any_whole(const Node& node, const Document& document) {
  if (const auto* integer = node.get<std::int64_t>()) return *integer;
  const auto* real = node.get<double>();
  const bool is_whole =
      real && document.format() == FileFormat::kJson && std::trunc(*real) == *real && std::abs(*real) < 9e15;
  return is_whole ? std::optional(static_cast<Count>(*real)) : std::nullopt;
}

std::optional<double> any_number(const Node& node) {
  if (const auto* integer = node.get<std::int64_t>()) return static_cast<double>(*integer);
  if (const auto* real = node.get<double>()) return *real + 0.0;
  return std::nullopt;
}

std::optional<Count> read_whole(const Node& node, const std::string& what, Count least, Count most,
                                Problems& problems) {
  const std::optional<Count> value = any_whole(node, problems.document());
  if (value && *value >= least && *value <= most) return value;
  problems.add(node, what + " " + wanted_whole(static_cast<double>(least), static_cast<double>(most)) +
                         ", is " + problems.document().describe(node));
  return std::nullopt;
}

std::optional<double> read_number(const Node& node, const std::string& what, Problems& problems) {
  const std::optional<double> value = any_number(node);
  const std::string wrong = wanted_number(value.value_or(std::nan("")), 0, kMaxNumber);
  if (wrong.empty()) return value;
  problems.add(node, what + " " + wrong + ", is " + problems.document().describe(node));
  return std::nullopt;
}

std::optional<double> read_seconds(const Node& node, const std::string& what, Problems& problems) {
  const auto* const written = node.get<std::string>();
  if (!written) return read_number(node, what, problems);
  if (const auto seconds = parse_duration(*written); seconds && *seconds <= kMaxNumber) return seconds;
  problems.add(node,
               what + " must be seconds >= 0 or a text such as \"500ms\", \"30s\", \"5m\" or \"1.5h\", is " +
                   problems.document().describe(node));
  return std::nullopt;
}

std::optional<bool> read_flag(const Node& node, const std::string& what, Problems& problems) {
  if (const bool* const is = node.get<bool>()) return *is;
  problems.add(node, what + " must be true or false, is " + problems.document().describe(node));
  return std::nullopt;
}

std::optional<std::size_t> read_word(const Node& node, std::string_view key,
                                     std::span<const std::string_view> words, Problems& problems) {
  const auto* text = node.get<std::string>();
  const auto it = text ? std::find(words.begin(), words.end(), *text) : words.end();
  if (it != words.end()) return static_cast<std::size_t>(it - words.begin());
  problems.add(node, quote::name(key) + " must be one of " + explained(words) + ", is " +
                         problems.document().describe(node) +
                         (text ? problems.suggestion(*text, words) : ""));
  return std::nullopt;
}

TableReader::TableReader(const Node& node, std::string_view what, std::span<const std::string_view> keys,
                         Problems& problems)
    : node_(node), problems_(problems) {
  const auto* table = node.get<Node::Table>();
  if (!table) {
    const char* const kind = problems.document().format() == FileFormat::kToml ? "a table" : "an object";
    problems.add(node, std::string(what) + " must be " + kind + ", is " + problems.document().describe(node));
    return;
  }
  for (const Entry& entry : *table) {
    if (std::find(keys.begin(), keys.end(), entry.key) != keys.end()) continue;
    const OtherName meant = problems.size() < kMostSuggestions ? other_name(entry.key, keys) : OtherName();
    if (!meant.ours.empty()) misnamed_.push_back(meant.ours);
    problems.add(entry.value, "unknown key " + quote::name(entry.key) +
                                  (meant.ours.empty() ? ""
                                                      : "; did you mean " + quote::name(meant.ours) +
                                                            std::string(meant.how) + "?") +
                                  " (allowed here: " + quote::list(keys) + ")");
  }
}

bool TableReader::is_misnamed(std::string_view key) const {
  return !find(key) && std::find(misnamed_.begin(), misnamed_.end(), key) != misnamed_.end();
}

void TableReader::require(std::string_view key, std::string_view meaning) const {
  if (!is_table() || find(key) || is_misnamed(key)) return;
  problems_.add(node_, "needs '" + std::string(key) + "', " + std::string(meaning));
}

std::optional<std::string> TableReader::text(std::string_view key) const {
  const Node* const value = find(key);
  return value ? read_text(*value, quote::name(key), problems_) : std::nullopt;
}

std::optional<std::string> TableReader::name(std::string_view key) const {
  std::optional<std::string> value = text(key);
  if (!value || !has_control_character(*value)) return value;
  problems_.add(*find(key), quote::name(key) + " must not hold control characters, is " +
                                problems_.document().describe(*find(key)));
  return std::nullopt;
}

std::optional<std::size_t> TableReader::word(std::string_view key,
                                             std::span<const std::string_view> words) const {
  const Node* const value = find(key);
  return value ? read_word(*value, key, words, problems_) : std::nullopt;
}

std::optional<Count> TableReader::whole(std::string_view key, Count least, Count most) const {
  const Node* const value = find(key);
  return value ? read_whole(*value, quote::name(key), least, most, problems_) : std::nullopt;
}

std::optional<bool> TableReader::flag(std::string_view key) const {
  const Node* const value = find(key);
  return value ? read_flag(*value, quote::name(key), problems_) : std::nullopt;
}

std::span<const Node> TableReader::array(std::string_view key, std::string_view of_what) const {
  const Node* const value = find(key);
  if (!value) return {};
  if (const auto* elements = value->get<Node::Array>()) return *elements;
  problems_.add(*value, quote::name(key) + " must be an array of " + std::string(of_what) + ", is " +
                            problems_.document().describe(*value));
  return {};
}

}  // namespace allot
