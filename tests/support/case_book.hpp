// Many small files and what each is to be refused with, in one file of tests/malformed.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace allot::testing {

/// One file of a book.
struct BookCase {
  std::string name;  ///< with its extension
  std::string text;
  std::vector<std::string> expected;  ///< diagnostics; none for a file that others refer to
};

inline std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The files of a book, in its order; how it is written stands at its top. Throws where it is not written so.
inline std::vector<BookCase> read_book(const std::filesystem::path& path) {
  constexpr std::string_view kBeside = " (beside)";
  std::istringstream in(contents_of(path));
  std::vector<BookCase> book;
  bool in_text = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("==== ")) {
      book.push_back({.name = line.substr(5)});
      in_text = true;
      if (std::string& name = book.back().name; name.ends_with(kBeside)) {
        name.resize(name.size() - kBeside.size());
        book.back().text = contents_of(path.parent_path() / name);
      }
    } else if (line == "----" || line == "---- no newline") {
      if (!in_text) throw std::runtime_error(path.string() + ": '" + line + "' where no file is");
      if (line != "----") book.back().text.pop_back();
      in_text = false;
    } else if (in_text) {
      book.back().text += line + "\n";
    } else if (!book.empty()) {
      book.back().expected.push_back(line);
    } else if (!line.starts_with("#")) {
      throw std::runtime_error(path.string() + ": a line before the first file: " + line);
    }
  }
  return book;
}

/// The names of the files that are to be refused.
inline std::vector<std::string> refused_in(const std::vector<BookCase>& book) {
  std::vector<std::string> names;
  for (const BookCase& entry : book) {
    if (!entry.expected.empty()) names.push_back(entry.name);
  }
  return names;
}

/// The book on the disk, in a folder that goes with it.
class UnpackedBook {
 public:
  UnpackedBook(const std::vector<BookCase>& book, std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_);
    for (const BookCase& entry : book) std::ofstream(folder_ / entry.name, std::ios::binary) << entry.text;
  }
  ~UnpackedBook() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  UnpackedBook(const UnpackedBook&) = delete;
  UnpackedBook& operator=(const UnpackedBook&) = delete;

  [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_; }

  /// Diagnostics as lines without the folder, which is another one every time.
  template <typename Diagnostics>
  [[nodiscard]] std::vector<std::string> lines(const Diagnostics& diagnostics) const {
    const std::string folder = folder_.string() + "/";
    std::vector<std::string> out;
    for (const auto& diagnostic : diagnostics) {
      std::string line = to_string(diagnostic);
      for (std::size_t at = 0; (at = line.find(folder)) != std::string::npos;) line.erase(at, folder.size());
      out.push_back(line);
    }
    return out;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace allot::testing
