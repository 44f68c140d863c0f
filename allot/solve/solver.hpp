// One interface over all solvers, and the table of those that are built in.
#pragma once

#include <span>
#include <string_view>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// A solver: a name, a one-line summary, its objectives, and a function.
struct SolverInfo {
  std::string_view name;
  std::string_view summary;
  bool maximises_value = false;  ///< and all other objectives that are linear in the completions
  bool minimises_priority_error = false;
  /// Fills in outcome, assignment and the fields specific to the solver; `solve` below adds the rest.
  Solution (*search)(const Problem&, const SolveOptions&);
  /// Options for this solver only.
  std::span<const Setting* const> settings = {};
  /// The default for its objectives.
  bool is_default = false;
  /// A local search that takes microseconds on small systems.
  bool is_quick = false;
  /// It does not begin if its budget is too small: Outcome::kBudget is then not an answer.
  bool is_all_or_nothing = false;
  /// It plans which task each server takes next, rather than where tasks wait. Supports every objective, work
  /// of several stages, arrivals and a power cap.
  bool plans_service = false;
  /// What to use instead if tasks have needs, which this solver does not support; empty: it supports them.
  std::string_view instead_with_needs = {};
};

/// All built-in solvers, in the order of the source list in CMakeLists.txt.
std::span<const SolverInfo* const> builtin_solvers() noexcept;

/// Null if there is no solver of that name.
const SolverInfo* find_solver(std::string_view name) noexcept;

/// Whether the solver supports this objective.
bool supports(const SolverInfo& solver, Objective objective) noexcept;

/// The one that `is_default` and supports the objective.
const SolverInfo& default_solver(Objective objective) noexcept;

/// The system as value-maximising solvers see it: for an objective that is linear in the completions, worths
/// are its weights.
System weighted_for(const System& system, Objective objective);

/// Answers the problem: runs the solver, recomputes the performance of its answer from the model, checks
/// floors and depths, and measures the time. Throws InvalidModel if the solver does not support the
/// objective, if the objective needs priorities that the system lacks, or if tasks have needs that the
/// solver or even sharing does not support. Thread-safe.
Solution solve(const SolverInfo& solver, const Problem& problem, const SolveOptions& options = {});

}  // namespace allot
