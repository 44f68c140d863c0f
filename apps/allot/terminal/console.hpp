// Standard output and standard error: colours for people, clean text for pipes, and no lost write. Nothing
// that is printed does anything to a terminal but show text, wherever it came from.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace allot::app {

enum class Style { kPlain, kBold, kDim, kGood, kBad, kAccent };

/// Collects what goes to standard output, so that it appears whole or, when the input is invalid, not at all.
///
/// Whatever is given to it is text: control characters, also C1, marks that turn the direction of text and
/// bytes that are no UTF-8 come out as visible escapes, and a line is cut where it gets too long to be one.
/// Styles are marks that only this process knows (`styled`), and become colours at the very end.
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

  /// Text for people.
  void print(std::string_view text);
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    print(std::string_view(fmt::format(format, std::forward<Values>(values)...)));
  }
  /// A line of it.
  void line(std::string_view text, Style style = Style::kPlain) { print("{}\n", styled(style, text)); }
  /// The same, wrapped at the console's width.
  void paragraph(std::string_view text, Style style = Style::kPlain);
  /// A document for machines (JSON, CSV, TOML, HTML): as it is, whole; on a terminal nothing but text all the
  /// same, and JSON stays what it is.
  void document(std::string_view text);

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
  /// Lines of text on standard error, at once.
  void complain(std::string_view text) const noexcept;
  /// A document on standard error, at once.
  void complain_document(std::string_view text) const noexcept;

  /// Takes the place of `lines` lines at the bottom of the terminal: with these, each cut at `columns`.
  /// Returns how many lines there are now, at most `most`.
  std::size_t redraw(std::size_t lines, std::string_view text, std::size_t columns,
                     std::size_t most) const noexcept;
  /// Takes the place of what stands on the last line of the terminal; empty: takes it away.
  void redraw_line(std::string_view text) const noexcept;

  /// What a task printed: copied piece by piece, whatever its size; on a terminal nothing but text.
  void copy_file(const std::string& path, int to) const noexcept;

  /// Writes what was printed. Throws Failure when standard output does not take it; quietly (with an empty
  /// message) when the reader has gone, as `head` does.
  void deliver();

 private:
  void write_error(std::string_view text) const noexcept;

  std::string buffer_;
  std::size_t width_ = 100;
  bool colour_ = false;
  bool error_colour_ = false;
  bool is_terminal_ = false;
  bool error_is_terminal_ = false;
  bool is_muted_ = false;
  std::string mark_;  // what begins a style in text: nobody else can know it
  mutable std::string unsaid_;
  mutable std::set<std::string> said_;  // notes
  mutable std::size_t line_width_ = 0;  // of the last line that was drawn again
};

}  // namespace allot::app
