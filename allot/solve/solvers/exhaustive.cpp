// Enumeration: every state, one after the other. The paper's Opt.
//
// The number of states is the product over the types of C(N_i + r_i - 1, r_i - 1), with r_i resources that
// can run type i. It is computed first; systems with more states than the limit are refused.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "allot/solve/detail/joined_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/states.hpp"
#include "allot/solve/detail/unmet_limits.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

/// The best state so far under either objective. Floors come first.
class Champion {
 public:
  Champion(const System& system, Objective objective) : system_(system), objective_(objective) {}

  /// Whether it is the best now.
  bool offer(const detail::StateVisitor& state) {
    if (system_.has_depths() && !state.keeps_depths()) return false;
    double value = 0;
    double cost = 0;
    double missing = 0;
    if (is_linear(objective_) && !system_.has_floors()) {
      value = state.value();
      cost = -value;
    } else {
      value = state.value_and_throughputs(by_task_);
      if (system_.has_floors()) missing = floor_shortfall(system_, by_task_);
      if (is_linear(objective_)) {
        cost = -value;
      } else {
        const double x =
            system_.has_worths() ? std::accumulate(by_task_.begin(), by_task_.end(), 0.0) : value;
        cost = x > 0 ? priority_error(by_task_, x, system_.shares()) : 4.0;
      }
    }
    if (found_ && (missing > missing_ || (missing == missing_ && !improves(cost, value)))) return false;
    cost_ = found_ && missing == missing_ ? std::min(cost_, cost) : cost;
    found_ = true;
    missing_ = missing;
    value_ = value;
    state.write(best_);
    return true;
  }

  bool found() const noexcept { return found_; }
  double missing() const noexcept { return missing_; }
  const Assignment& best() const noexcept { return best_; }

 private:
  /// Among errors that are equal up to rounding, the value decides.
  bool improves(double cost, double value) const noexcept {
    constexpr double kSame = 1e-13;
    if (is_linear(objective_)) return cost < cost_;
    return cost < cost_ - kSame || (cost <= cost_ + kSame && value > value_ * (1 + kSame));
  }

  const System& system_;
  Objective objective_;
  bool found_ = false;
  double value_ = 0;
  double missing_ = 0;
  double cost_ = 0;
  std::vector<double> by_task_;
  Assignment best_;
};

constexpr Setting kMostStates{
    .name = "max_states", .help = "refuse systems with more states than this", .initial = 1e9, .least = 1};
constexpr const Setting* kSettings[] = {&kMostStates};

Solution exhaustive_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  Solution solution;
  solution.assignment = home_assignment(system);
  const double most = options.settings.get(kMostStates);
  const double states = detail::count_states(system);
  if (states > most) {
    solution.outcome = Outcome::kBudget;
    solution.reason = "refused: " + detail::format_states(states) + " states, more than the limit of " +
                      detail::format_states(most);
    return solution;
  }
  StopPoll poll(options.stop);
  Champion champion(system, problem.objective);
  detail::StateVisitor visitor(system);
  visitor.visit_all([&] {
    if (champion.offer(visitor) && options.progress)
      options.progress({evaluate(system, champion.best()).value, std::nullopt});
    return !poll.should_stop();
  });
  if (champion.found()) solution.assignment = champion.best();
  if (poll.stopped()) {
    solution.outcome = detail::outcome_of(poll);
  } else if (!champion.found()) {
    solution.outcome = Outcome::kInfeasible;
    solution.reason = "no assignment meets every minimum depth";
  } else if (champion.missing() > 0) {
    solution.outcome = Outcome::kInfeasible;
    solution.reason = detail::no_assignment_meets(system, solution.assignment);
  } else if (!detail::has_inexact_queues(system)) {
    if (evaluate(system, solution.assignment).approximate) {
      solution.reason = detail::kFluidLevels;
    } else {
      solution.outcome = Outcome::kOptimal;
      solution.proven_optimal = true;
    }
    if (is_linear(problem.objective)) {
      solution.upper_bound = evaluate(system, solution.assignment).value;
    }
  }
  return solution;
}

}  // namespace

extern const SolverInfo exhaustive;
const SolverInfo exhaustive{"exhaustive",
                            "tries every state: exact, for small systems",
                            true,
                            true,
                            exhaustive_search,
                            kSettings,
                            false,
                            false,
                            true};

}  // namespace allot::solvers
