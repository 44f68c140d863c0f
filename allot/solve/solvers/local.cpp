// Local search for either objective: the best answer for ten to thirty times MAP's time.
//
// Descents from several starts, the best of them perturbed and descended again and again. The effort is
// counted in rated moves, not in seconds, so that a random seed gives the same answer everywhere.
#include <algorithm>
#include <optional>
#include <vector>

#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/needs_starts.hpp"
#include "allot/solve/detail/open_sets.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/overflow_starts.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/map.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::LocalSearch;
using detail::SearchState;

/// Perturbation may rate this many moves per (type, resource) pair.
constexpr std::uint64_t kValueEffort = 60;
constexpr std::uint64_t kPriorityEffort = 400;
/// The number of starts by rate, best first.
constexpr std::size_t kOverflowStarts = 4;
/// The number of starts that differ in which resources with a minimum depth are open.
constexpr std::size_t kOpenSets = 8;

/// Starts from a plan, which accounts for scarce capacities.
void add_start_by_plan(const System& system, const SolveOptions& options, std::vector<Assignment>& result) {
  const Solution plan =
      find_solver("planned")->search(Problem{system, Objective::kThroughput}, {.stop = options.stop});
  if (plan.outcome != Outcome::kOptimal && plan.outcome != Outcome::kConverged) return;
  Assignment start = detail::start_by_plan(system, plan.time_shares);
  if (detail::keep_depths(system, start)) result.push_back(std::move(start));
}

std::vector<Assignment> starts(const Problem& problem, const SolveOptions& options, StopPoll& poll) {
  const System& system = problem.system;
  std::vector<Assignment> result;
  if (options.start && is_placement(system, *options.start)) result.push_back(*options.start);
  // MAP has already climbed from home; for priorities, home is a different start.
  if (!is_linear(problem.objective)) {
    if (std::optional<Assignment> home = detail::home_start(system)) result.push_back(std::move(*home));
  }
  Assignment map_answer;
  const Outcome outcome = MapSolver().solve(system, map_answer, options).outcome;
  if (outcome != Outcome::kInfeasible) result.push_back(std::move(map_answer));
  // MAP has climbed from the first of these.
  if (is_linear(problem.objective)) {
    detail::OverflowStarts overflow;
    overflow.make(system);
    for (std::size_t rank = 1; rank < std::min<std::size_t>(kOverflowStarts, overflow.size()); ++rank) {
      Assignment start;
      overflow.write(rank, start);
      if (detail::keep_depths(system, start)) result.push_back(std::move(start));
    }
  }
  if (system.has_needs()) {
    for (Assignment& start : detail::starts_by_needs(system, kOverflowStarts)) {
      if (detail::keep_depths(system, start)) result.push_back(std::move(start));
    }
    if (is_linear(problem.objective)) add_start_by_plan(system, options, result);
  }
  if (system.has_depths()) {
    for (Assignment& start : detail::starts_by_open_set(system, kOpenSets))
      result.push_back(std::move(start));
  }
  if (outcome == Outcome::kTimeLimit || outcome == Outcome::kInterrupted) poll.should_stop_now();
  return result;
}

/// Reports every state that is better than those before.
LocalSearch::Visitor told(const System& system, const SolveOptions& options) {
  if (!options.progress) return {};
  return [&system, &options, best = std::optional<double>()](const SearchState& state) mutable {
    if (best && state.cost() >= *best) return;
    best = state.cost();
    options.progress({evaluate(system, state.assignment()).value, std::nullopt});
  };
}

Solution local_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  StopPoll poll(options.stop, detail::poll_stride(system, problem.objective));
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
  const std::uint64_t effort = is_linear(problem.objective) ? kValueEffort : kPriorityEffort;
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
