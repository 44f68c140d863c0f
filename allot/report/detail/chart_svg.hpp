// Charts drawn by gnuplot, with colours that the document around them chooses.
#pragma once

#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot::detail {

inline constexpr int kChartWidth = 640;
inline constexpr int kChartHeight = 400;
/// As many series as the palette tells apart.
inline constexpr std::size_t kChartColours = 8;

/// What gnuplot is asked to draw. Colours in it are stand-ins; `themed_svg` replaces them.
std::string gnuplot_script(const Chart& chart);

/// What a program did with a text on its standard input.
struct ProgramOutput {
  bool ran = false;  ///< it was found and ended with status 0
  std::string out;
  std::string error;  ///< why not, in words
};
ProgramOutput run_program(const std::string& program, const std::string& input);

/// gnuplot's SVG with text in `currentColor`, lines in the CSS variables --series-1 ..., --grid and --page,
/// fonts inherited, and ids of its own, so that many fit into one page. `alone`: with a style of its own for
/// light and dark. Empty when `svg` does not look like gnuplot's.
std::string themed_svg(const std::string& svg, const Chart& chart, bool alone);

/// The CSS variables of the palette, light or dark.
std::string palette_css(bool dark);

}  // namespace allot::detail
