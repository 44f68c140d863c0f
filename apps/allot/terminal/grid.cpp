#include "apps/allot/terminal/grid.hpp"

#include <algorithm>

#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

Table as_matrix(const Grid& grid) {
  std::vector<Align> aligns(1, Align::kLeft);
  aligns.resize(1 + grid.columns.size() + 1 + grid.right.size(), Align::kRight);
  Table table(std::move(aligns));
  std::vector<Cell> cells = {{"", Style::kPlain}};
  for (const std::string& column : grid.columns) cells.push_back({column, Style::kBold});
  cells.push_back({});  // a gap before the margin
  for (const Margin& margin : grid.right) cells.push_back({margin.title, Style::kDim});
  table.row(std::move(cells));
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    cells = {{grid.rows[i], Style::kBold}};
    for (const GridCell& cell : grid.cells[i])
      cells.push_back({cell.text, cell.occupied ? Style::kAccent : Style::kDim});
    cells.push_back({});
    for (const Margin& margin : grid.right) cells.push_back(margin.cells[i]);
    table.row(std::move(cells));
  }
  if (!grid.bottom.empty()) table.blank();
  for (const Margin& margin : grid.bottom) {
    cells = {{margin.title, Style::kDim}};
    cells.insert(cells.end(), margin.cells.begin(), margin.cells.end());
    table.row(std::move(cells));
  }
  return table;
}

/// "gp1 3, gp7 2", with line breaks between entries.
std::vector<std::string> places(const Grid& grid, std::size_t row, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t j = 0; j < grid.columns.size(); ++j) {
    if (!grid.cells[row][j].occupied) continue;
    const std::string entry = grid.columns[j] + " " + grid.cells[row][j].text;
    if (!lines.back().empty()) {
      lines.back() += ",";
      if (display_width(lines.back()) + 1 + display_width(entry) + 1 > width) {
        lines.emplace_back();
      } else {
        lines.back() += " ";
      }
    }
    lines.back() += entry;
  }
  if (lines.back().empty()) lines.back() = "-";
  return lines;
}

std::string list_by_row(const Grid& grid, const Console& console) {
  const auto build = [&](std::size_t width) {
    std::vector<Align> aligns(1 + grid.right.size(), Align::kRight);
    aligns.front() = Align::kLeft;
    if (width > 0) aligns.push_back(Align::kLeft);
    Table table(std::move(aligns));
    std::vector<std::string> titles = {""};
    for (const Margin& margin : grid.right) titles.push_back(margin.title);
    if (width > 0) titles.emplace_back("where");
    table.title(titles);
    for (std::size_t i = 0; i < grid.rows.size(); ++i) {
      std::vector<Cell> cells = {{grid.rows[i], Style::kBold}};
      for (const Margin& margin : grid.right) cells.push_back(margin.cells[i]);
      if (width == 0) {
        table.row(std::move(cells));
        continue;
      }
      for (const std::string& line : places(grid, i, width)) {
        cells.resize(1 + grid.right.size());
        cells.push_back({line, Style::kAccent});
        table.row(std::move(cells));
        cells.clear();
      }
    }
    return table;
  };
  constexpr std::size_t kNarrowestText = 24;
  const std::size_t taken = build(0).width() + 2;
  return build(std::max(kNarrowestText, console.width() > taken ? console.width() - taken : 0)).text(console);
}

/// Lists by resource, as many side by side as fit, to be read column by column.
std::string list_by_column(const Grid& grid, const Console& console) {
  const auto build = [&](std::size_t groups) {
    const std::size_t height = (grid.columns.size() + groups - 1) / groups;
    std::vector<Align> aligns;
    std::vector<std::string> titles;
    for (std::size_t group = 0; group < groups; ++group) {
      if (group > 0) {
        aligns.push_back(Align::kLeft);  // a gap
        titles.emplace_back();
      }
      aligns.push_back(Align::kLeft);
      titles.emplace_back();
      for (const Margin& margin : grid.bottom) {
        aligns.push_back(Align::kRight);
        titles.push_back(margin.title);
      }
    }
    Table table(std::move(aligns));
    table.title(titles);
    for (std::size_t line = 0; line < height; ++line) {
      std::vector<Cell> cells;
      for (std::size_t j = line; j < grid.columns.size(); j += height) {
        if (j != line) cells.push_back({});
        cells.push_back({grid.columns[j], Style::kBold});
        for (const Margin& margin : grid.bottom) cells.push_back(margin.cells[j]);
      }
      table.row(std::move(cells));
    }
    return table;
  };
  std::size_t groups = 1;
  while (groups < grid.columns.size() && build(groups + 1).width() <= console.width()) ++groups;
  return build(groups).text(console);
}

}  // namespace

std::string grid_text(const Grid& grid, const Console& console) {
  // Do not build a matrix that is far too wide just to measure it: a column takes at least three places.
  if (grid.columns.size() * 3 <= console.width()) {
    const Table matrix = as_matrix(grid);
    if (matrix.width() <= console.width()) return matrix.text(console);
  }
  std::string text = list_by_row(grid, console);
  if (!grid.bottom.empty()) text += "\n" + list_by_column(grid, console);
  return text;
}

}  // namespace allot::app
