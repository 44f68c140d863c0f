// MAP, maximise SA then GP: the paper's Algorithms 1-3, read so that they end (see paper/README.md).
//
// Start with every task at home. For each accelerator's type, OptSA takes tasks, one by one, from the
// accelerator to the resource where one helps most; for each type, OptGP takes tasks, one by one, from where
// one hurts least to where it helps most. A move is kept only if the throughput rises; when a whole pass
// changes nothing, that is the answer. A move is rated in O(1), so looking at every type once costs O(T R).
#include "allot/solve/map.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using detail::Exchange;
using detail::SearchState;

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr double kAlways = -kNever;

/// A resource and how much one task more, or one fewer, changes its throughput.
struct End {
  ResourceId resource{};
  double value = kNever;

  void offer(ResourceId j, double other) noexcept {
    if (other > value) *this = {j, other};
  }
};

/// Changes remembered at a time: a fixed number, so that a long climb allocates no more than a short one.
constexpr std::size_t kLogSize = 1024;

constexpr ResourceId kNoResource{~std::uint32_t{0}};

/// The accelerator where a type is at home, or kNoResource when its home is none.
ResourceId accelerator_home(const System& system, TaskType i) noexcept {
  const std::optional<ResourceId> home = system.home(i);
  return home && system.resource(*home).kind == Kind::kSpecialized ? *home : kNoResource;
}

/// The best move of type i from one of its resources to another, over all pairs: where floors or depths make
/// the two ends depend on each other.
bool move_over_all_pairs(SearchState& state, TaskType i) {
  Exchange best;
  double best_change = -state.tolerance();
  for (const ResourceId a : state.system().resources_for(i)) {
    if (state.at(i, a) == 0) continue;
    for (const ResourceId b : state.system().resources_for(i)) {
      if (a == b) continue;
      const Exchange move{i, a, b, state.smallest_move(i, a, b), {}, 0};
      if (move.n == 0) continue;
      const double change = state.cost_change(move);
      if (change < best_change) {
        best_change = change;
        best = move;
      }
    }
  }
  if (best.n == 0) return false;
  state.apply(best);
  return true;
}

bool has_fcfs(const System& system) noexcept {
  for (const Resource& resource : system.resources()) {
    if (resource.discipline == Discipline::kFcfs) return true;
  }
  return false;
}

/// Algorithm 1 on one state. A type that found no move is looked at again only when what has changed since
/// could give it one; that skips work, never a move.
class Climb {
 public:
  void start(SearchState& state, Sensitivity kind) {
    state_ = &state;
    kind_ = kind;
    linear_ = kind == Sensitivity::kExact && !has_fcfs(state.system());
    log_.clear();
    log_.reserve(kLogSize);
    processor_limits_.assign(state.system().type_count(), {});
    accelerator_limits_.assign(state.system().type_count(), {});
    homes_.clear();
    for (const TaskType i : state.system().types()) homes_.push_back(accelerator_home(state.system(), i));
  }

  /// Until a full pass changes nothing.
  void run(StopPoll& poll) {
    const System& system = state_->system();
    const bool pairs_matter = system.has_floors() || system.has_depths();
    for (bool changed = true; changed;) {
      changed = false;
      for (const TaskType i : system.types()) {
        if (poll.should_stop()) return;
        if (system.count(i) == 0) continue;
        if (pairs_matter) {
          changed |= move_over_all_pairs(*state_, i);
        } else if (homes_[index(i)] != kNoResource) {
          while (optimise_accelerator(i, homes_[index(i)]) && !poll.should_stop()) changed = true;
        }
      }
      if (pairs_matter) continue;
      for (const TaskType i : system.types()) {
        if (poll.should_stop()) return;
        while (system.count(i) > 0 && optimise_processors(i) && !poll.should_stop()) changed = true;
      }
    }
  }

 private:
  using Line = SearchState::Line;

  /// By how much a move changed the worth of one task more, and of one fewer, at a resource.
  struct Shift {
    ResourceId resource{};
    Line addition;
    Line removal;
  };

  /// What a type's best move was worth when it was last looked at, plus all that has risen since: the first
  /// `seen` shifts of the log are counted.
  struct Limit {
    double worth = kAlways;
    std::size_t seen = 0;
  };

  /// D_tj: the worth of one task more (n = 1) or one fewer (n = -1).
  double worth(TaskType i, ResourceId j, Count n) const noexcept {
    if (linear_)
      return (n > 0 ? state_->additions() : state_->removals())[index(j)].at(state_->system().rate(i, j));
    return kind_ == Sensitivity::kExact ? state_->change(i, j, n) : state_->printed_change(i, j, n);
  }

  /// j_max: where one more task helps most, one resource left out. Ties: the lowest index.
  End best_addition(TaskType i, ResourceId left_out) const noexcept {
    const Line* lines = state_->additions();
    const double* rates = state_->system().rates().row(i);
    End end;
    for (const ResourceId j : state_->system().resources_for(i)) {
      const double value = linear_ ? lines[index(j)].at(rates[index(j)]) : worth(i, j, 1);
      if (value > end.value && j != left_out) end = {j, value};
    }
    return end;
  }

  /// j_min: where one fewer task hurts least.
  End best_removal(TaskType i, ResourceId left_out) const noexcept {
    const Count* counts = state_->row(i);
    End end;
    for (const ResourceId j : state_->system().resources_for(i)) {
      if (counts[index(j)] > 0 && j != left_out) end.offer(j, worth(i, j, -1));
    }
    return end;
  }

  /// The limit with everything counted that has changed since.
  double limit_now(Limit& limit, TaskType i) const noexcept {
    if (!linear_ || limit.worth == kAlways) return kAlways;
    const double* rates = state_->system().rates().row(i);
    const Count* counts = state_->row(i);
    for (; limit.seen < log_.size() && limit.worth <= 0; ++limit.seen) {
      const Shift& shift = log_[limit.seen];
      const double rate = rates[index(shift.resource)];
      if (rate == 0) continue;
      limit.worth += std::max(0.0, shift.addition.at(rate));
      if (counts[index(shift.resource)] > 0) limit.worth += std::max(0.0, shift.removal.at(rate));
    }
    return limit.worth;
  }

  /// Empties the log; every type is then looked at again.
  void forget() noexcept {
    log_.clear();
    std::fill(processor_limits_.begin(), processor_limits_.end(), Limit{});
    std::fill(accelerator_limits_.begin(), accelerator_limits_.end(), Limit{});
  }

  /// Keeps the move of one task if the throughput rises.
  bool try_move(TaskType i, const End& from, const End& to) {
    if (kind_ == Sensitivity::kExact && from.value + to.value <= 0) return false;
    const Exchange move{i, from.resource, to.resource, 1, {}, 0};
    if (!(state_->cost_change(move) < -state_->tolerance())) return false;
    const auto lines_at = [&](ResourceId j) {
      return Shift{j, state_->additions()[index(j)], state_->removals()[index(j)]};
    };
    if (log_.size() + 2 > kLogSize) forget();
    const Shift before[] = {lines_at(from.resource), lines_at(to.resource)};
    state_->apply(move);
    for (const Shift& old : before) {
      const Shift now = lines_at(old.resource);
      log_.push_back({old.resource,
                      {now.addition.base - old.addition.base, now.addition.slope - old.addition.slope},
                      {now.removal.base - old.removal.base, now.removal.slope - old.removal.slope}});
    }
    return true;
  }

  /// Algorithm 2 for one type: one task from its accelerator to the resource where it helps most.
  bool optimise_accelerator(TaskType i, ResourceId home) {
    if (state_->at(i, home) == 0) return false;
    Limit& limit = accelerator_limits_[index(i)];
    if (limit_now(limit, i) <= 0) return false;
    const End from{home, worth(i, home, -1)};
    const End to = best_addition(i, home);
    if (to.value == kNever) return false;
    limit = {from.value + to.value, log_.size()};
    if (!try_move(i, from, to)) return false;
    limit.worth = kAlways;
    return true;
  }

  /// Algorithm 3 for one type: one task from j_min to j_max.
  bool optimise_processors(TaskType i) {
    Limit& limit = processor_limits_[index(i)];
    if (limit_now(limit, i) <= 0) return false;
    End from = best_removal(i, kNoResource);
    End to = best_addition(i, kNoResource);
    if (from.resource == to.resource) {  // best at both ends: the better of the two runners-up
      const End next_to = best_addition(i, to.resource);
      const End next_from = best_removal(i, from.resource);
      if (from.value + next_to.value >= next_from.value + to.value) {
        to = next_to;
      } else {
        from = next_from;
      }
      if (from.value + to.value == kNever) return false;
    }
    limit = {from.value + to.value, log_.size()};
    if (!try_move(i, from, to)) return false;
    limit.worth = kAlways;
    return true;
  }

  SearchState* state_ = nullptr;
  Sensitivity kind_ = Sensitivity::kExact;
  bool linear_ = true;      // every D_tj is a line in the rate: ps throughout, exact differences
  std::vector<Shift> log_;  // two entries for every move since it was last emptied
  std::vector<Limit> processor_limits_;
  std::vector<Limit> accelerator_limits_;
  std::vector<ResourceId> homes_;  // the accelerator where each type is at home
};

}  // namespace

struct MapSolver::Workspace {
  SearchState state;
  SearchState second;
  Climb climb;
  Assignment home;
};

MapSolver::MapSolver() : workspace_(std::make_unique<Workspace>()) {}
MapSolver::~MapSolver() = default;
MapSolver::MapSolver(MapSolver&&) noexcept = default;
MapSolver& MapSolver::operator=(MapSolver&&) noexcept = default;

MapSolver::Result MapSolver::solve(const System& system, Assignment& assignment,
                                   const SolveOptions& options) {
  StopPoll poll(options.stop);
  home_assignment(system, workspace_->home);
  if (!detail::keep_depths(system, workspace_->home)) {
    assignment = workspace_->home;
    return {0, Outcome::kInfeasible};
  }
  SearchState* best = &workspace_->state;
  const auto climb = [&](SearchState& state) {
    workspace_->climb.start(state, options.sensitivity);
    workspace_->climb.run(poll);
  };
  best->reset(system, Objective::kThroughput, workspace_->home);
  climb(*best);
  if (has_fcfs(system) && !poll.stopped()) {
    // Second start: the answer for the same system under ps, which is then never better than ours.
    const System shared = system.with_discipline(Discipline::kPs);
    SearchState& second = workspace_->second;
    second.reset(shared, Objective::kThroughput, workspace_->home);
    climb(second);
    const Assignment shared_answer = second.assignment();
    second.reset(system, Objective::kThroughput, shared_answer);
    climb(second);
    if (second.cost() < best->cost()) best = &second;
  }
  best->write(assignment);
  return {best->throughput(), detail::outcome_of(poll)};
}

namespace solvers {
namespace {

Solution map_search(const Problem& problem, const SolveOptions& options) {
  Solution solution;
  MapSolver solver;
  solution.outcome = solver.solve(problem.system, solution.assignment, options).outcome;
  return solution.outcome == Outcome::kInfeasible ? detail::no_placement(problem.system) : solution;
}

}  // namespace

extern const SolverInfo map;
const SolverInfo map{"map", "the paper's MAP: single moves from home, about a microsecond", true, false,
                     map_search};

}  // namespace solvers
}  // namespace allot
