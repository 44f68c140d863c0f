// What does a policy do, event by event, and how sure is that? And, with `compare`: which differences between
// policies are real?
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/ask/policy_choice.hpp"
#include "allot/ask/question.hpp"
#include "allot/simulate/simulate.hpp"

namespace allot {

/// The common part of both questions. Progress: `share`.
class SimulationQuestion : public Question {
 public:
  SimulateOptions how;
  std::unique_ptr<const Distribution> sizes;
  std::string trace;  ///< the file for every event of the first replication; empty: none
  std::optional<double> time_limit_s;

  SimulationQuestion();

 protected:
  void add_simulation_options(std::vector<Option>& options);
  /// `how` for an answer that starts now.
  SimulateOptions begun(const Attendance& attendance) const;
};

class SimulateQuestion final : public SimulationQuestion {
 public:
  PolicyChoice policy;      ///< asked
  SimulationResult result;  ///< answered

  std::vector<Option> options() override;
  /// Throws std::system_error if the trace cannot be written.
  void answer(const Attendance& attendance) override;
  std::string json() const override;
};

class CompareQuestion final : public SimulationQuestion {
 public:
  /// Asked; empty: all that apply to the scenario.
  std::vector<const PolicyInfo*> policies;
  bool finds_best = true;  ///< asked: include `best`

  // ---- answered
  Comparison comparison;
  std::optional<Solution> best;  ///< the best constant assignment that limited effort finds

  /// Throws InvalidModel if a policy lacks what it needs, or if no policy uses a given option.
  void check_policies() const;

  std::vector<Option> options() override;
  /// Throws std::system_error if the trace cannot be written.
  void answer(const Attendance& attendance) override;
  std::string json() const override;
};

}  // namespace allot
