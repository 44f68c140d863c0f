// Questions to solvers, and their answers: plain structs.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/assignment.hpp"
#include "allot/model/objective.hpp"
#include "allot/model/scenario.hpp"
#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/plan_proof.hpp"
#include "allot/solve/proof.hpp"
#include "allot/solve/service_plan.hpp"

namespace allot {

/// A question. Some objectives need priorities.
struct Problem {
  System system;
  Objective objective = Objective::kThroughput;
  /// Only for planned service: work of several stages, arrivals, and a power cap.
  std::vector<ThreadGroup> threads = {};
  std::vector<Arrivals> arrivals = {};
  std::optional<double> power_cap = {};
  /// Per type, the completions per second beyond which more are useless, since no more work arrives; empty:
  /// no limit.
  std::vector<double> ceilings = {};
};

/// The question that a scenario asks of planned service.
inline Problem planned_problem(const Scenario& scenario, Objective objective) {
  return {scenario.system, objective, scenario.threads, scenario.arrivals, scenario.power_cap};
}

/// How a solver ended. All of these are answers, not errors.
enum class Outcome {
  kOptimal,      ///< proven best
  kConverged,    ///< the method has finished; nothing is proven unless there is a bound
  kTimeLimit,    ///< the deadline expired; the answer is the best so far
  kBudget,       ///< another limit was reached (iterations, nodes); the answer is the best so far
  kInterrupted,  ///< the stop flag was set; the answer is the best so far
  kInfeasible,   ///< depths, floors or shares cannot be met, or this method did not meet them: see `reason`
};

/// What is approximate if tasks have needs: held needs that do not fill a capacity leave room for a part of
/// another task.
inline constexpr std::string_view kCountsFractions =
    "this counts fractions of tasks; whole tasks may get less";

struct Solution {
  std::string_view solver;
  Objective objective = Objective::kThroughput;
  Outcome outcome = Outcome::kConverged;
  Assignment assignment;
  Performance performance;
  /// No assignment has more value than this. Set only by solvers that prove a bound.
  std::optional<double> upper_bound;
  bool proven_optimal = false;
  /// The value of the objective, and the bound that no assignment exceeds, if it is known.
  double objective_value = 0;
  std::optional<double> objective_bound;
  /// An explanation of the outcome, if it needs one; otherwise empty.
  std::string reason;
  double seconds = 0;

  /// `slsqp`: the continuous optimum it found, row-major, and its throughput.
  std::vector<double> relaxed_assignment;
  std::optional<double> relaxed_throughput;
  /// `weighted`, `planned`: the time shares, row-major, from which its throughput follows.
  std::vector<double> time_shares;
  /// `weighted`: what limits the throughput, one sentence each.
  std::vector<std::string> binding;
  /// `planned`: the plan.
  ServicePlan plan;
  bool is_planned = false;
  /// With `SolveOptions::keep_proof`: the proof of the bound, or that nothing is feasible. Otherwise null.
  std::shared_ptr<const Proof> proof;
  /// The same for a plan.
  std::shared_ptr<const PlanProof> plan_proof;

  /// (bound - V) / bound; absent without a bound. 0 for an empty system.
  std::optional<double> gap() const {
    if (!upper_bound || !(*upper_bound < std::numeric_limits<double>::infinity())) return std::nullopt;
    return *upper_bound > 0 ? std::max(0.0, (*upper_bound - performance.value) / *upper_bound) : 0.0;
  }
};

std::string_view to_string(Outcome outcome) noexcept;

}  // namespace allot
