// A matrix of task types by resources with its margins; as lists where it would be too wide to read.
#pragma once

#include <string>
#include <vector>

#include "apps/allot/terminal/text.hpp"

namespace allot::app {

struct GridCell {
  std::string text;
  bool occupied = false;  ///< worth naming when the matrix becomes a list
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

/// As a matrix if that fits the console's width, else one list by row and one by column.
std::string grid_text(const Grid& grid, const Console& console);

}  // namespace allot::app
