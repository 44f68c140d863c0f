// Helpers for the answers of solvers.
#pragma once

#include "allot/base/stop.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// The outcome of a method that ran until it was done or stopped.
inline Outcome outcome_of(const StopPoll& poll, Outcome when_done = Outcome::kConverged) noexcept {
  switch (poll.reason()) {
    case StopReason::kTimeLimit:
      return Outcome::kTimeLimit;
    case StopReason::kBudget:
      return Outcome::kBudget;
    case StopReason::kInterrupted:
      return Outcome::kInterrupted;
    case StopReason::kNone:
      break;
  }
  return when_done;
}

/// The answer of a method that found no placement keeping the minimum depths: the home assignment, marked.
inline Solution no_placement(const System& system) {
  Solution solution;
  solution.assignment = home_assignment(system);
  solution.outcome = Outcome::kInfeasible;
  solution.reason = "found no assignment that meets every minimum depth";
  return solution;
}

}  // namespace allot::detail
