// The axes of a chart: which numbers they reach from and to, and which of them are named.
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

/// Maps numbers to places. Every number drawn is finite and, on a logarithmic axis, positive.
struct Axis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks;  ///< within, in order; at most kMostTicks
  /// 0 at the low end, 1 at the high end.
  double share(double value) const;
};

inline constexpr std::size_t kMostTicks = 14;

/// 1, 2 or 5 times a power of ten, at least so large.
double nice_step(double least);

/// Whether a point can be drawn: finite, not beyond reason, positive on a logarithmic axis.
bool is_drawable(const Chart& chart, double x, double y);

struct Ends {
  double low;
  double high;
};
/// The interval of a point as it is drawn; the point itself where there is none. On a logarithmic scale an
/// interval may reach down to 0 or below: it is cut at a tenth of its point.
Ends ends_of(const Chart& chart, const Series& series, std::size_t point);

/// Holds every point and both ends of its interval, rounded outwards to the next tick; bars stand on 0.
Axis y_axis(const Chart& chart);
/// Holds every point with a margin. Bars: one place for each category, named by `category_lines`, no ticks.
Axis x_axis(const Chart& chart);

}  // namespace allot::detail
