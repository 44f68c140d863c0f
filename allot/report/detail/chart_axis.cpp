#include "allot/report/detail/chart_axis.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/base/numbers.hpp"

namespace allot::detail {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Beyond this, sums and differences of drawn values might not be finite.
constexpr double kLargest = 1e150;
constexpr double kLeast = 1e-150;  // also the smallest difference between two numbers
constexpr double kFewTicks = 7;

std::string number_text(double value) { return rounded_text(value == 0 ? 0.0 : value, 10); }

/// Ticks at multiples of the step from low to high.
std::vector<Tick> even_ticks(double low, double high, double step) {
  std::vector<Tick> ticks;
  const double first = std::ceil(low / step - 1e-9);
  for (std::size_t k = 0; k <= kMostTicks; ++k) {
    const double value = (first + static_cast<double>(k)) * step;
    if (value > high + step * 1e-9) break;
    ticks.push_back({value, number_text(value)});
  }
  return ticks;
}

/// Powers of ten, in equal steps; also 2 and 5 times them if that gives only a few ticks.
std::vector<Tick> decade_ticks(double low, double high) {
  std::vector<Tick> ticks;
  const double first = std::floor(std::log10(low));
  const double decades = std::log10(high) - std::log10(low);
  const double every = std::max(1.0, std::ceil(decades / kFewTicks));
  const auto add = [&](double value) {
    if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back({value, number_text(value)});
  };
  for (double at = first; at <= first + decades + 1 && ticks.size() < kMostTicks; at += every) {
    const double power = std::pow(10.0, at);
    add(power);
    if (decades <= 2) {
      add(2 * power);
      add(5 * power);
    }
  }
  return ticks;
}

}  // namespace

double nice_step(double least) {
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

double Axis::share(double value) const {
  if (logarithmic) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

bool is_drawable(const Chart& chart, double x, double y) {
  const bool log_x = chart.log_x && chart.kind != Chart::Kind::kBars;
  const auto good = [](double value, bool logarithmic) {
    return std::abs(value) <= kLargest && (!logarithmic || value >= kLeast);
  };
  return good(x, log_x) && good(y, chart.log_y);
}

Ends ends_of(const Chart& chart, const Series& series, std::size_t point) {
  const double y = series.y[point];
  Ends ends{point < series.low.size() ? series.low[point] : y,
            point < series.high.size() ? series.high[point] : y};
  if (!(std::abs(ends.low) <= kLargest)) ends.low = y;
  if (!(std::abs(ends.high) <= kLargest)) ends.high = y;
  if (chart.log_y) ends.low = std::max(ends.low, y / 10);
  if (chart.log_y) ends.high = std::max(ends.high, y);
  return ends;
}

Axis y_axis(const Chart& chart) {
  double least = kInfinity, largest = -kInfinity;
  bool negative = false;
  for (const Series& series : chart.series) {
    for (std::size_t point = 0; point < series.y.size() && point < series.x.size(); ++point) {
      if (!is_drawable(chart, series.x[point], series.y[point])) continue;
      const Ends ends = ends_of(chart, series, point);
      negative = negative || series.y[point] < 0;
      least = std::min({least, series.y[point], ends.low});
      largest = std::max({largest, series.y[point], ends.high});
    }
  }
  Axis axis;
  axis.logarithmic = chart.log_y;
  if (!(least <= largest)) least = largest = 1;
  if (chart.log_y) {
    axis.low = std::pow(10.0, std::floor(std::log10(least) + 1e-9));
    axis.high = std::pow(10.0, std::ceil(std::log10(largest) - 1e-9));
    if (!(axis.high > axis.low)) axis.high = axis.low * 10;
    axis.ticks = decade_ticks(axis.low, axis.high);
    return axis;
  }
  bool exact = false;  // the lower end is used as it is, not rounded
  if (chart.kind == Chart::Kind::kBars) {
    least = std::min(least, 0.0);  // what bars stand on
    largest = std::max(largest, 0.0);
    exact = !negative;  // below 0 there are only ends of intervals
  }
  if (!(largest > least)) {
    const double half = least == 0 ? 0.5 : std::abs(least) / 10;
    least -= exact ? 0 : half;
    largest += half;
  }
  if (largest - least < kLeast) largest = least + 1;
  const double step = nice_step((largest - least) / kFewTicks);
  axis.low = exact ? least : std::floor(least / step + 1e-9) * step;
  axis.high = std::ceil(largest / step - 1e-9) * step;
  if (!(axis.high > axis.low)) axis.high = axis.low + step;
  axis.ticks = even_ticks(axis.low, axis.high, step);
  return axis;
}

Axis x_axis(const Chart& chart) {
  Axis axis;
  if (chart.kind == Chart::Kind::kBars) {
    axis.low = -0.6;
    axis.high = static_cast<double>(chart.categories.size()) - 0.4;
    return axis;
  }
  std::vector<double> places;
  for (const Series& series : chart.series) {
    for (std::size_t point = 0; point < series.x.size(); ++point) {
      if (is_drawable(chart, series.x[point], 1)) places.push_back(series.x[point]);
    }
  }
  if (places.empty()) places = {1};
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  axis.logarithmic = chart.log_x;
  if (chart.log_x) {
    axis.low = places.front() / 1.15;
    axis.high = places.back() * 1.15;
    // Few different positions: name only these, because 3, 4, 6, 8, ... are not powers of ten.
    if (places.size() <= kMostTicks) {
      for (const double place : places) axis.ticks.push_back({place, number_text(place)});
    } else {
      axis.ticks = decade_ticks(axis.low, axis.high);
    }
    return axis;
  }
  const double span = places.back() - places.front();
  const double margin = span > kLeast ? 0.03 * span : std::max(0.5, std::abs(places.front()) / 10);
  axis.low = places.front() - margin;
  axis.high = places.back() + margin;
  axis.ticks = even_ticks(axis.low, axis.high, nice_step((axis.high - axis.low) / kFewTicks));
  return axis;
}

}  // namespace allot::detail
