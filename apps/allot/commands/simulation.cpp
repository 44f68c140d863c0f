#include "apps/allot/commands/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "apps/allot/terminal/progress.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

/// Decimals at which the interval still has two digits.
int decimals_for(double half_width) {
  return half_width > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, 12) : 4;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

void answer_with_progress(Asking& asking, const Console& console) {
  asking.read(console);
  Attendance attendance = Asking::attendance();
  ProgressLine progress(console);
  attendance.share = progress.of_simulation();
  asking.answer(attendance);
}

void print_work(Console& console, const Scenario& scenario) {
  const System& system = scenario.system;
  for (const ThreadGroup& group : scenario.threads) {
    std::vector<std::string> names;
    for (const TaskType type : group.sequence) names.push_back(shown(system.task(type).name));
    console.paragraph(counted(group.count, "thread") + (group.count == 1 ? " repeats " : " repeat ") +
                      joined(names));
  }
  for (const PopulationChange& change : scenario.population) {
    console.paragraph("at " + number(change.at) + " s: " + (change.change > 0 ? "+" : "") +
                      whole(change.change) + " " + in_quotes(system.task(change.task).name));
  }
  for (const Arrivals& arrivals : scenario.arrivals) {
    console.paragraph(in_quotes(system.task(arrivals.task).name) + " tasks arrive, " + number(arrivals.rate) +
                      " a second");
  }
  if (!scenario.is_static()) console.gap();
}

std::string with_interval(const Estimate& value) {
  if (!value.half_width) return number(value.mean);
  const double half_width = *value.half_width;
  if (std::abs(value.mean) >= 1e9 || (value.mean != 0 && std::abs(value.mean) < 1e-4)) {
    return fmt::format("{:.6g} {} {:.2g}", value.mean, sign(Sign::kPlusMinus), half_width);
  }
  const int decimals = decimals_for(half_width);
  return fmt::format("{:.{}f} {} {:.{}f}", value.mean, decimals, sign(Sign::kPlusMinus), half_width,
                     decimals);
}

std::string duration_with_interval(const Estimate& value) {
  if (!value.half_width || !(value.mean > 0)) return duration(value.mean);
  for (const auto& [scale, unit] : {std::pair(1.0, "s"), std::pair(1e-3, "ms"), std::pair(1e-6, "us")}) {
    if (value.mean >= scale)
      return with_interval({value.mean / scale, *value.half_width / scale}) + " " + unit;
  }
  return duration(value.mean) + fmt::format(" {} ", sign(Sign::kPlusMinus)) + duration(*value.half_width);
}

std::string effort(const SimulationResult& result) {
  return counted(static_cast<Count>(result.replications), "replication") + " of " +
         counted(static_cast<Count>(result.completions), "completion") + " after " +
         whole(static_cast<Count>(result.warmup)) + " of warm-up";
}

}  // namespace allot::app
