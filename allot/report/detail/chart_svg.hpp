// Charts as SVG, with colours that the document around them chooses. Nothing but this code draws, so no text
// is ever read as anything but text.
#pragma once

#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot::detail {

/// As many series as the palette tells apart.
inline constexpr std::size_t kChartColours = 8;

/// Text in `currentColor`, lines in the CSS variables --series-1 ... and --grid, fonts inherited, so that
/// many fit into one page. `alone`: with a style of its own for light and dark, and larger. Points that are
/// not finite, or not positive on a logarithmic axis, leave a gap.
std::string chart_svg(const Chart& chart, bool alone);

/// The CSS variables of the palette, light or dark.
std::string palette_css(bool dark);

}  // namespace allot::detail
