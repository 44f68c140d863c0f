#include "allot/policy/detail/target_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/model/filling.hpp"
#include "allot/policy/detail/by_population.hpp"

namespace allot::detail {
namespace {

/// More than this many times the tasks of a type in the target are a burst, for which the target says
/// nothing.
constexpr Count kBurst = 2;
/// If there are more tasks than the target has, a task leaves its home for another place of the target only
/// if it ends sooner there by this factor: a slow task elsewhere is in the way of others.
constexpr double kMuchSooner = 1.5;

class TargetPolicy final : public Policy {
 public:
  TargetPolicy(const System& system, FindTarget find, Load load)
      : system_(system),
        find_(std::move(find)),
        load_(load),
        most_missing_(load == Load::kDeclared ? std::numeric_limits<std::uint64_t>::max() : 0),
        targets_(system),
        nothing_(system.type_count(), system.resource_count()) {
    point_at(nothing_);
  }

  void set_population(std::span<const Count> threads_by_type) override {
    if (load_ == Load::kOpen) return;  // counts say nothing
    const Target* known = targets_.find(threads_by_type);
    if (known == nullptr) {
      Target target = find_(system_.with_counts(threads_by_type));
      current_ = nullptr;
      point_at(nothing_);
      known = targets_.remember(threads_by_type, std::move(target));
    }
    current_ = known;
    point_at(current_->assignment);
  }

  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    if (load_ == Load::kOpen) return situation.totals.empty() ? kLookFurther : free_or_home(i, situation);
    const std::size_t row = index(i) * resources_;
    const Count* const wanted = wanted_ + row;
    const Count* const present = situation.counts.data() + row;
    const auto allowed = system_.resources_for(i);
    ResourceId best = allowed[0];
    Count most = wanted[index(best)] - present[index(best)];
    for (const ResourceId j : allowed.subspan(1)) {
      const Count shortfall = wanted[index(j)] - present[index(j)];
      if (shortfall > most) {
        best = j;
        most = shortfall;
      }
    }
    if (static_cast<std::uint64_t>(most) - 1 <= most_missing_) return best;
    return situation.totals.empty() ? kLookFurther : in_proportion(i, situation);
  }

  const Assignment* target() const noexcept override {
    return current_ == nullptr ? nullptr : &current_->assignment;
  }
  std::span<const double> time_shares() const noexcept override {
    return current_ == nullptr ? std::span<const double>() : current_->time_shares;
  }
  std::string_view note() const noexcept override {
    return current_ == nullptr ? std::string_view() : current_->note;
  }

 private:
  /// For counts that differ much from the target. With fewer tasks, a free server of the target comes first,
  /// then its proportions. With more tasks, they go where they end first among its places; a burst goes home.
  [[gnu::noinline]] ResourceId in_proportion(TaskType i, const Situation& situation) const noexcept {
    const std::size_t row = index(i) * resources_;
    const Count* const wanted = wanted_ + row;
    const Count* const present = situation.counts.data() + row;
    ResourceId best = *system_.home(i);
    bool best_is_free = false;
    Count target = 0;
    Count tasks = 0;
    for (const ResourceId j : system_.resources_for(i)) {
      target += wanted[index(j)];
      tasks += present[index(j)];
      const bool is_free =
          wanted[index(j)] > present[index(j)] && situation.total(j) < system_.resource(j).servers;
      const bool is_better =
          wanted[index(j)] * (present[index(best)] + 1) > wanted[index(best)] * (present[index(j)] + 1);
      if (is_free == best_is_free ? !is_better : !is_free) continue;
      best = j;
      best_is_free = is_free;
    }
    if (tasks > kBurst * target) return *system_.home(i);
    return tasks < target ? best : soonest(i, situation, wanted);
  }

  /// At home, unless a free server elsewhere ends it sooner. In the long run, the types that belong there
  /// lose nothing: they either have all servers all the time, or less work than these can do.
  ResourceId free_or_home(TaskType i, const Situation& situation) const noexcept {
    ResourceId best = *system_.home(i);
    double least = system_.seconds_per_task(i, best) + seconds_to_wait(best, situation);
    for (const ResourceId j : system_.resources_for(i)) {
      const double end = system_.seconds_per_task(i, j);
      if (end >= least || situation.total(j) >= system_.resource(j).servers) continue;
      best = j;
      least = end;
    }
    return best;
  }

  /// Where the task is expected to end first among the places of the target; at home unless another place is
  /// much sooner.
  ResourceId soonest(TaskType i, const Situation& situation, const Count* wanted) const noexcept {
    const ResourceId home = *system_.home(i);
    ResourceId best = home;
    double least = system_.seconds_per_task(i, home) + seconds_to_wait(home, situation);
    for (const ResourceId j : system_.resources_for(i)) {
      if (j == home || wanted[index(j)] == 0) continue;
      const double end = kMuchSooner * (system_.seconds_per_task(i, j) + seconds_to_wait(j, situation));
      if (end >= least) continue;
      best = j;
      least = end;
    }
    return best;
  }

  /// Expected time until a server is free for one more task, from the mean times of the tasks there: until
  /// those that wait and one more have ended.
  double seconds_to_wait(ResourceId j, const Situation& situation) const noexcept {
    const Count servers = system_.resource(j).servers;
    const Count tasks = situation.total(j);
    if (tasks < servers) return 0;
    double seconds = 0;
    for (const TaskType l : system_.types())
      seconds += static_cast<double>(situation.count(l, j)) * system_.seconds_per_task(l, j);
    return seconds / static_cast<double>(servers) * static_cast<double>(tasks - servers + 1) /
           static_cast<double>(tasks);
  }

  void point_at(const Assignment& assignment) noexcept {
    wanted_ = assignment.values().data();
    resources_ = assignment.resources();
  }

  System system_;
  FindTarget find_;
  Load load_;
  std::uint64_t most_missing_;  // besides one: beyond this difference, the target is no guide
  ByPopulation<Target> targets_;
  Assignment nothing_;
  const Target* current_ = nullptr;
  const Count* wanted_ = nullptr;
  std::size_t resources_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_target_policy(const System& system, FindTarget find, Load load) {
  return std::make_unique<TargetPolicy>(system, std::move(find), load);
}

FindTarget shared_evenly(const System& system, FindTarget find) {
  const std::optional<std::string> why = why_no_even_sharing(system);
  if (!why) return find;
  return [find = std::move(find), why = *why](const System& populated) {
    Target target = find(populated.with_discipline(Discipline::kPs));
    target.note += (target.note.empty() ? "" : "; ") + ("the target is that of processor sharing: " + why);
    return target;
  };
}

SolveOptions quick_search(const PolicyOptions& options) {
  SolveOptions search;
  search.stop.deadline = options.solve.deadline;
  search.stop.flag = options.solve.flag;
  return search;
}

Target target_of(Solution solution) {
  Target target;
  switch (solution.outcome) {
    case Outcome::kOptimal:
    case Outcome::kConverged:
      break;
    case Outcome::kTimeLimit:
    case Outcome::kBudget:
    case Outcome::kInterrupted:
      target.note = "the search for the target ended early: the policy holds the best target found";
      break;
    case Outcome::kInfeasible:
      if (solution.reason.empty()) target.note = "the policy cannot keep every limit";
      break;
  }
  if (!solution.reason.empty()) target.note += (target.note.empty() ? "" : "; ") + solution.reason;
  target.assignment = std::move(solution.assignment);
  target.time_shares = std::move(solution.time_shares);
  return target;
}

void require_priorities(const System& system, std::string_view policy) {
  if (!system.shares().empty()) return;
  throw InvalidModel("tasks",
                     "the policy '" + std::string(policy) + "' needs a priority for every task type");
}

}  // namespace allot::detail
