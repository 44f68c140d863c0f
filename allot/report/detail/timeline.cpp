#include "allot/report/detail/timeline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <tuple>

#include "allot/base/numbers.hpp"
#include "allot/report/detail/chart_axis.hpp"
#include "allot/report/detail/chart_svg.hpp"
#include "allot/report/detail/html_text.hpp"
#include "allot/report/detail/svg_number.hpp"

namespace allot::detail {
namespace {

constexpr double kBreakWidth = 18;  // of a pause that was cut
constexpr double kLabelHalf = 35;   // half the width of a time under the axis
constexpr std::size_t kMostTimeTicks = 100;
constexpr std::size_t kMostSpans = 12;      // more pauses are not cut
constexpr std::size_t kMostRows = 120;      // more slots share a row
constexpr std::size_t kMostCells = 24'000;  // rows times columns if bars are too thin to be drawn
constexpr double kThinnest = 1.5;           // units: thinner bars are drawn as a measure of how busy the row
                                            // was

/// 2.5 s, 1:30 min, 2:05:00 h
std::string since_start(double seconds, double step) {
  std::array<char, 48> text{};
  if (!(seconds > 0)) seconds = 0;  // also for -0
  if (seconds < 120 && step < 60) {
    std::snprintf(text.data(), text.size(), "%.*f s",
                  step < 0.01  ? 3
                  : step < 0.1 ? 2
                  : step < 1   ? 1
                               : 0,
                  seconds);
    return text.data();
  }
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld min", whole / 60, whole % 60);
  } else if (whole < 48 * 3600) {
    std::snprintf(text.data(), text.size(), "%lld:%02lld:%02lld h", whole / 3600, whole / 60 % 60,
                  whole % 60);
  } else {
    std::snprintf(text.data(), text.size(), "%lld d %lld h", whole / 86400, whole / 3600 % 24);
  }
  return text.data();
}

/// A step of the clock of at least `least`.
double clock_step(double least) {
  for (const double step :
       {0.001, 0.002, 0.005, 0.01,  0.02,  0.05,  0.1,   0.2,    0.5,    1.0,    2.0,     5.0,     10.0,
        15.0,  30.0,  60.0,  120.0, 300.0, 600.0, 900.0, 1800.0, 3600.0, 7200.0, 14400.0, 43200.0, 86400.0}) {
    if (step >= least) return step;
  }
  return 86400.0 * std::ceil(least / 86400.0);
}

std::string svg_head(double height, const std::string& label) {
  return "<svg viewBox=\"0 0 " + coordinate(kTimelineWidth) + " " + coordinate(height) +
         "\" role=\"img\" aria-label=\"" + html_escape(label) + "\">\n";
}

/// Grid lines from `top` to `bottom` with the time below them, and gaps for pauses that were cut.
std::string time_grid(const TimeAxis& axis, double top, double bottom) {
  std::string out;
  for (const TimeAxis::Tick& tick : axis.ticks()) {
    out += "<line class=\"grid\" x1=\"" + coordinate(tick.x) + "\" y1=\"" + coordinate(top) + "\" x2=\"" +
           coordinate(tick.x) + "\" y2=\"" + coordinate(bottom) + "\"/><text x=\"" + coordinate(tick.x) +
           "\" y=\"" + coordinate(bottom + 16) + "\" text-anchor=\"middle\">" + tick.text + "</text>\n";
  }
  for (std::size_t k = 1; k < axis.spans().size(); ++k) {
    const double x = axis.spans()[k].x - kBreakWidth / 2;
    out += "<line class=\"break\" x1=\"" + coordinate(x) + "\" y1=\"" + coordinate(top) + "\" x2=\"" +
           coordinate(x) + "\" y2=\"" + coordinate(bottom) +
           "\"><title>nothing ran for a while</title></line>\n";
  }
  return out;
}

std::string rect(double x, double y, double width, double height, std::size_t type, const Bar* bar) {
  std::string out = "<rect x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" width=\"" +
                    coordinate(width) + "\" height=\"" + coordinate(height) + "\" fill=\"" +
                    type_colour(type) + "\"";
  if (bar && bar->status == AttemptStatus::kStarted) out += " class=\"running\"";
  if (!bar || bar->label.empty()) return out + "/>";
  return out + "><title>" + html_escape(bar->label) + "</title></rect>";
}

/// A cross for a failed attempt, a ring for a lost one.
std::string mark(double x, double y, double size, const Bar& bar) {
  const std::string title = bar.label.empty() ? "" : "<title>" + html_escape(bar.label) + "</title>";
  if (bar.status == AttemptStatus::kLost) {
    return "<circle class=\"mark\" cx=\"" + coordinate(x) + "\" cy=\"" + coordinate(y) + "\" r=\"" +
           coordinate(size) + "\">" + title + "</circle>";
  }
  return "<path class=\"mark\" d=\"M" + coordinate(x - size) + " " + coordinate(y - size) + "l" +
         coordinate(2 * size) + " " + coordinate(2 * size) + "m0 " + coordinate(-2 * size) + "l" +
         coordinate(-2 * size) + " " + coordinate(2 * size) + "\">" + title + "</path>";
}

bool is_bad(AttemptStatus status) noexcept {
  return status != AttemptStatus::kOk && status != AttemptStatus::kStarted;
}

}  // namespace

std::string type_colour(std::size_t type) {
  return "var(--series-" + std::to_string(std::min(type, kChartColours - 1) + 1) + ")";
}

TimeAxis::TimeAxis(std::span<const Bar> bars, double width) {
  std::vector<std::pair<double, double>> busy;
  for (const Bar& bar : bars) busy.emplace_back(bar.start, std::max(bar.start, bar.end));
  std::sort(busy.begin(), busy.end());
  std::vector<std::pair<double, double>> joined;
  double total = 0;
  for (const auto& [start, end] : busy) {
    if (joined.empty() || start > joined.back().second) {
      joined.emplace_back(start, end);
    } else {
      joined.back().second = std::max(joined.back().second, end);
    }
  }
  for (const auto& [start, end] : joined) total += end - start;
  // The longest pauses are cut, if they are long beside the work.
  std::vector<double> pauses;
  for (std::size_t k = 1; k < joined.size(); ++k) pauses.push_back(joined[k].first - joined[k - 1].second);
  std::sort(pauses.rbegin(), pauses.rend());
  double longest = std::max(total * 0.1, 1e-3);
  if (pauses.size() >= kMostSpans) longest = std::max(longest, pauses[kMostSpans - 1]);
  for (const auto& [start, end] : joined) {
    if (!spans_.empty() && start - spans_.back().end <= longest) {
      spans_.back().end = end;
    } else {
      spans_.push_back({start, end, 0, 0});
    }
  }
  if (spans_.empty()) spans_.push_back({0, 1, 0, 0});
  for (const Span& span : spans_) active_ += span.end - span.start;
  if (!(active_ > 0)) {
    spans_.back().end = spans_.back().start + 1;
    active_ = 1;
  }
  const double drawn = std::max(width - kBreakWidth * static_cast<double>(spans_.size() - 1), width / 4);
  seconds_per_unit_ = active_ / drawn;
  double x = kTimelineLeft;
  for (Span& span : spans_) {
    span.x = x;
    span.width = (span.end - span.start) / seconds_per_unit_;
    x += span.width + kBreakWidth;
  }
}

double TimeAxis::x(double time) const noexcept {
  const Span* last = &spans_.front();
  for (const Span& span : spans_) {
    if (span.start > time) break;
    last = &span;
  }
  return last->x + std::clamp((time - last->start) / seconds_per_unit_, 0.0, last->width);
}

std::vector<TimeAxis::Tick> TimeAxis::ticks() const {
  std::vector<Tick> out;
  const double origin = spans_.front().start;
  const double step = clock_step(seconds_per_unit_ * 100);
  double free_from = 0;
  for (const Span& span : spans_) {
    const double first = std::ceil((span.start - origin) / step - 1e-9);
    for (double k = first; origin + k * step <= span.end + step * 1e-9 && out.size() < kMostTimeTicks; ++k) {
      const double place = x(origin + k * step);
      if (place < free_from || place + kLabelHalf > kTimelineWidth) continue;
      out.push_back({place, since_start(k * step, step)});
      free_from = place + 2 * kLabelHalf;
    }
  }
  return out;
}

std::string gantt_svg(std::span<const Bar> bars, std::span<const SlotGroup> resources, const TimeAxis& axis) {
  std::size_t slots = 0;
  for (const SlotGroup& resource : resources) slots += resource.second;
  const std::size_t share = slots / kMostRows + 1;  // slots per row
  std::vector<std::size_t> first_row;
  std::size_t rows = 0;
  for (const SlotGroup& resource : resources) {
    first_row.push_back(rows);
    rows += (resource.second + share - 1) / share;
  }
  const double height = std::clamp(480.0 / static_cast<double>(std::max<std::size_t>(rows, 1)), 4.0, 22.0);
  const double gap = height > 8 ? 2 : 0.5;
  constexpr double kGroupGap = 8;
  const auto row_top = [&](std::size_t resource, std::size_t row) {
    return 8 + static_cast<double>(row) * height + static_cast<double>(resource) * kGroupGap;
  };
  const double bottom = row_top(resources.empty() ? 0 : resources.size() - 1, rows);

  std::string out = svg_head(bottom + 24, "when each slot ran what") + time_grid(axis, 4, bottom + 2);
  for (std::size_t r = 0; r < resources.size(); ++r) {
    const std::size_t end = r + 1 < resources.size() ? first_row[r + 1] : rows;
    const double middle = (row_top(r, first_row[r]) + row_top(r, end)) / 2 + 4;
    const std::string& name = resources[r].first;
    out += "<text x=\"" + coordinate(kTimelineLeft - 10) + "\" y=\"" + coordinate(middle) +
           "\" text-anchor=\"end\">" + html_escape(name.size() > 16 ? name.substr(0, 15) + "…" : name) +
           "</text>\n";
    for (std::size_t row = first_row[r]; row < end; ++row) {
      out += "<rect class=\"row\" x=\"" + coordinate(kTimelineLeft) + "\" y=\"" +
             coordinate(row_top(r, row)) + "\" width=\"" +
             coordinate(kTimelineWidth - kTimelineLeft - kTimelineRight) + "\" height=\"" +
             coordinate(height - gap) + "\"/>\n";
    }
  }

  const double cell =
      std::max(2.0, (kTimelineWidth - kTimelineLeft) * static_cast<double>(rows) / double{kMostCells});
  std::map<std::tuple<std::size_t, std::size_t, long>, std::map<std::size_t, double>>
      thin;  // busy seconds by type
  std::map<std::tuple<std::size_t, std::size_t, long>, const Bar*> bad;
  const auto troubles =
      std::count_if(bars.begin(), bars.end(), [](const Bar& bar) { return is_bad(bar.status); });
  const double mark_every = troubles > 500 ? 20 : 4;  // otherwise they would hide everything else
  std::string marks;
  for (const Bar& bar : bars) {
    const std::size_t row = first_row[bar.resource] + bar.slot / share;
    const double left = axis.x(bar.start);
    const double right = axis.x(bar.end);
    if (share == 1 && right - left >= kThinnest) {
      out += rect(left, row_top(bar.resource, row), right - left - 0.4, height - gap, bar.type, &bar) + "\n";
    } else {
      for (long k = std::lround(std::floor(left / cell)); static_cast<double>(k) * cell <= right; ++k) {
        const double from = std::max(left, static_cast<double>(k) * cell);
        const double to = std::min(right, static_cast<double>(k + 1) * cell);
        thin[{bar.resource, row, k}][bar.type] += std::max(to - from, 0.02) / static_cast<double>(share);
      }
    }
    if (is_bad(bar.status)) bad.emplace(std::tuple(bar.resource, row, std::lround(right / mark_every)), &bar);
  }
  for (const auto& [place, by_type] : thin) {
    const auto& [resource, row, k] = place;
    double top = row_top(resource, row) + height - gap;
    double left_over = height - gap;
    for (const auto& [type, busy] : by_type) {
      const double tall = std::min(left_over, std::max(busy / cell * (height - gap), 0.1));
      top -= tall;
      left_over -= tall;
      if (tall > 0.05) out += rect(static_cast<double>(k) * cell, top, cell, tall, type, nullptr) + "\n";
    }
  }
  for (const auto& [place, bar] : bad) {
    const double y = row_top(std::get<0>(place), std::get<1>(place)) + (height - gap) / 2;
    marks +=
        mark(std::max(axis.x(bar->end) - 5, kTimelineLeft + 4), y, std::clamp(height / 5, 1.5, 4.0), *bar) +
        "\n";
  }
  return out + marks + "</svg>\n";
}

namespace {

/// A stretch of time and the completions in it.
struct Step {
  double x;
  double width;
  double seconds;
  std::vector<double> rate;  // by type
};

/// Steps over the whole axis, wide enough for some completions each. `first`: the first step of each span.
std::vector<Step> completion_steps(std::span<const Bar> bars, std::size_t types, const TimeAxis& axis,
                                   std::vector<std::size_t>& first) {
  const auto completions = static_cast<double>(std::count_if(
      bars.begin(), bars.end(), [](const Bar& bar) { return bar.status == AttemptStatus::kOk; }));
  const double whole = kTimelineWidth - kTimelineLeft - kTimelineRight;
  const double wanted = whole / std::clamp(completions / 8, 8.0, 200.0);
  std::vector<Step> steps;
  for (const TimeAxis::Span& span : axis.spans()) {
    first.push_back(steps.size());
    const auto count = static_cast<std::size_t>(std::max(1.0, std::round(span.width / wanted)));
    const double width = span.width / static_cast<double>(count);
    for (std::size_t k = 0; k < count; ++k) {
      steps.push_back({span.x + width * static_cast<double>(k), width, width * axis.seconds_per_unit(),
                       std::vector<double>(types, 0.0)});
    }
  }
  for (const Bar& bar : bars) {
    if (bar.status != AttemptStatus::kOk) continue;
    const double x = axis.x(bar.end);
    const auto it = std::upper_bound(steps.begin(), steps.end(), x,
                                     [](double value, const Step& step) { return value < step.x; });
    Step& step = it == steps.begin() ? steps.front() : *(it - 1);
    if (step.seconds > 0) step.rate[bar.type] += 1 / step.seconds;
  }
  return steps;
}

}  // namespace

std::string throughput_svg(std::span<const Bar> bars, std::size_t types,
                           std::span<const PredictedTotal> predictions, const TimeAxis& axis) {
  constexpr double kPlotTop = 10;
  constexpr double kPlotBottom = 230;
  std::vector<std::size_t> first_step;
  const std::vector<Step> steps = completion_steps(bars, types, axis, first_step);
  double most = 0;
  for (const Step& step : steps) {
    double sum = 0;
    for (const double rate : step.rate) sum += rate;
    most = std::max(most, sum);
  }
  const double measured = most;
  // A prediction far above the measured values leaves the chart at the top.
  for (const auto& [time, total] : predictions) most = std::max(most, std::min(total, measured * 2));
  if (!(most > 0)) most = 1;
  const double unit = nice_step(std::max(most * 1.05 / 4, 1e-9));
  const double top_value = std::max(unit, std::ceil(most * 1.02 / unit) * unit);
  const auto y = [&](double rate) {
    return kPlotBottom - std::min(rate / top_value, 1.0) * (kPlotBottom - kPlotTop);
  };

  std::string out =
      svg_head(kPlotBottom + 24, "completions per second over time") + time_grid(axis, kPlotTop, kPlotBottom);
  for (double value = 0; value <= top_value * (1 + 1e-9); value += unit) {
    out += "<line class=\"grid\" x1=\"" + coordinate(kTimelineLeft) + "\" y1=\"" + coordinate(y(value)) +
           "\" x2=\"" + coordinate(kTimelineWidth - kTimelineRight) + "\" y2=\"" + coordinate(y(value)) +
           "\"/><text x=\"" + coordinate(kTimelineLeft - 10) + "\" y=\"" + coordinate(y(value) + 4) +
           "\" text-anchor=\"end\">" + rounded_text(value, 4) + "</text>\n";
  }
  out += "<text transform=\"translate(14 " + coordinate((kPlotTop + kPlotBottom) / 2) +
         ") rotate(-90)\" text-anchor=\"middle\">tasks per second</text>\n";
  std::vector<double> below(steps.size(), 0.0);
  for (std::size_t type = 0; type < types; ++type) {
    std::string path;
    for (std::size_t s = 0; s < axis.spans().size(); ++s) {
      const std::size_t end = s + 1 < first_step.size() ? first_step[s + 1] : steps.size();
      std::string back;
      for (std::size_t k = first_step[s]; k < end; ++k) {
        const Step& step = steps[k];
        const double upper = below[k] + step.rate[type];
        path += (k == first_step[s] ? "M" : "L") + coordinate(step.x) + " " + coordinate(y(upper)) + "H" +
                coordinate(step.x + step.width);
        back = "L" + coordinate(step.x + step.width) + " " + coordinate(y(below[k])) + "H" +
               coordinate(step.x) + back;
        below[k] = upper;
      }
      path += back + "Z";
    }
    out += "<path class=\"area\" fill=\"" + type_colour(type) + "\" d=\"" + path + "\"/>\n";
  }
  std::string line;
  for (std::size_t k = 0; k < predictions.size(); ++k) {
    const double from = predictions[k].first;
    const double to = k + 1 < predictions.size() ? predictions[k + 1].first : axis.spans().back().end;
    // Predictions from before the first start, or replaced at once, are not drawn.
    if (to < axis.spans().front().start || axis.x(to) - axis.x(from) < kThinnest) continue;
    const std::string height = coordinate(y(predictions[k].second));
    line += (line.empty() ? "M" : "L") + coordinate(axis.x(from)) + " " + height + "L" +
            coordinate(axis.x(to)) + " " + height;
  }
  if (!line.empty()) out += "<path class=\"promise\" d=\"" + line + "\"><title>predicted</title></path>\n";
  return out + "</svg>\n";
}

}  // namespace allot::detail
