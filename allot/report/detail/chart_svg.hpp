// Charts as SVG, with colours from the document around them. All SVG comes from this code, so texts are never
// interpreted as markup.
#pragma once

#include <string>

#include "allot/sweep/experiment.hpp"

namespace allot::detail {

/// Number of series that the palette can distinguish.
inline constexpr std::size_t kChartColours = 8;

/// Text uses `currentColor`, lines use the CSS variables --series-1 ... and --grid, and fonts are inherited,
/// so that many charts fit into one page. `alone`: larger, with its own style for light and dark. Points that
/// are not finite, or not positive on a logarithmic axis, leave a gap.
std::string chart_svg(const Chart& chart, bool alone);

/// The CSS variables of the palette, light or dark.
std::string palette_css(bool dark);

}  // namespace allot::detail
