// Experiments small enough to test the machinery around them: a unit draws a few numbers from its own stream.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "allot/base/random.hpp"
#include "allot/sweep/experiment.hpp"

namespace allot::testing {

/// The numbers that unit `unit` gives, whoever does it.
inline UnitResult tiny_result(std::uint64_t seed, std::size_t unit) {
  RandomStream random(seed, unit);
  UnitResult result;
  for (std::size_t row = 0; row < 1 + unit % 3; ++row)
    result.rows.push_back({static_cast<double>(unit), random.uniform(), -0.0,
                           row == 0 ? std::numeric_limits<double>::quiet_NaN() : 1e-310});
  result.timing.push_back({random.uniform()});
  return result;
}

/// One unit a run, each taking about so many microseconds.
inline Experiment tiny_experiment(std::string name, unsigned microseconds = 0) {
  Experiment experiment;
  experiment.name = std::move(name);
  experiment.title = "Tiny: " + experiment.name;
  experiment.columns = {"unit", "drawn", "zero", "odd"};
  experiment.timing_columns = {"seconds"};
  experiment.units = [](const Effort& effort) -> std::size_t { return effort.runs; };
  experiment.run = [microseconds](const Effort& effort, std::size_t unit, const StopLimits& stop) {
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(microseconds);
    for (StopPoll poll(stop); Clock::now() < end && !poll.should_stop_now();)
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    return tiny_result(effort.seed, unit);
  };
  experiment.conclude = [](const Effort&, std::span<const UnitResult> results) {
    Findings findings;
    Table table;
    table.name = "drawn";
    table.columns = {"unit", "drawn"};
    for (const UnitResult& result : results) {
      for (const auto& row : result.rows)
        table.rows.push_back({{std::to_string(row[0]), row[0]}, {std::to_string(row[1]), row[1]}});
    }
    findings.tables.push_back(std::move(table));
    return findings;
  };
  return experiment;
}

}  // namespace allot::testing
