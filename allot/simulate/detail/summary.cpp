#include "allot/simulate/detail/summary.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>

#include "allot/simulate/detail/threads.hpp"

namespace allot::detail {
namespace {

/// Up to the variance of exponential sizes, there is no heavy tail.
constexpr double kExponential = 1;

/// Per second; 0 for a moment too short to measure.
double rate(double count, double seconds) noexcept { return seconds > 0 ? count / seconds : 0.0; }

Estimate estimate(std::span<const double> values) {
  const Estimate interval = mean_interval(values);
  return {interval.mean, interval.half_width};
}

/// The values of the windows, one per replication, and sums over them.
struct Totals {
  explicit Totals(const Scenario& work)
      : scenario(work),
        by_task(work.system.type_count()),
        by_resource(work.system.resource_count()),
        response_by_task(work.system.type_count()),
        rounds(work.threads.size()),
        busy(work.system.resource_count()),
        used(work.system.has_needs() ? work.system.capacity_count() : 0) {}

  void add(const Window& window) {
    values.push_back(rate(value_in(window, scenario), window.seconds));
    for (std::size_t group = 0; group < rounds.size(); ++group)
      rounds[group].push_back(rate(static_cast<double>(window.steps[group].back()), window.seconds));
    double response = 0;
    for (std::size_t i = 0; i < by_task.size(); ++i) {
      std::uint64_t done = 0;
      for (const std::uint64_t n : window.completions_by_pair.row(task_type(i))) done += n;
      by_task[i].push_back(rate(static_cast<double>(done), window.seconds));
      if (done > 0) response_by_task[i].push_back(window.response_by_type[i] / static_cast<double>(done));
      response += window.response_by_type[i];
    }
    for (std::size_t j = 0; j < by_resource.size(); ++j) {
      std::uint64_t done = 0;
      for (std::size_t i = 0; i < by_task.size(); ++i) {
        done += window.completions_by_pair(task_type(i), resource_id(j));
      }
      by_resource[j].push_back(rate(static_cast<double>(done), window.seconds));
      busy[j] += window.busy[j];
    }
    for (std::size_t r = 0; r < used.size(); ++r) used[r] += window.used[r];
    responses.push_back(response / static_cast<double>(window.completions));
    seconds += window.seconds;
    tasks += static_cast<double>(window.completions);
    population += window.population_integral;
    little_residual = std::max(little_residual, window.little_residual);
  }

  const Scenario& scenario;
  std::vector<double> values;
  std::vector<double> responses;
  std::vector<std::vector<double>> by_task;
  std::vector<std::vector<double>> by_resource;
  std::vector<std::vector<double>> response_by_task;
  std::vector<std::vector<double>> rounds;
  std::vector<double> busy;
  std::vector<double> used;
  double seconds = 0;
  double tasks = 0;
  double population = 0;
  double little_residual = 0;
};

class Summary {
 public:
  explicit Summary(const Measured& measured) : measured_(measured) {
    for (const Replication& replication : measured.replications) {
      complete_ += replication.complete ? 1 : 0;
      if (replication.complete && replication.window.completions > 0) used_.push_back(&replication);
    }
    if (measured.stopped && used_.size() < 2) {  // a part of a run is better than nothing
      used_.clear();
      for (const Replication& replication : measured.replications) {
        if (replication.window.completions > 0) used_.push_back(&replication);
      }
    }
  }

  SimulationResult result() const {
    SimulationResult result = begin();
    const std::size_t types = measured_.scenario.system.type_count();
    const std::size_t resources = measured_.scenario.system.resource_count();
    if (used_.empty()) {
      if (complete_ > 0) result.completions = 0;
      result.throughput_by_task.resize(types);
      result.throughput_by_resource.resize(resources);
      result.response_time_by_task.resize(types);
      result.rounds.resize(measured_.scenario.threads.size());
      result.utilization.resize(resources);
      if (measured_.scenario.system.has_needs())
        result.capacity_use.resize(measured_.scenario.system.capacity_count());
      return result;
    }
    Totals totals(measured_.scenario);
    LogHistogram histogram = measured_.responses;
    for (const Replication* replication : used_) {
      result.throughput_by_replication.push_back(throughput_of(replication->window));
      result.replication_marks.push_back(
          {static_cast<std::uint32_t>(replication - measured_.replications.data()), replication->complete});
      totals.add(replication->window);
      if (replication->part) histogram.merge(*replication->part);
    }
    estimate_all(totals, histogram, result);
    note_heavy_tail(totals.tasks, result);
    note_rhythm(result);
    note_growth(result);
    if (measured_.scenario.arrivals.empty()) note_old_tasks(result);
    return result;
  }

 private:
  /// The settings of the run, and how it ended.
  SimulationResult begin() const {
    SimulationResult result;
    result.policy = measured_.policy;
    result.distribution = measured_.sizes.spec();
    result.seed = measured_.options.seed;
    result.replications = std::max(complete_, static_cast<std::uint32_t>(used_.size()));
    result.completions = measured_.options.completions;
    for (const Replication* replication : used_)
      result.completions = std::min(result.completions, replication->window.completions);
    result.warmup = measured_.warmup;
    result.partial = measured_.stopped;
    if (!measured_.policy_note.empty()) result.notes.push_back(measured_.policy_note);
    if (!measured_.settled && measured_.scenario.arrivals.empty()) {
      result.notes.emplace_back(
          "the start may still have an effect: no pilot run was long enough to settle; use a longer warm-up");
    }
    note_end_of_work(result);
    return result;
  }

  void estimate_all(const Totals& totals, const LogHistogram& histogram, SimulationResult& result) const {
    result.little_residual = totals.little_residual;
    result.throughput = estimate(result.throughput_by_replication);
    result.response_time = estimate(totals.responses);
    result.value_by_replication = totals.values;
    result.value = estimate(totals.values);
    for (const auto& values : totals.rounds) result.rounds.push_back(estimate(values));
    if (used_.size() == 1) {
      const Replication& only = *used_.front();
      result.throughput.half_width = mean_interval(only.batch_throughput).half_width;
      result.response_time.half_width = mean_interval(only.batch_response).half_width;
      result.value.half_width = mean_interval(only.batch_value).half_width;
      for (std::size_t group = 0; group < only.batch_rounds.size(); ++group)
        result.rounds[group].half_width = mean_interval(only.batch_rounds[group]).half_width;
    }
    result.p50 = histogram.quantile(0.50);
    result.p95 = histogram.quantile(0.95);
    result.p99 = histogram.quantile(0.99);
    for (const auto& values : totals.by_task) result.throughput_by_task.push_back(estimate(values));
    for (const auto& values : totals.by_resource) result.throughput_by_resource.push_back(estimate(values));
    for (const auto& values : totals.response_by_task)
      result.response_time_by_task.push_back(estimate(values));
    double energy = 0;
    for (const ResourceId j : measured_.scenario.system.resource_ids()) {
      const Resource& resource = measured_.scenario.system.resource(j);
      const double units = static_cast<double>(resource.servers) * totals.seconds;
      const double busy = totals.busy[index(j)];
      result.utilization.push_back(rate(totals.used.empty() ? busy : totals.used[index(j)], units));
      energy += busy * resource.power + (units - busy) * resource.idle_power;
    }
    for (const double used : totals.used) result.capacity_use.push_back(rate(used, totals.seconds));
    result.energy_per_task = energy / totals.tasks;
    result.edp = result.energy_per_task * result.response_time.mean;
    for (std::size_t r = 0; r < used_.size(); ++r) {
      result.little +=
          result.throughput_by_replication[r] * totals.responses[r] / static_cast<double>(used_.size());
    }
    result.population = rate(totals.population, totals.seconds);
  }

  /// Notes that work ends: every thread leaves, or there was none.
  void note_end_of_work(SimulationResult& result) const {
    std::uint64_t dry = 0;
    std::uint64_t most = 0;
    for (const Replication& replication : measured_.replications) {
      dry += replication.dry ? 1 : 0;
      if (replication.dry) most = std::max(most, replication.window.completions);
    }
    if (dry == 0) return;
    if (most > 0) {
      result.notes.push_back("the work ended after " + std::to_string(most) +
                             " completions at most: no task was left");
    } else if (measured_.simulated > 0) {
      result.notes.emplace_back("the work ended during the warm-up: nothing was measured");
    } else {
      result.notes.emplace_back(threads_of(measured_.scenario) > 0
                                    ? "nothing ever completes: no server takes a task"
                                    : "nothing ever completes: there are no threads");
    }
  }

  /// Whether some present threads complete nothing, as a plan may require.
  bool has_starved(const SimulationResult& result) const {
    const System& system = measured_.scenario.system;
    for (const TaskType i : system.types()) {
      if (system.count(i) > 0 && !(result.throughput_by_task[index(i)].mean > 0)) return true;
    }
    return !measured_.scenario.threads.empty();
  }

  /// Whether a type that only arrives completes significantly less than arrives.
  bool completes_less_than_arrives(const SimulationResult& result) const {
    const Scenario& scenario = measured_.scenario;
    std::vector<double> arriving(scenario.system.type_count(), 0.0);
    for (const Arrivals& stream : scenario.arrivals) arriving[index(stream.task)] += stream.rate;
    for (const TaskType i : scenario.system.types()) {
      const Estimate& completed = result.throughput_by_task[index(i)];
      if (completed.half_width && completed.mean + 2 * *completed.half_width < arriving[index(i)])
        return true;
    }
    return false;
  }

  /// Little's law needs a steady state: tasks that wait forever are in the system but in no response time.
  void note_growth(SimulationResult& result) const {
    if (measured_.scenario.arrivals.empty() || result.completions < 1000) return;
    const bool is_crowded = result.population > 1.1 * result.little && !has_starved(result);
    if (!is_crowded && !completes_less_than_arrives(result)) return;
    result.notes.emplace_back(
        "tasks pile up: more arrive than complete, so these means depend on the length of the run");
  }

  /// With a heavy tail the largest tasks may take as long as a run: they are in the system, but in no
  /// response time.
  void note_old_tasks(SimulationResult& result) const {
    constexpr double kShare = 0.03;
    if (measured_.sizes.variance() <= kExponential) return;
    double share = 0;
    double runs = 0;
    for (const Replication& replication : measured_.replications) {
      if (!replication.complete || replication.dry || !(replication.window.seconds > 0)) continue;
      share += std::min(1.0, replication.window.oldest / replication.window.seconds);
      ++runs;
    }
    if (runs == 0 || share / runs < kShare) return;
    char text[200];
    std::snprintf(text, sizeof text,
                  "the oldest task had been there for %.0f%% of a replication when it ended: response times "
                  "may be too small, as such tasks are not in them; run longer",
                  100 * share / runs);
    result.notes.emplace_back(text);
  }

  /// If sizes never vary, the rhythm of the start persists, and replications differ only in their start.
  void note_rhythm(SimulationResult& result) const {
    constexpr double kHardly = 1e-3;
    if (measured_.sizes.variance() >= kHardly) return;
    result.notes.emplace_back(measured_.sizes.variance() == 0 && measured_.options.random_start
                                  ? "sizes never vary, so the intervals rest on the random start alone: they "
                                    "contain the true value slightly less often than 95% of the time"
                                  : "sizes hardly vary, so all replications keep the rhythm of the same "
                                    "start: the intervals are too "
                                    "narrow");
  }

  /// An interval does not account for large tasks that were never drawn.
  void note_heavy_tail(double tasks, SimulationResult& result) const {
    const double error = 1.96 * std::sqrt(measured_.sizes.variance() / tasks);
    if (error < 0.01 || measured_.sizes.variance() <= kExponential) return;
    char text[200];
    if (std::isfinite(error)) {
      std::snprintf(text, sizeof text,
                    "sizes vary so much that the mean of the %.3g drawn is known to %.1f%% only: "
                    "the tail may not have been sampled; run longer",
                    tasks, 100 * error);
    } else {
      std::snprintf(text, sizeof text, "sizes have no finite variance: no interval can be trusted");
    }
    result.notes.emplace_back(text);
  }

  const Measured& measured_;
  std::vector<const Replication*> used_;
  std::uint32_t complete_ = 0;
};

}  // namespace

double throughput_of(const Window& window) noexcept {
  return rate(static_cast<double>(window.completions), window.seconds);
}

double value_in(const Window& window, const Scenario& scenario) noexcept {
  double value = 0;
  for (const TaskType i : scenario.system.types()) {
    std::uint64_t alone = 0;
    for (const std::uint64_t n : window.completions_by_pair.row(i)) alone += n;
    for (std::size_t group = 0; group < window.steps.size(); ++group) {
      const std::vector<TaskType>& sequence = scenario.threads[group].sequence;
      for (std::size_t step = 0; step < sequence.size(); ++step)
        if (sequence[step] == i) alone -= window.steps[group][step];
    }
    value += scenario.system.worth(i) * static_cast<double>(alone);
  }
  for (std::size_t group = 0; group < window.steps.size(); ++group)
    value += scenario.threads[group].worth * static_cast<double>(window.steps[group].back());
  return value;
}

SimulationResult summarise(const Measured& measured) { return Summary(measured).result(); }

}  // namespace allot::detail
