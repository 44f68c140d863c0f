#include "paper/experiments/support.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>

#include "allot/base/random.hpp"
#include "allot/base/statistics.hpp"

namespace allot::experiments {
namespace {

void check(Outcome outcome) {
  if (outcome == Outcome::kInterrupted || outcome == Outcome::kTimeLimit) throw Stopped();
}

std::vector<double> collect_rows(std::span<const UnitResult> results, std::vector<Row> UnitResult::*rows,
                                 const std::function<std::optional<double>(const Row&)>& value) {
  std::vector<double> values;
  for (const UnitResult& result : results) {
    for (const Row& row : result.*rows) {
      if (const auto v = value(row)) values.push_back(*v);
    }
  }
  return values;
}

}  // namespace

std::uint64_t sample_seed(const Effort& effort, Purpose purpose, std::size_t sample) {
  return RandomStream(effort.seed, (static_cast<std::uint64_t>(purpose) << 48) + sample).bits();
}

System random_system(const Effort& effort, std::size_t sample, GenerateOptions shape) {
  shape.seed = sample_seed(effort, Purpose::kSystem, sample);
  return generate(shape).system;
}

GenerateOptions scaled_shape(std::size_t k) {
  GenerateOptions shape;
  shape.general = (2 * k + 2) / 3;
  shape.specialized = k - shape.general;
  shape.threads = static_cast<Count>(2 * k * k);
  return shape;
}

std::size_t samples(const Effort& effort, std::size_t full, std::size_t least) {
  return std::max(least, (static_cast<std::size_t>(effort.runs) * full + 599) / 600);
}

Solution run_solver(std::string_view solver, const System& system, const StopLimits& stop,
                    Objective objective, SolveOptions options) {
  options.stop = stop;
  Solution solution = solve(*find_solver(solver), {system, objective}, options);
  check(solution.outcome);
  return solution;
}

Solution optimum(const System& system, const StopLimits& stop) { return run_solver("exact", system, stop); }

SimulationResult run_policy(const Scenario& scenario, std::string_view policy, const Distribution& sizes,
                            SimulateOptions options, const StopLimits& stop) {
  options.replications = 1;
  options.threads = 1;
  options.stop = stop;
  SimulationResult result = simulate(scenario, *find_policy(policy), sizes, options);
  if (result.partial) throw Stopped();
  return result;
}

SimulationResult run_state(const System& system, const Assignment& state, const Distribution& sizes,
                           SimulateOptions options, const StopLimits& stop) {
  options.policy.assignment = state;
  return run_policy(scenario_of(system), "fixed", sizes, std::move(options), stop);
}

SimulateOptions simulation(const Effort& effort, std::size_t unit, std::uint64_t completions,
                           std::uint64_t warmup) {
  SimulateOptions options;
  options.completions = completions;
  options.warmup = warmup;
  options.seed = sample_seed(effort, Purpose::kSimulation, unit);
  return options;
}

Scenario scenario_of(System system) { return {"", std::move(system), {}, {}, {}}; }

System with_rates(const System& system, std::vector<double> rates) {
  return {system.resources(), system.tasks(),
          Rates(system.type_count(), system.resource_count(), std::move(rates))};
}

void for_each_state(const System& system, const std::function<void(const Assignment&)>& visit) {
  Assignment state(system.type_count(), system.resource_count());
  // Places `left` threads of type i on its resources, starting with number `at`, then the following types.
  const std::function<void(std::size_t, std::size_t, Count)> place = [&](std::size_t i, std::size_t at,
                                                                         Count left) {
    if (i == system.type_count()) return visit(state);
    const TaskType type{static_cast<std::uint32_t>(i)};
    const auto resources = system.resources_for(type);
    const auto next = [&] {
      place(i + 1, 0,
            i + 1 < system.type_count() ? system.count(TaskType{static_cast<std::uint32_t>(i + 1)}) : 0);
    };
    if (resources.empty()) return next();
    if (at + 1 == resources.size()) {
      state(type, resources[at]) = left;
      next();
      state(type, resources[at]) = 0;
      return;
    }
    for (Count n = 0; n <= left; ++n) {
      state(type, resources[at]) = n;
      place(i, at + 1, left - n);
    }
    state(type, resources[at]) = 0;
  };
  place(0, 0, system.type_count() > 0 ? system.count(TaskType{0}) : 0);
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double time_calls(double spend, const std::function<void()>& call) {
  double calls = 0;
  const double began = cpu_seconds();
  for (double next = 1;; next *= 2) {  // few reads of the clock
    for (; calls < next; ++calls) call();
    const double taken = cpu_seconds() - began;
    if (taken >= spend) return taken / calls;
  }
}

std::vector<double> collect(std::span<const UnitResult> results,
                            const std::function<std::optional<double>(const Row&)>& value) {
  return collect_rows(results, &UnitResult::rows, value);
}

std::vector<double> collect(std::span<const UnitResult> results, std::size_t column, double is,
                            const std::function<double(const Row&)>& value) {
  return collect(
      results, [&](const Row& row) { return row[column] == is ? std::optional(value(row)) : std::nullopt; });
}

std::vector<double> collect_timing(std::span<const UnitResult> results,
                                   const std::function<std::optional<double>(const Row&)>& value) {
  return collect_rows(results, &UnitResult::timing, value);
}

Summary summary(std::span<const double> values) {
  Summary result;
  result.count = values.size();
  if (values.empty()) return result;
  const Estimate interval = mean_interval(values);
  result.mean = interval.mean;
  result.half_width = interval.half_width.value_or(0);
  result.low = result.mean - result.half_width;
  result.high = result.mean + result.half_width;
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  result.least = *least;
  result.largest = *largest;
  return result;
}

std::size_t without_loss(std::span<const double> losses) {
  return static_cast<std::size_t>(
      std::count_if(losses.begin(), losses.end(), [](double loss) { return loss < 1e-9; }));
}

Summary geometric(std::span<const double> values) {
  std::vector<double> logs;
  for (const double value : values) logs.push_back(std::log(value));
  const Summary s = summary(logs);
  Summary result;
  result.count = s.count;
  if (values.empty()) return result;
  result.mean = std::exp(s.mean);
  result.low = std::exp(s.low);
  result.high = std::exp(s.high);
  result.half_width = (result.high - result.low) / 2;
  result.least = std::exp(s.least);
  result.largest = std::exp(s.largest);
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double growth_exponent(std::span<const double> x, std::span<const double> y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t at = 0; at < std::min(x.size(), y.size()); ++at) {
    if (!(x[at] > 0) || !(y[at] > 0)) continue;
    const double u = std::log(x[at]);
    const double v = std::log(y[at]);
    n += 1;
    sx += u;
    sy += v;
    sxx += u * u;
    sxy += u * v;
  }
  const double spread = n * sxx - sx * sx;
  return spread > 0 ? (n * sxy - sx * sy) / spread : 0;
}

std::vector<std::size_t> draw(const Effort& effort, std::size_t count, std::size_t all) {
  std::vector<std::size_t> numbers(all);
  for (std::size_t at = 0; at < all; ++at) numbers[at] = at;
  RandomStream random(sample_seed(effort, Purpose::kDraw, all));
  count = std::min(count, all);
  for (std::size_t at = 0; at < count; ++at) std::swap(numbers[at], numbers[at + random.below(all - at)]);
  numbers.resize(count);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

std::string number_text(double value, int digits) {
  if (value == 0) return "0";
  // Avoids the exponent form that %g uses for large numbers.
  const int whole = static_cast<int>(std::floor(std::log10(std::abs(value)))) + 1;
  if (whole < -4) return fmt::format("{:.{}g}", value, digits);
  return fmt::format("{:.{}f}", value, std::max(0, digits - whole));
}

std::string percent(double share, int decimals) {
  const bool is_zero = std::abs(100 * share) < 0.5 * std::pow(10.0, -decimals);  // no "-0.00%"
  return fmt::format("{:.{}f}%", is_zero ? 0.0 : 100 * share, decimals);
}

std::string percent(const Summary& share, int decimals) {
  if (share.count < 2) return percent(share.mean, decimals);
  return percent(share.mean, decimals) + " ± " + percent(share.half_width, decimals);
}

std::string factor(const Summary& ratio, int digits) {
  if (ratio.count < 2) return number_text(ratio.mean, digits);
  return fmt::format("{} ({} to {})", number_text(ratio.mean, digits), number_text(ratio.low, digits),
                     number_text(ratio.high, digits));
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return number_text(1e6 * seconds) + " µs";
  if (seconds < 1) return number_text(1e3 * seconds) + " ms";
  return number_text(seconds) + " s";
}

Cell text(std::string value) { return {std::move(value), std::nullopt}; }
Cell number(double value, int digits) {
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  return {whole ? fmt::format("{:.0f}", value) : number_text(value, digits), value};
}
Cell percent_cell(double share, int decimals) { return {percent(share, decimals), share}; }

Chart chart_of(Chart::Kind kind, std::string name, std::string title, std::string x_label,
               std::string y_label) {
  Chart chart;
  chart.kind = kind;
  chart.name = std::move(name);
  chart.title = std::move(title);
  chart.x_label = std::move(x_label);
  chart.y_label = std::move(y_label);
  return chart;
}

Series series(std::string label, std::vector<double> x, std::span<const Summary> y, double scale) {
  Series result;
  result.label = std::move(label);
  result.x = std::move(x);
  for (const Summary& point : y) {
    result.y.push_back(scale * point.mean);
    result.low.push_back(scale * point.low);
    result.high.push_back(scale * point.high);
  }
  return result;
}

Verdict at_most(const Summary& measured, double bar) {
  if (measured.count < kEnough) return Verdict::kUndecided;
  if (measured.high <= bar) return Verdict::kHolds;
  if (measured.low > bar) return measured.mean <= 2 * bar ? Verdict::kPartly : Verdict::kFails;
  return measured.half_width <= bar / 10 ? Verdict::kHolds : Verdict::kUndecided;
}

Verdict at_least(const Summary& measured, double bar) {
  if (measured.count < kEnough) return Verdict::kUndecided;
  if (measured.low >= bar) return Verdict::kHolds;
  if (measured.high < bar) return measured.mean >= bar / 2 ? Verdict::kPartly : Verdict::kFails;
  return measured.half_width <= bar / 10 ? Verdict::kHolds : Verdict::kUndecided;
}

Verdict within(const Summary& measured, double bar) {
  if (measured.count < kEnough) return Verdict::kUndecided;
  if (measured.low >= -bar && measured.high <= bar) return Verdict::kHolds;
  return measured.low > bar || measured.high < -bar ? Verdict::kFails : Verdict::kUndecided;
}

Verdict both(Verdict a, Verdict b) {
  for (const Verdict verdict : {Verdict::kFails, Verdict::kUndecided, Verdict::kPartly}) {
    if (a == verdict || b == verdict) return verdict;
  }
  return Verdict::kHolds;
}

}  // namespace allot::experiments
