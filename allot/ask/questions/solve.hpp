// Where should each task run? And, with `certify`: how good is that, proven?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/ask/question.hpp"
#include "allot/ask/service_choice.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/solver.hpp"

namespace allot {

/// What both questions answer.
class SolutionQuestion : public Question {
 public:
  // ---- asked
  std::optional<double> time_limit_s;
  SolveOptions how;
  bool explains = false;
  ServiceChoice service;
  /// Also find what others would reach, to be held against the answer.
  bool compares = false;

  // ---- answered
  Solution solution;
  std::vector<Placement> explanation;
  std::optional<Solution> best_fit;  ///< every task at home; absent where that is the answer itself
  std::optional<Solution> fastest;   ///< of a solution that is not for throughput: what would be
  std::optional<Solution> even;      ///< of a plan: the best that even sharing can do
  /// The solver did not begin: the solution is none.
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

  /// The solver and the objective that are meant: the one given decides the other.
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
