// Shared by all experiments: the random system of a sample, means with their intervals, numbers as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/solve/solver.hpp"
#include "paper/experiments.hpp"

namespace allot::experiments {

// ---- samples

/// The purposes of random numbers; each has its own stream.
enum class Purpose : std::uint64_t { kSystem = 1, kSimulation, kDraw, kPerturbation, kPower, kState };

/// The random seed of one sample for one purpose: a pure function of its arguments, so that a sample never
/// depends on the number of samples.
std::uint64_t sample_seed(const Effort& effort, Purpose purpose, std::size_t sample);

/// The random system of a sample: `shape` with the sample's own seed. Samples of the same shape are the same
/// systems in every experiment.
System random_system(const Effort& effort, std::size_t sample, GenerateOptions shape = {});

/// k resource types, two thirds of them general (rounded up), 2 k^2 threads: the paper's scaling.
GenerateOptions scaled_shape(std::size_t k);

/// Number of samples for an experiment with `full` samples at 600 runs; at least `least`.
std::size_t samples(const Effort& effort, std::size_t full, std::size_t least = 1);

// ---- solvers and simulations

/// Runs a built-in solver. Throws Stopped if the search was stopped.
Solution run_solver(std::string_view solver, const System& system, const StopLimits& stop,
                    Objective objective = Objective::kThroughput, SolveOptions options = {});
/// The proven optimum of the throughput, however long it takes.
Solution optimum(const System& system, const StopLimits& stop);

/// One replication of a policy on one thread. Throws Stopped if it was stopped.
SimulationResult run_policy(const Scenario& scenario, std::string_view policy, const Distribution& sizes,
                            SimulateOptions options, const StopLimits& stop);
/// The same for a fixed assignment.
SimulationResult run_state(const System& system, const Assignment& state, const Distribution& sizes,
                           SimulateOptions options, const StopLimits& stop);
/// Options of a simulation with this many completions, with the unit's own seed.
SimulateOptions simulation(const Effort& effort, std::size_t unit, std::uint64_t completions,
                           std::uint64_t warmup);

/// CPU seconds used by the calling thread.
double cpu_seconds();
/// Mean CPU seconds of one call, from at least one call and about `spend` seconds of calls.
double time_calls(double spend, const std::function<void()>& call);

/// Thrown by the functions above when the limits are reached: the engine discards the unit.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "stopped"; }
};

Scenario scenario_of(System system);
/// The same system with other rates.
System with_rates(const System& system, std::vector<double> rates);
/// Calls `visit` for every placement of the system's threads.
void for_each_state(const System& system, const std::function<void(const Assignment&)>& visit);

// ---- results

using Row = std::vector<double>;
/// The results of `value` for the rows of all units, without rows for which there is none.
std::vector<double> collect(std::span<const UnitResult> results,
                            const std::function<std::optional<double>(const Row&)>& value);
/// The results of `value` for the rows with the number `is` in the column.
std::vector<double> collect(std::span<const UnitResult> results, std::size_t column, double is,
                            const std::function<double(const Row&)>& value);
/// The same for timing rows.
std::vector<double> collect_timing(std::span<const UnitResult> results,
                                   const std::function<std::optional<double>(const Row&)>& value);

/// A mean with the half-width of its 95% interval (0 with a single value) and the extremes.
struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double half_width = 0;
  double low = 0;  ///< the ends of the interval
  double high = 0;
  double least = 0;  ///< minimum of the values
  double largest = 0;
};
Summary summary(std::span<const double> values);
/// The number of losses that are only rounding errors.
std::size_t without_loss(std::span<const double> losses);
/// exp of the mean of the logarithms, and the same for the interval; values must be positive.
Summary geometric(std::span<const double> values);
/// The median; 0 without values.
double median(std::vector<double> values);
/// The exponent b of the best power law y = a x^b (least squares of the logarithms).
double growth_exponent(std::span<const double> x, std::span<const double> y);

/// `count` different random numbers below `all`, in ascending order.
std::vector<std::size_t> draw(const Effort& effort, std::size_t count, std::size_t all);

// ---- words and numbers

std::string number_text(double value, int digits = 3);        ///< with this many significant digits
std::string percent(double share, int decimals = 2);          ///< 0.0026 -> "0.26%"
std::string percent(const Summary& share, int decimals = 2);  ///< "0.26% ± 0.05%"
std::string factor(const Summary& ratio, int digits = 3);     ///< "1.31 (1.25 to 1.37)"
std::string seconds_text(double seconds);                     ///< "12.3 µs"

Cell text(std::string value);
Cell number(double value, int digits = 4);
Cell percent_cell(double share, int decimals = 3);  ///< shown in percent, stored as a share

/// A chart without series.
Chart chart_of(Chart::Kind kind, std::string name, std::string title, std::string x_label,
               std::string y_label);
/// A series of means with their intervals.
Series series(std::string label, std::vector<double> x, std::span<const Summary> y, double scale = 1);

// ---- verdicts: based on the interval, not only on the mean

/// kHolds if the interval is at or below `bar`, or if it contains `bar` and is narrow (a half-width of at
/// most a tenth of `bar`). If all of it is above: kPartly for a mean up to twice `bar`, otherwise kFails. In
/// all other cases, and with fewer than kEnough values, kUndecided.
Verdict at_most(const Summary& measured, double bar);
/// The same for a lower bound; kPartly for a mean of at least half of `bar`.
Verdict at_least(const Summary& measured, double bar);
/// kHolds if the interval is within `bar` of 0, kFails if all of it is further away; kUndecided as above.
Verdict within(const Summary& measured, double bar);
/// The first of kFails, kUndecided, kPartly and kHolds that is one of the two: for claims with several parts.
Verdict both(Verdict a, Verdict b);

}  // namespace allot::experiments
