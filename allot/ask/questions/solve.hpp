// Where should each task run? And, with `certify`: how good is that answer, with proof?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/ask/question.hpp"
#include "allot/ask/service_choice.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/solver.hpp"

namespace allot {

/// The common part of both questions.
class SolutionQuestion : public Question {
 public:
  // ---- asked
  std::optional<double> time_limit_s;
  SolveOptions how;
  bool explains = false;
  ServiceChoice service;
  /// Also find the solutions of other methods, for comparison.
  bool compares = false;

  // ---- answered
  Solution solution;
  std::vector<Placement> explanation;
  std::vector<LimitCost> limit_costs;  ///< with even sharing, for throughput, if asked to explain
  std::optional<Solution> best_fit;    ///< every task at home; absent if that is the answer itself
  std::optional<Solution> fastest;     ///< if the solution is not for throughput: the one with maximum
                                       ///< throughput
  std::optional<Solution> even;        ///< if the solution is a plan: the best with even sharing
  /// The solver did not start: there is no solution.
  bool was_refused = false;

  std::string json() const override;

 protected:
  void answer_with(const SolverInfo& solver, Objective objective, const Attendance& attendance);
};

/// Progress: `proof`, and once at the end.
class SolveQuestion final : public SolutionQuestion {
 public:
  std::optional<Objective> objective;
  std::string solver;  ///< empty: the default for the objective

  /// The chosen solver and objective: if only one is given, it determines the other.
  std::pair<const SolverInfo*, Objective> chosen() const;

  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
};

/// Progress: `proof`, and once at the end.
class CertifyQuestion final : public SolutionQuestion {
 public:
  CertifyQuestion() { time_limit_s = 10; }
  std::vector<Option> options() override;
  void answer(const Attendance& attendance) override;
};

}  // namespace allot
