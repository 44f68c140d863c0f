#include "apps/allot/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "allot/base/quote.hpp"

namespace allot::app {
namespace {

constexpr double kSmallest = 1e-5;  // below, and from kLargest on, a power of ten reads better
constexpr double kLargest = 1e12;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kSpacing = 2;

/// 1234567.5 -> 1,234,567.5
std::string with_separators(std::string text) {
  const std::size_t begin = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t point = std::min(text.find('.'), text.size());
  if (point - begin <= 4) return text;  // 1234 needs none
  for (std::size_t at = point; at > begin + 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

/// Decimals that leave `digits` significant digits.
int decimals(double value, int digits) {
  const int magnitude = value == 0 ? 0 : static_cast<int>(std::floor(std::log10(std::abs(value))));
  return std::max(0, digits - 1 - magnitude);
}

bool is_extreme(double value) {
  return value != 0 && (std::abs(value) < kSmallest || std::abs(value) >= kLargest);
}

std::string trimmed(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string number(double value, int digits) {
  if (is_extreme(value)) return fmt::format("{:.{}g}", value, digits);
  return with_separators(trimmed(fmt::format("{:.{}f}", value, decimals(value, digits))));
}

std::string number_above(double value, int digits) {
  if (is_extreme(value)) return number(value, digits);
  const double scale = std::pow(10.0, decimals(value, digits));
  const double scaled = value * scale;
  // A value that is already short, up to rounding in the last bits, stays what it is.
  const double up = std::abs(scaled - std::round(scaled)) <= 1e-9 * std::abs(scaled) ? std::round(scaled)
                                                                                     : std::ceil(scaled);
  return number(up / scale, digits + 1);
}

std::string whole(Count value) { return with_separators(fmt::format("{}", value)); }

std::string percent(double fraction) {
  const double value = fraction * 100;
  const double size = std::abs(value);
  if (size == 0) return "0%";
  if (size < 1e-6) return value < 0 ? "-0.000001%" : "under 0.000001%";
  if (size < 1) return trimmed(fmt::format("{:.{}f}", value, decimals(value, 2))) + "%";
  if (size < 9.95 || (size > 99 && size < 100)) return trimmed(fmt::format("{:.1f}", value)) + "%";
  return with_separators(fmt::format("{:.0f}", value)) + "%";
}

std::string duration(double seconds) {
  struct Unit {
    double seconds;
    const char* name;
  };
  constexpr std::array<Unit, 4> kUnits = {{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  for (const Unit& unit : kUnits) {
    if (std::abs(seconds) >= unit.seconds * 0.9995 || unit.seconds == 1e-9) {
      const double value = seconds / unit.seconds;
      return (is_extreme(value) ? number(value, 3)
                                : with_separators(fmt::format("{:.{}f}", value, decimals(value, 3)))) +
             " " + unit.name;
    }
  }
  return {};
}

std::string change(double value) {
  // Rounding in the sums of a state is no change.
  if (std::abs(value) < 1e-12) return "0";
  return (value > 0 ? "+" : "") + number(value, 3);
}

std::string error_number(double error) { return error < 1e-12 ? "0" : number(error, 3); }

std::string counted(Count count, std::string_view noun) {
  return whole(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string shown(std::string_view name) { return quote::terminal(name); }

std::string in_quotes(std::string_view name) { return "'" + shown(name) + "'"; }

std::string alternatives(std::span<const std::string> names) {
  std::string text;
  for (std::size_t at = 0; at < names.size(); ++at) {
    if (at > 0) text += at + 1 == names.size() ? " or " : ", ";
    text += names[at];
  }
  return text;
}

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

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    std::size_t distance = edit_distance(word, candidate);
    if (word.size() >= 2 && candidate.starts_with(word)) distance = std::min<std::size_t>(distance, 1);
    if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

ColumnFormat::ColumnFormat(std::span<const double> values, int digits) noexcept {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  scientific_ = is_extreme(largest);
  decimals_ = largest == 0 ? 0 : decimals(largest, digits);
}

std::string ColumnFormat::operator()(double value) const {
  if (scientific_) return fmt::format("{:.3g}", value);
  return with_separators(fmt::format("{:.{}f}", value, decimals_));
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

std::string Table::text(const Console& console) const {
  const std::vector<std::size_t> widths = this->widths();
  std::string result;
  for (const std::vector<Cell>& cells : rows_) {
    std::string line;
    std::size_t pending = kIndent;  // spaces owed before the next text, so that none trail
    for (std::size_t at = 0; at < cells.size(); ++at) {
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
