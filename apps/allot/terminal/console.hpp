// Standard output and standard error: colours for people, clean text for pipes, and no lost write. Everything
// that is printed is only text for the terminal, whatever its source.
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

/// Collects the text for standard output, so that it appears as a whole or, if the input is invalid, not at
/// all.
///
/// All input is treated as text: control characters (also C1), marks that change the direction of text, and
/// bytes that are not UTF-8 become visible escapes, and overlong lines are cut. Styles are marks that only
/// this process knows (`styled`); they become colours at the end.
class Console {
 public:
  /// Reads the terminal's properties and NO_COLOR.
  Console();

  /// From now on nothing is written: of several processes, only one writes.
  void mute() noexcept { is_muted_ = true; }
  /// What a muted console would have written to standard error.
  const std::string& unsaid() const noexcept { return unsaid_; }

  /// Columns for tables: the terminal's width, or 100 without a terminal.
  std::size_t width() const noexcept { return width_; }
  /// Whether progress may be shown: standard error is a terminal.
  bool shows_progress() const noexcept { return error_is_terminal_ && !is_muted_; }

  /// The text in the style, or unchanged without colours.
  std::string styled(Style style, std::string_view text) const;

  /// Text for people.
  void print(std::string_view text);
  template <typename... Values>
  void print(fmt::format_string<Values...> format, Values&&... values) {
    print(std::string_view(fmt::format(format, std::forward<Values>(values)...)));
  }
  /// One line of text.
  void line(std::string_view text, Style style = Style::kPlain) { print("{}\n", styled(style, text)); }
  /// The same, wrapped at the console's width.
  void paragraph(std::string_view text, Style style = Style::kPlain);
  /// A document for machines (JSON, CSV, TOML, HTML): complete and unchanged. On a terminal it is only text,
  /// too, and JSON stays the same JSON.
  void document(std::string_view text);

  /// Returns the collected text, which then does not go to standard output.
  std::string take() { return std::exchange(buffer_, {}); }

  /// Starts a new paragraph: adds one blank line, unless there is one already.
  void gap() {
    if (!buffer_.empty() && !buffer_.ends_with("\n\n")) buffer_ += '\n';
  }

  /// Writes a line to standard error at once: "note: ...". Each note is written only once.
  void note(std::string_view text) const noexcept;
  /// Writes a line to standard error at once: "error: ...".
  void error(std::string_view text) const noexcept;
  /// Writes lines of text to standard error at once.
  void complain(std::string_view text) const noexcept;
  /// Writes a document to standard error at once.
  void complain_document(std::string_view text) const noexcept;

  /// Replaces the last `lines` lines of the terminal with this text, each line cut at `columns`. Returns the
  /// new number of lines, at most `most`.
  std::size_t redraw(std::size_t lines, std::string_view text, std::size_t columns,
                     std::size_t most) const noexcept;
  /// Replaces the last line of the terminal; an empty text removes it.
  void redraw_line(std::string_view text) const noexcept;

  /// Copies the output of a task piece by piece, whatever its size; on a terminal only as text.
  void copy_file(const std::string& path, int to) const noexcept;

  /// Writes the collected text. Throws Failure if standard output does not accept it; with an empty message
  /// if the reader has gone, like `head`.
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
  std::string mark_;  // begins a style in text; only this process knows it
  mutable std::string unsaid_;
  mutable std::set<std::string> said_;  // notes
  mutable std::size_t line_width_ = 0;  // of the last line that was redrawn
};

}  // namespace allot::app
