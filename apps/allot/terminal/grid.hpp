// A matrix of task types by resources with its margins; printed as lists if it would be too wide.
#pragma once

#include <string>
#include <vector>

#include "apps/allot/terminal/text.hpp"

namespace allot::app {

struct GridCell {
  std::string text;
  bool occupied = false;  ///< included when the matrix becomes a list
};

/// A further column (one cell per row) or a further row (one cell per column).
struct Margin {
  std::string title;
  std::vector<Cell> cells;
};

struct Grid {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<std::vector<GridCell>> cells;
  std::vector<Margin> right;
  std::vector<Margin> bottom;
};

/// A matrix if it fits the console's width; otherwise one list by row and one by column.
std::string grid_text(const Grid& grid, const Console& console);

}  // namespace allot::app
