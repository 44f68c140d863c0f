// The interval of a single replication comes from batches of its completions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "allot/model/scenario.hpp"
#include "allot/simulate/detail/engine.hpp"
#include "allot/simulate/detail/summary.hpp"

namespace allot::detail {

/// Appends the means of each batch to the replication.
class Batches {
 public:
  Batches(const Scenario& scenario, const Engine& engine, Replication& out)
      : scenario_(scenario), engine_(engine), out_(out), rounds_(scenario.threads.size(), 0) {
    out_.batch_rounds.resize(rounds_.size());
    mark();
  }

  /// Ends a batch in which `completions` tasks have completed.
  void end_one(std::uint64_t completions) {
    const double seconds = engine_.now() - begin_;
    if (completions > 0 && seconds > 0) {
      const auto tasks = static_cast<double>(completions);
      out_.batch_throughput.push_back(tasks / seconds);
      out_.batch_response.push_back((engine_.response_sum() - response_sum_) / tasks);
      out_.batch_value.push_back((value_in(engine_.counted(), scenario_) - value_) / seconds);
      for (std::size_t group = 0; group < rounds_.size(); ++group) {
        const std::uint64_t rounds = engine_.counted().steps[group].back() - rounds_[group];
        out_.batch_rounds[group].push_back(static_cast<double>(rounds) / seconds);
      }
    }
    mark();
  }

 private:
  void mark() {
    begin_ = engine_.now();
    response_sum_ = engine_.response_sum();
    value_ = value_in(engine_.counted(), scenario_);
    for (std::size_t group = 0; group < rounds_.size(); ++group)
      rounds_[group] = engine_.counted().steps[group].back();
  }

  const Scenario& scenario_;
  const Engine& engine_;
  Replication& out_;
  double begin_ = 0;
  double response_sum_ = 0;
  double value_ = 0;
  std::vector<std::uint64_t> rounds_;
};

}  // namespace allot::detail
