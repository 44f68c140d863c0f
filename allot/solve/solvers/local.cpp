// Local search for either objective: the best answer that ten to thirty times MAP's time can buy.
//
// Descents from several starts, the best of them perturbed and descended again and again. The effort is
// counted in rated moves, not in seconds, so that a seed gives the same answer everywhere.
#include <algorithm>
#include <optional>
#include <vector>

#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/map.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::LocalSearch;
using detail::SearchState;

/// Rated moves per (type, resource) pair that perturbation may spend.
constexpr std::uint64_t kThroughputEffort = 60;
constexpr std::uint64_t kPriorityEffort = 400;

std::vector<Assignment> starts(const Problem& problem, const SolveOptions& options, StopPoll& poll) {
  const System& system = problem.system;
  std::vector<Assignment> result;
  if (options.start && is_placement(system, *options.start)) result.push_back(*options.start);
  // MAP has climbed from home already; for priorities that leads elsewhere.
  if (problem.objective == Objective::kPriority) {
    if (std::optional<Assignment> home = detail::home_start(system)) result.push_back(std::move(*home));
  }
  Assignment map_answer;
  const Outcome outcome = MapSolver().solve(system, map_answer, options).outcome;
  if (outcome != Outcome::kInfeasible) result.push_back(std::move(map_answer));
  if (outcome == Outcome::kTimeLimit || outcome == Outcome::kInterrupted) poll.should_stop_now();
  return result;
}

/// Looks at the clock about every 4,000 additions: between two looks, a type's moves from one place are
/// rated.
std::uint32_t stride(const Problem& problem) {
  const std::size_t cost = problem.objective == Objective::kPriority || problem.system.has_floors()
                               ? problem.system.type_count() * problem.system.resource_count()
                               : problem.system.resource_count();
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(4096 / std::max<std::size_t>(1, cost), 1, 256));
}

/// Tells of every state that is better than those before.
LocalSearch::Visitor told(const System& system, const SolveOptions& options) {
  if (!options.progress) return {};
  return [&system, &options, best = std::optional<double>()](const SearchState& state) mutable {
    if (best && state.cost() >= *best) return;
    best = state.cost();
    options.progress({evaluate(system, state.assignment()).throughput, std::nullopt});
  };
}

Solution local_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  StopPoll poll(options.stop, stride(problem));
  LocalSearch search(poll, told(system, options));
  SearchState state;
  std::optional<Assignment> best;
  double best_cost = 0;
  for (const Assignment& start : starts(problem, options, poll)) {
    state.reset(system, problem.objective, start);
    search.descend(state);
    if (best && state.cost() >= best_cost) continue;
    best = state.assignment();
    best_cost = state.cost();
  }
  if (!best) return detail::no_placement(system);
  state.reset(system, problem.objective, *best);
  RandomStream random(options.seed);
  const std::uint64_t effort =
      problem.objective == Objective::kThroughput ? kThroughputEffort : kPriorityEffort;
  search.perturb(state, random, effort * system.type_count() * system.resource_count());
  Solution solution;
  solution.assignment = state.assignment();
  solution.outcome = detail::outcome_of(poll);
  return solution;
}

}  // namespace

extern const SolverInfo local;
const SolverInfo local{"local", "bulk moves, swaps and restarts: ten to thirty times MAP's time", true, true,
                       local_search};

}  // namespace allot::solvers
