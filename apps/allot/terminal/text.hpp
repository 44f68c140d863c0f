// Names and tables for people; numbers are formatted by base/readable.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/readable.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

using readable::change;
using readable::ColumnFormat;
using readable::counted;
using readable::duration;
using readable::error_number;
using readable::number;
using readable::number_above;
using readable::percent;
using readable::whole;

/// Signs outside ASCII, or their replacements if the locale (LC_ALL=C) has only ASCII.
enum class Sign { kPlusMinus, kNone, kEllipsis };
std::string_view sign(Sign which) noexcept;
/// Text from other sources: outside ASCII only if the locale has more.
std::string for_locale(std::string text);
/// A name on one line: control characters are escaped, and a very long name is cut.
std::string shown(std::string_view name);
/// The same in single quotes.
std::string in_quotes(std::string_view name);
/// Columns that the text takes on a terminal, counting code points.
std::size_t display_width(std::string_view text) noexcept;
/// Words wrapped at column `width`. The first line begins at column `indent`; the others are indented to it.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);
/// The whole text, or its beginning and end with an ellipsis between them.
std::string shortened(std::string_view text, std::size_t most);
enum class Align { kLeft, kRight };

struct Cell {
  std::string text;
  Style style = Style::kPlain;
};

/// Rows of cells, two spaces apart, each column as wide as its widest cell.
class Table {
 public:
  explicit Table(std::vector<Align> columns) : columns_(std::move(columns)) {}

  /// Column titles, dimmed. Missing cells are empty.
  void title(const std::vector<std::string>& titles);
  void row(std::vector<Cell> cells);
  void blank() { rows_.emplace_back(); }

  bool empty() const noexcept { return rows_.empty(); }
  std::size_t width() const;
  /// Each line is indented by two spaces and ends with a newline, without trailing spaces. If the columns do
  /// not fit into the console's width, or into `room`, the table is split into parts, one below the other,
  /// each with the first column.
  std::string text(const Console& console) const;
  std::string text(const Console& console, std::size_t room) const;

 private:
  std::vector<std::size_t> widths() const;
  std::string in_blocks(const Console& console, std::size_t room) const;
  std::string lines(const Console& console, const std::vector<std::size_t>& columns,
                    const std::vector<std::size_t>& widths) const;

  std::vector<Align> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace allot::app
