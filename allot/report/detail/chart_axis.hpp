// The axes of a chart: their ranges and their ticks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "allot/sweep/experiment.hpp"

namespace allot::detail {

struct Tick {
  double value;
  std::string text;
};

/// Maps numbers to positions. Every number drawn is finite and, on a logarithmic axis, positive.
struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks;  ///< within the range, in order; at most kMostTicks
  /// 0 at the low end, 1 at the high end.
  double share(double value) const;
};

inline constexpr std::size_t kMostTicks = 14;

/// 1, 2 or 5 times a power of ten, at least `least`.
double nice_step(double least);

/// Whether a point can be drawn: finite, not too large, positive on a logarithmic axis.
bool is_drawable(const Chart& chart, double x, double y);

struct Ends {
  double low;
  double high;
};
/// The interval of a point as it is drawn; the point itself if it has no interval. On a logarithmic scale an
/// interval may reach down to 0 or below: it is cut at a tenth of its point.
Ends ends_of(const Chart& chart, const Series& series, std::size_t point);

/// Contains every point and both ends of its interval, rounded outwards to the next tick; bars stand on 0.
Axis y_axis(const Chart& chart);
/// Contains every point with a margin. Bars: one place per category, named by `category_lines`, no ticks.
Axis x_axis(const Chart& chart);

}  // namespace allot::detail
