// What does matching the priorities cost in throughput?
#pragma once

#include <optional>

#include "allot/ask/question.hpp"
#include "allot/ask/service_choice.hpp"
#include "allot/solve/pareto.hpp"

namespace allot {

/// Progress: `share`.
class ParetoQuestion final : public Question {
 public:
  // ---- asked
  std::size_t points = 20;
  std::optional<double> time_limit_s;
  SolveOptions how;
  ServiceChoice service;

  // ---- answered
  ParetoFrontier frontier;
  /// For even sharing: the result of weighted service; absent if there was no time.
  std::optional<Solution> weighted;

  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
  std::string json() const override;
};

}  // namespace allot
