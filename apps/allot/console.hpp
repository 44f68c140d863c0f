// Standard output and standard error: colours for people, clean text for pipes, and no lost write.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace allot::app {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kAccent };

/// Collects what goes to standard output, so that it appears whole or, when the input is invalid, not at all.
class Console {
 public:
  /// Looks at the terminal and at NO_COLOR.
  Console();

  /// From now on nothing is written: one process of several talks for all.
  void mute() noexcept { is_muted_ = true; }
  /// What a muted console would have said on standard error.
  const std::string& unsaid() const noexcept { return unsaid_; }

  /// Columns to lay tables out in: the terminal's, or 100 where there is none.
  std::size_t width() const noexcept { return width_; }
  /// Whether progress may be shown: standard error is a terminal.
  bool shows_progress() const noexcept { return error_is_terminal_ && !is_muted_; }

  /// The text in the style, or unchanged where there are no colours.
  std::string styled(Style style, std::string_view text) const;

  void print(std::string_view text) { buffer_ += text; }
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
  }

  /// What was printed, which then does not go to standard output.
  std::string take() { return std::exchange(buffer_, {}); }

  /// Begins a new paragraph: one blank line, unless there is one already.
  void gap() {
    if (!buffer_.empty() && !buffer_.ends_with("\n\n")) buffer_ += '\n';
  }

  /// A line on standard error, at once: "note: ...". The same one is said once only.
  void note(std::string_view text) const noexcept;
  /// A line on standard error, at once: "error: ...".
  void error(std::string_view text) const noexcept;
  /// Text for standard error as it stands.
  void complain(std::string_view text) const noexcept;

  /// Writes what was printed. Throws Failure when standard output does not take it; quietly (with an empty
  /// message) when the reader has gone, as `head` does.
  void deliver();

 private:
  std::string buffer_;
  std::size_t width_ = 100;
  bool colour_ = false;
  bool error_colour_ = false;
  bool error_is_terminal_ = false;
  bool is_muted_ = false;
  mutable std::string unsaid_;
  mutable std::set<std::string> said_;  // notes
};

}  // namespace allot::app
