// What is wrong with a file, and where: reading gives a value or every problem found, never an exception.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace allot {

/// One problem of an input. `place` is `file:line` in TOML, `file: tasks[2].rates.gpu` in JSON (`$` is the
/// whole document) and `file:line:column` where the text itself cannot be parsed; without a file name, `line
/// 3` or the path alone. `message` says what is wrong and what would be right, on one line, printable as it
/// is.
struct Diagnostic {
  std::string place;
  std::string message;
  friend bool operator==(const Diagnostic&, const Diagnostic&) = default;
};

/// `place: message`.
inline std::string to_string(const Diagnostic& diagnostic) {
  return diagnostic.place + ": " + diagnostic.message;
}

/// A value, or all the reasons why there is none (at least one). A plain value itself.
template <typename T>
class ReadResult {
 public:
  ReadResult(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  ReadResult(std::vector<Diagnostic> problems) : content_(std::in_place_index<1>, std::move(problems)) {
    assert(!std::get<1>(content_).empty());
  }

  bool has_value() const noexcept { return content_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Only when has_value().
  const T& value() const& { return std::get<0>(content_); }
  T&& value() && { return std::get<0>(std::move(content_)); }
  const T& operator*() const& { return value(); }
  const T* operator->() const { return &value(); }

  /// In the order of the file. Only when !has_value().
  const std::vector<Diagnostic>& diagnostics() const { return std::get<1>(content_); }

 private:
  std::variant<T, std::vector<Diagnostic>> content_;
};

}  // namespace allot
