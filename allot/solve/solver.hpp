// One interface over all solvers, and the table of those that are built in.
#pragma once

#include <span>
#include <string_view>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// A solver: a name, a line about it, what it can optimise, and a function.
struct SolverInfo {
  std::string_view name;
  std::string_view summary;
  bool maximises_value = false;  ///< and whatever else is linear in the completions
  bool minimises_priority_error = false;
  /// Fills in outcome, assignment and what is special to the solver; `solve` below adds the rest.
  Solution (*search)(const Problem&, const SolveOptions&);
  /// What it alone can be told.
  std::span<const Setting* const> settings = {};
  /// It is meant where an objective is named and no solver.
  bool is_default = false;
  /// It walks from start to answer, in microseconds on small systems.
  bool is_quick = false;
  /// Where its budget is too small it has not begun: Outcome::kBudget is no answer.
  bool is_all_or_nothing = false;
  /// It plans which task each unit takes next, rather than where tasks wait: for every objective, and for
  /// work of several stages, arrivals and a limit of power.
  bool plans_service = false;
  /// What to use where tasks have needs, for which it has no form; empty: it takes them.
  std::string_view instead_with_needs = {};
};

/// All built-in solvers, in the order of the source list in CMakeLists.txt.
std::span<const SolverInfo* const> builtin_solvers() noexcept;

/// Null when there is no solver of that name.
const SolverInfo* find_solver(std::string_view name) noexcept;

/// Whether the solver can be asked for this objective.
bool supports(const SolverInfo& solver, Objective objective) noexcept;

/// The one that `is_default` and supports the objective.
const SolverInfo& default_solver(Objective objective) noexcept;

/// The system as solvers see it, which maximise value: a completion is worth what it counts for an objective
/// that is linear in the completions.
System weighted_for(const System& system, Objective objective);

/// Answers the problem: runs the solver, recomputes the performance of its answer from the model, checks
/// floors and depths, and measures the time. Throws InvalidModel when the solver does not support the
/// objective, the objective needs priorities that the system lacks, or tasks have needs for which the solver
/// or even sharing has no form. Thread-safe.
Solution solve(const SolverInfo& solver, const Problem& problem, const SolveOptions& options = {});

}  // namespace allot
