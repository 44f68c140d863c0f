#include "allot/dispatch/late_dispatch.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "allot/base/clock.hpp"
#include "allot/base/error.hpp"

namespace allot {
namespace {

/// The part of a capacity by which sums of needs may exceed it through rounding.
constexpr double kRoundingOfNeeds = 1e-9;
/// At most this many other tasks may start before a trial that has no room; then room is kept for it.
constexpr Count kMostPassedBy = 8;

}  // namespace

LateDispatch::LateDispatch(Dispatcher& dispatcher, Clock::time_point now, Clock::duration moment)
    : dispatcher_(dispatcher), made_(now), moment_(to_seconds(moment)), random_(dispatcher.options().seed) {
  const PolicyInfo* const policy = find_policy(dispatcher.options().policy);
  if (!policy->binds_late)
    throw InvalidModel("policy", "'" + dispatcher.options().policy + "' places tasks: it does not bind late");
  follow_plan();
}

void LateDispatch::make_room(std::size_t types, std::size_t resources) {
  types = std::max(types, in_service_.types());
  const std::size_t before = in_service_.resources();
  resources = std::max(resources, before);
  if (types == in_service_.types() && resources == before) return;
  // Capacities are numbered after the resources.
  for (const TaskType i : needs_.type_ids()) {
    for (const ResourceId j : needs_.resource_ids()) {
      for (Draw& draw : needs_(i, j)) {
        if (index(draw.capacity) >= before)
          draw.capacity = capacity_id(index(draw.capacity) + resources - before);
      }
    }
  }
  in_service_.grow(types, resources);
  trials_.grow(types, resources);
  needs_.grow(types, resources);
  waiting_.resize(types, 0);
  trials_of_.resize(types, 0);
  unserved_since_.resize(types);
  done_.resize(types, 0.0);
}

bool LateDispatch::follow_plan() {
  if (plan_ != nullptr && dispatcher_.plan_number() == plan_->number) return false;
  std::shared_ptr<const Plan> plan = dispatcher_.plan();
  std::unique_ptr<LateBinding> binding = plan->policy->bind_late();
  if (binding_ != nullptr) binding->succeed(*binding_);
  binding_ = std::move(binding);
  plan_ = std::move(plan);
  const System& system = plan_->system;
  make_room(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      const std::span<const Draw> needs = system.needs(i, j);
      needs_(i, j).assign(needs.begin(), needs.end());
    }
  }
  // A pair that is still to be tried is not in the plan, so neither are its needs.
  has_needs_ =
      std::any_of(needs_.values().begin(), needs_.values().end(), [](const std::vector<Draw>& draws) {
        return draws.size() > 1 || (draws.size() == 1 && draws[0].amount != 1);
      });
  offer_.assign(system.type_count(), 0);
  totals_.assign(system.resource_count(), 0);
  free_.assign(system.capacity_count(), 0.0);
  tasks_.assign(system.type_count() * system.resource_count(), 0.0);
  sharing_.reset();
  const auto& capacities = system.capacities();
  if (std::any_of(capacities.begin(), capacities.end(), [](const Capacity& one) { return one.shared; }))
    sharing_.emplace(system, Filling::Of::kShared);
  has_shares_ = dispatcher_.options().policy_options.objective == Objective::kPriority &&
                !system.shares().empty() && plan_->predicted.has_value();
  drop_closed_trials();
  return true;
}

// ---- waiting

void LateDispatch::set_waiting(TaskType i, Count tasks) {
  make_room(index(i) + 1, 0);
  if (has_shares_ && waiting_[index(i)] == 0 && tasks > 0 && in_flight(i) == 0) catch_up(i);
  if (tasks == 0) unserved_since_[index(i)].reset();
  waiting_[index(i)] = tasks;
  tell_waiting(i);
}

/// Trials are not included: they already have a ticket.
void LateDispatch::tell_waiting(TaskType i) { dispatcher_.set_waiting(i, spare(i)); }

Count LateDispatch::in_flight(TaskType i) const noexcept {
  const std::span<const Count> row = in_service_.row(i);
  return std::accumulate(row.begin(), row.end(), waiting_[index(i)]);
}

// ---- trials

void LateDispatch::ask_for_trials(Clock::time_point now) {
  for (std::size_t i = 0; i < offer_.size(); ++i) {
    while (waiting_[i] > trials_of_[i]) {
      const std::optional<Ticket> ticket = dispatcher_.place_trial(task_type(i), now);
      if (!ticket) break;
      // Not for a resource that the plan does not have yet, not twice, and not if the host has refused it.
      if (index(ticket->resource) >= trials_.resources() ||
          trials_(ticket->type, ticket->resource).ticket.explores ||
          trials_(ticket->type, ticket->resource).refused) {
        dispatcher_.cancel(*ticket);
        continue;
      }
      trials_(ticket->type, ticket->resource) = {*ticket, 0, false};
      ++trials_of_[i];
      tell_waiting(task_type(i));
    }
  }
}

void LateDispatch::end_trial(TaskType i, ResourceId j) {
  trials_(i, j) = {};
  --trials_of_[index(i)];
  tell_waiting(i);
}

/// Until there is another plan.
void LateDispatch::refuse_trial(TaskType i, ResourceId j) {
  if (!trials_(i, j).ticket.explores) return;
  dispatcher_.cancel(trials_(i, j).ticket);
  end_trial(i, j);
  trials_(i, j).refused = true;
}

/// Drops trials of pairs that are closed now; the planner requests those again that may still be tried.
void LateDispatch::drop_closed_trials() {
  for (const TaskType i : trials_.type_ids()) {
    for (const ResourceId j : trials_.resource_ids()) {
      trials_(i, j).refused = false;
      if (!trials_(i, j).ticket.explores || dispatcher_.allows(i, j)) continue;
      dispatcher_.cancel(trials_(i, j).ticket);
      end_trial(i, j);
    }
  }
}

/// Calls `visit` with each waiting trial.
template <typename Visit>
void LateDispatch::for_trials(const Visit& visit) {
  for (const TaskType i : trials_.type_ids()) {
    if (trials_of_[index(i)] == 0 || waiting_[index(i)] == 0) continue;
    for (const ResourceId j : trials_.resource_ids()) {
      if (trials_(i, j).ticket.explores) visit(trials_(i, j));
    }
  }
}

bool LateDispatch::is_kept_for_trials(TaskType i, ResourceId j) {
  bool kept = false;
  for_trials([&](const Trial& trial) {
    if (trial.passed_by < kMostPassedBy) return;
    for (const Draw& mine : needs_(i, j)) {
      for (const Draw& theirs : needs_(trial.ticket.type, trial.ticket.resource)) {
        kept |= mine.capacity == theirs.capacity && !plan_->system.is_shared(mine.capacity) &&
                free_[index(mine.capacity)] < mine.amount + theirs.amount;
      }
    }
  });
  return kept;
}

// ---- what is offered

/// Recomputed from whole numbers of tasks, since running sums would drift.
void LateDispatch::find_free() {
  const System& system = plan_->system;
  for (const CapacityId r : system.capacity_ids()) free_[index(r)] = system.amount(r);
  // Tasks queued on a device hold no server yet.
  for (const ResourceId j : system.resource_ids())
    free_[index(j)] = std::max(free_[index(j)], static_cast<double>(system.resource(j).min_depth));
  for (const TaskType i : in_service_.type_ids()) {
    for (const ResourceId j : in_service_.resource_ids()) {
      const auto tasks = static_cast<double>(in_service_(i, j));
      if (tasks == 0) continue;
      for (const Draw& draw : needs_(i, j)) free_[index(draw.capacity)] -= tasks * draw.amount;
    }
  }
}

bool LateDispatch::fits(TaskType i, ResourceId j) const noexcept {
  const System& system = plan_->system;
  return std::all_of(needs_(i, j).begin(), needs_(i, j).end(), [&](const Draw& draw) {
    return system.is_shared(draw.capacity) ||
           draw.amount <= free_[index(draw.capacity)] + kRoundingOfNeeds * system.amount(draw.capacity);
  });
}

bool LateDispatch::find_offers(ResourceId j, Clock::time_point now) {
  follow_plan();
  const System& system = plan_->system;
  if (in_service_.resources() != system.resource_count() || index(j) >= system.resource_count()) return false;
  ask_for_trials(now);
  if (has_needs_) find_free();
  const bool keeps_room = has_needs_ && std::any_of(trials_of_.begin(), trials_of_.end(),
                                                    [](Count trials) { return trials > 0; });
  for (const TaskType i : system.types()) {
    Count& offered = offer_[index(i)];
    const bool is_trial = trials_(i, j).ticket.explores;
    offered = waiting_[index(i)] -
              (is_trial ? 0 : trials_of_[index(i)]);  // the others are reserved for trials elsewhere
    if (offered <= 0) {
      offered = 0;
      continue;
    }
    const bool may = is_trial || (system.can_run(i, j) && dispatcher_.allows(i, j) && !is_ahead(i));
    if (!may || (has_needs_ && !fits(i, j)) || (keeps_room && !is_trial && is_kept_for_trials(i, j)))
      offered = 0;
  }
  return true;
}

std::optional<LateDispatch::Start> LateDispatch::choose(ResourceId j, Clock::time_point now) {
  const System& system = plan_->system;
  for (const TaskType i : system.types()) {
    if (offer_[index(i)] == 0 || !trials_(i, j).ticket.explores) continue;
    const Ticket ticket = trials_(i, j).ticket;
    end_trial(i, j);
    return begun(ticket, false);
  }
  std::fill(totals_.begin(), totals_.end(), Count{0});
  for (const TaskType i : system.types()) {
    for (const ResourceId k : system.resource_ids()) totals_[index(k)] += in_service_(i, k);
  }
  Situation situation{&system, in_service_.values(), totals_, {}, offer_, seconds(now)};
  if (system.has_needs()) {
    situation.ready = std::span(waiting_).first(system.type_count());
    situation.free = free_;
  }
  std::optional<TaskType> type = binding_->next(j, situation, random_);
  if (const auto until = binding_->idle_until(j); !type && until && *until - situation.now < moment_) {
    situation.now = *until;
    type = binding_->next(j, situation, random_);
  }
  if (!type && binding_->helps_out()) return std::nullopt;
  std::optional<TaskType> other = type ? std::nullopt : unplanned(j);
  if (!type && !other && moment_ > 0) other = unserved(j, situation.now);
  if (!type && !other) return std::nullopt;
  if (has_needs_) for_trials([](Trial& trial) { ++trial.passed_by; });
  return begun(dispatcher_.place_at(type ? *type : *other, j, now), type.has_value());
}

/// If the tasks planned here are absent: the present type that is worth most here.
std::optional<TaskType> LateDispatch::unplanned(ResourceId j) const noexcept {
  const System& system = plan_->system;
  bool has_part = false;
  std::optional<TaskType> best;
  for (const TaskType i : system.types()) {
    if (*plan_->part(i, j) > 0) {
      if (in_flight(i) > 0) return std::nullopt;
      has_part = true;
    }
    if (offer_[index(i)] > 0 && (!best || system.value_rate(i, j) > system.value_rate(*best, j))) best = i;
  }
  return has_part ? best : std::nullopt;
}

/// A type that the plan gives nothing and that has waited long enough. Idling for as long as a task takes and
/// then running it is at most twice as bad as the best choice.
std::optional<TaskType> LateDispatch::unserved(ResourceId j, double now) noexcept {
  const System& system = plan_->system;
  for (const TaskType i : system.types()) {
    if (offer_[index(i)] == 0 || (plan_->predicted && plan_->predicted->throughput_by_task[index(i)] > 0))
      continue;
    std::optional<double>& since = unserved_since_[index(i)];
    if (!since) since = now;
    if (now - *since >= std::max(moment_, system.seconds_per_task(i, j))) return i;
  }
  return std::nullopt;
}

// ---- in service

LateDispatch::Start LateDispatch::take_at(TaskType i, ResourceId j, Clock::time_point now) {
  make_room(index(i) + 1, index(j) + 1);
  return begun(dispatcher_.place_at(i, j, now), false);
}

void LateDispatch::resize(Start& start, Count tasks) {
  Count& waiting = waiting_[index(start.ticket.type)];
  waiting = std::max<Count>(0, waiting - (tasks - static_cast<Count>(start.ticket.tasks)));
  dispatcher_.resize(start.ticket, static_cast<std::uint32_t>(tasks));
  tell_waiting(start.ticket.type);
}

LateDispatch::Start LateDispatch::begun(const Ticket& ticket, bool in_order) {
  ++in_service_(ticket.type, ticket.resource);
  unserved_since_[index(ticket.type)].reset();
  if (Count& waiting = waiting_[index(ticket.type)]; waiting > 0) --waiting;
  tell_waiting(ticket.type);
  return {ticket, in_order, speed(ticket.type, ticket.resource)};
}

/// The fraction of full speed at which tasks of a pair run now, by the model.
double LateDispatch::speed(TaskType i, ResourceId j) {
  const std::size_t resources = plan_->system.resource_count();
  const std::size_t at = index(i) * resources + index(j);
  if (!sharing_ || in_service_.resources() != resources || at >= tasks_.size()) return 1;
  std::copy_n(in_service_.values().begin(), tasks_.size(), tasks_.begin());
  return sharing_->levels(tasks_)[at];
}

/// The task leaves. Its service counts in seconds at full speed, as in plans.
void LateDispatch::leave(const Start& start, std::optional<double> busy_seconds) {
  const auto [i, j] = std::pair(start.ticket.type, start.ticket.resource);
  const double mean_speed = 0.5 * (start.speed + speed(i, j));
  --in_service_(i, j);
  if (!start.in_order) return;
  if (busy_seconds) {
    binding_->served(i, j, *busy_seconds * mean_speed);
  } else {
    binding_->given_back(i, j);
  }
}

void LateDispatch::ended(const Start& start, double busy_seconds, bool ok, Clock::time_point now) {
  leave(start, busy_seconds >= 0 ? std::optional(busy_seconds) : std::nullopt);
  done_[index(start.ticket.type)] += start.ticket.tasks;
  dispatcher_.complete(start.ticket, busy_seconds, ok, now);
}

void LateDispatch::dropped(const Start& start, double busy_seconds) {
  leave(start, busy_seconds);
  dispatcher_.cancel(start.ticket);
}

void LateDispatch::put_back(const Start& start) {
  leave(start, std::nullopt);
  dispatcher_.cancel(start.ticket);
  waiting_[index(start.ticket.type)] += start.ticket.tasks;
  tell_waiting(start.ticket.type);
}

std::optional<Clock::time_point> LateDispatch::ask_again(ResourceId j) const {
  if (index(j) >= plan_->system.resource_count()) return std::nullopt;
  const std::optional<double> until = binding_->idle_until(j);
  if (!until) return std::nullopt;
  // Rounded up; otherwise the host would ask too early again and again.
  return made_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(*until));
}

// ---- shares

/// The smallest part of its share that a type with work has had, among those that the plan serves.
double LateDispatch::least_done() const noexcept {
  const System& system = plan_->system;
  double least = std::numeric_limits<double>::infinity();
  for (const TaskType i : system.types()) {
    const double share = system.shares()[index(i)];
    if (share > 0 && plan_->predicted->throughput_by_task[index(i)] > 0 && in_flight(i) > 0)
      least = std::min(least, done_[index(i)] / share);
  }
  return least;
}

/// Under planned shares: whether the type is ahead of the type that has had least of its share, by more tasks
/// than it has in flight. If a resource does less than planned, the others wait for it, so the shares hold.
bool LateDispatch::is_ahead(TaskType i) const noexcept {
  if (!has_shares_) return false;
  return done_[index(i)] - static_cast<double>(in_flight(i)) >=
         least_done() * plan_->system.shares()[index(i)];
}

/// A type that comes back gets nothing for the time it was away.
void LateDispatch::catch_up(TaskType i) {
  if (index(i) >= plan_->system.type_count()) return;
  const double least = least_done();
  if (least < std::numeric_limits<double>::infinity())
    done_[index(i)] = std::max(done_[index(i)], least * plan_->system.shares()[index(i)]);
}

}  // namespace allot
