// Attempts over time as drawings: bars by slot, and completions per second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allot/jobs/attempt.hpp"

namespace allot::detail {

/// One attempt, for drawing.
struct Bar {
  std::size_t resource = 0;
  std::size_t slot = 0;
  std::size_t type = 0;  ///< also its colour; types beyond the palette share the last colour
  double start = 0;
  double end = 0;
  AttemptStatus status = AttemptStatus::kOk;
  std::string label;  ///< shown when the pointer is over the bar; may be empty
};

/// Time from left to right, with long pauses cut short: the drawing stays readable if a job is resumed the
/// next day.
class TimeAxis {
 public:
  struct Span {
    double start;  ///< in seconds
    double end;
    double x;  ///< position of the beginning
    double width;
  };
  struct Tick {
    double x;
    std::string text;
  };

  /// Over all bars; `width` in the units of the drawing.
  TimeAxis(std::span<const Bar> bars, double width);

  double x(double time) const noexcept;
  std::span<const Span> spans() const noexcept { return spans_; }
  double seconds_per_unit() const noexcept { return seconds_per_unit_; }
  /// Seconds in which something ran, without the pauses that were cut.
  double active() const noexcept { return active_; }
  /// Labelled with the time since the first start.
  std::vector<Tick> ticks() const;

 private:
  std::vector<Span> spans_;
  double seconds_per_unit_ = 1;
  double active_ = 0;
};

/// A resource and its number of slots.
using SlotGroup = std::pair<std::string, std::size_t>;

/// The width of all drawings, in their own unit.
inline constexpr double kTimelineWidth = 1120;
inline constexpr double kTimelineLeft = 128;
inline constexpr double kTimelineRight = 12;

std::string gantt_svg(std::span<const Bar> bars, std::span<const SlotGroup> resources, const TimeAxis& axis);

/// The total throughput that a plan predicts, from its time until the next plan.
using PredictedTotal = std::pair<double, double>;  ///< time, tasks per second

/// Completions per second by type, stacked, with the prediction as a dashed line.
std::string throughput_svg(std::span<const Bar> bars, std::size_t types,
                           std::span<const PredictedTotal> predictions, const TimeAxis& axis);

/// The CSS variable of a type's colour.
std::string type_colour(std::size_t type);

}  // namespace allot::detail
