#include "apps/allot/terminal/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "allot/base/quote.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kSpacing = 2;

/// Whether the terminal has only ASCII according to LC_ALL, otherwise LC_CTYPE, otherwise LANG. Without any
/// of them: UTF-8.
bool prints_ascii() noexcept {
  static const bool answer = [] {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* const value = std::getenv(name);
      if (value == nullptr || *value == '\0') continue;
      std::string locale(value);
      for (char& c : locale) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const bool has_utf8 =
          locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
      const std::size_t charset = locale.find('.');
      return !has_utf8 && (locale == "c" || locale == "posix" || charset != std::string::npos);
    }
    return false;
  }();
  return answer;
}

}  // namespace

std::string_view sign(Sign which) noexcept {
  switch (which) {
    case Sign::kPlusMinus:
      return prints_ascii() ? "+-" : "±";
    case Sign::kNone:
      return prints_ascii() ? "." : "·";
    case Sign::kEllipsis:
      return prints_ascii() ? "..." : "…";
  }
  return "";
}

std::string for_locale(std::string text) {
  if (!prints_ascii()) return text;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", byte);
    }
  }
  return out;
}

std::string shown(std::string_view name) { return for_locale(quote::terminal(name)); }

std::string in_quotes(std::string_view name) { return "'" + shown(name) + "'"; }

std::size_t display_width(std::string_view text) noexcept {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t size = display_width(word);
    if (column > indent && column + 1 + size > width) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (column > indent) {
      result += ' ';
      ++column;
    }
    result += word;
    column += size;
  }
  return result;
}

std::string shortened(std::string_view text, std::size_t most) {
  std::vector<std::string_view> characters;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) ++end;
    characters.push_back(text.substr(at, end - at));
    at = end;
  }
  const std::size_t dots = display_width(sign(Sign::kEllipsis));
  if (characters.size() <= most || most < 5) return std::string(text);
  const std::size_t tail = (most - dots) * 2 / 3;  // the end of a path is more important
  std::string out;
  for (std::size_t k = 0; k < most - dots - tail; ++k) out += characters[k];
  out += sign(Sign::kEllipsis);
  for (std::size_t k = characters.size() - tail; k < characters.size(); ++k) out += characters[k];
  return out;
}

void Table::title(const std::vector<std::string>& titles) {
  std::vector<Cell> cells;
  for (const std::string& text : titles) cells.push_back({text, Style::kDim});
  row(std::move(cells));
}

void Table::row(std::vector<Cell> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const std::vector<Cell>& cells : rows_) {
    for (std::size_t at = 0; at < cells.size(); ++at)
      widths[at] = std::max(widths[at], display_width(cells[at].text));
  }
  return widths;
}

std::size_t Table::width() const {
  std::size_t total = kIndent;
  for (const std::size_t width : widths()) total += width + kSpacing;
  return columns_.empty() ? total : total - kSpacing;
}

std::string Table::text(const Console& console) const { return text(console, console.width()); }

std::string Table::text(const Console& console, std::size_t room) const {
  const std::vector<std::size_t> widths = this->widths();
  if (columns_.empty() || width() <= room) {
    std::vector<std::size_t> all(columns_.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return lines(console, all, widths);
  }
  return in_blocks(console, room);
}

/// The first column names the rows: it is kept narrow and repeated before as many of the other columns as
/// fit.
std::string Table::in_blocks(const Console& console, std::size_t room) const {
  constexpr std::size_t kShortest = 8;
  Table narrow = *this;
  const std::size_t most_names = std::max(kShortest, room / 3);
  for (std::vector<Cell>& cells : narrow.rows_) {
    for (std::size_t at = 0; at < cells.size(); ++at) {
      const std::size_t most =
          at == 0 ? most_names : std::max(kShortest, room - kIndent - most_names - kSpacing);
      cells[at].text = shortened(cells[at].text, most);
    }
  }
  const std::vector<std::size_t> widths = narrow.widths();
  std::string text;
  for (std::size_t at = 1; at < columns_.size();) {
    std::vector<std::size_t> block = {0};
    std::size_t taken = kIndent + widths[0];
    do {
      taken += kSpacing + widths[at];
      block.push_back(at++);
    } while (at < columns_.size() && taken + kSpacing + widths[at] <= room);
    text += (text.empty() ? "" : "\n") + narrow.lines(console, block, widths);
  }
  return text;
}

std::string Table::lines(const Console& console, const std::vector<std::size_t>& columns,
                         const std::vector<std::size_t>& widths) const {
  std::string result;
  for (const std::vector<Cell>& cells : rows_) {
    std::string line;
    std::size_t pending = kIndent;  // spaces before the next text, so that no line has trailing spaces
    for (const std::size_t at : cells.empty() ? std::vector<std::size_t>() : columns) {
      const std::size_t padding = widths[at] - display_width(cells[at].text);
      if (cells[at].text.empty()) {
        pending += widths[at] + kSpacing;
        continue;
      }
      line.append(pending + (columns_[at] == Align::kRight ? padding : 0), ' ');
      line += console.styled(cells[at].style, cells[at].text);
      pending = kSpacing + (columns_[at] == Align::kRight ? 0 : padding);
    }
    result += line + "\n";
  }
  return result;
}

}  // namespace allot::app
