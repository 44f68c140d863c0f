#include "allot/run/placer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/run/holdings.hpp"
#include "allot/run/known_rates.hpp"

namespace allot {
namespace {

/// Shares are planned again when one has changed by this part of the whole: about a hundred plans per batch.
constexpr double kShareStep = 0.01;

/// Minimum worth of a task, as a part of the largest worth: a task without worth must also be done when
/// nothing else is left.
constexpr double kLeastWorth = 1e-6;

/// The types of a job with these counts instead of its own, and needs as in a System.
std::vector<TaskClass> types_of(const Job& job, JobNeeds& all, std::span<const Count> counts) {
  std::vector<TaskClass> types(job.tasks.begin(), job.tasks.end());
  double most = 0;
  for (const TaskClass& type : types) most = std::max(most, type.worth);
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i].count = counts[i];
    types[i].worth = std::max(types[i].worth, most > 0 ? kLeastWorth * most : 1.0);
    types[i].needs = std::move(all.needs[i]);
  }
  return types;
}

std::string policy_of(const PlacerOptions& options, bool has_needs) {
  return options.policy.empty() ? std::string(policy_for(options.objective, has_needs)) : options.policy;
}

/// The objective of `planned`: value if the user has chosen the policy; otherwise the objective of the run.
Objective planned_objective(const PlacerOptions& options) {
  if (options.objective == RunObjective::kPriority)
    return options.shares == ShareReading::kExact ? Objective::kPriority : Objective::kMaxMin;
  const bool finishes = options.objective == RunObjective::kFinish && options.policy.empty();
  return finishes ? Objective::kMaxMin : Objective::kThroughput;
}

/// Idling does not help to finish sooner.
ShareReading shares_of(const PlacerOptions& options) {
  return options.objective == RunObjective::kPriority ? options.shares : ShareReading::kFloor;
}

Lines::WhenAhead when_ahead(const PlacerOptions& options, const PolicyInfo* policy) {
  const bool idles =
      policy != nullptr && policy->holds_time_shares && shares_of(options) == ShareReading::kExact;
  return idles ? Lines::WhenAhead::kIdle : Lines::WhenAhead::kServe;
}

}  // namespace

std::vector<Count> in_flight_limits(const Job& job) {
  std::vector<Count> limits;
  for (const JobTask& task : job.tasks) {
    Count slots = 0;
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (task.commands[j]) slots += std::max(places(job, resource_id(j)), job.resources[j].min_depth);
    }
    limits.push_back(task.count > 0 ? task.count : slots);
  }
  return limits;
}

Placer::Placer(const Job& job, const PlacerOptions& options, Clock::time_point now)
    : types_(job.tasks.size()),
      resources_(job.resources.size()),
      start_(now),
      limits_(in_flight_limits(job)),
      lines_({Lines::WhenAhead::kServe, true}) {
  JobNeeds needs = needs_of(job);
  DispatcherOptions dispatcher;
  dispatcher.policy = policy_of(options, needs.any);
  dispatcher.policy_options.objective = planned_objective(options);
  dispatcher.follow_counts = false;
  // To try pairs that the plan does not use, tasks that hold much would have to make room.
  if (needs.any) dispatcher.exploration = 0;
  const PolicyInfo* const policy = find_policy(dispatcher.policy);  // the dispatcher refuses an unknown one
  lines_ = Lines({when_ahead(options, policy), true});
  weighted_ = policy != nullptr && policy->holds_time_shares;
  // A policy chosen by name decides for itself; the end of the batch is handled only to finish soonest.
  finishes_ = options.objective == RunObjective::kFinish && options.policy.empty();
  dispatcher.policy_options.shares = shares_of(options);
  dispatcher.follow_counts = false;  // `update` sets the counts
  dispatcher.seed = options.seed;
  dispatcher.planning = options.planning;
  dispatcher.solve_limit = options.solve_limit;
  dispatcher.policy_options.solve.steps = options.solve_steps;

  std::vector<Resource> resources(job.resources.begin(), job.resources.end());
  for (const Resource& resource : resources) disciplines_.push_back(resource.discipline);
  std::vector<TaskClass> types = types_of(job, needs, limits_);
  dispatcher.capacities = std::move(needs.capacities);
  const bool takes_shares = policy != nullptr && (policy->needs_shares || (policy->binds_late && finishes_));
  if (options.objective == RunObjective::kFinish && takes_shares) {
    for (std::size_t i = 0; i < types_; ++i) {
      priorities_.push_back(static_cast<double>(job.tasks[i].inputs.rows()));
      types[i].priority = priorities_[i];
    }
  }
  dispatcher_ = std::make_unique<Dispatcher>(
      std::move(resources), std::move(types),
      options.priors.empty() ? known_rates(job, std::nullopt, {}) : options.priors, std::move(dispatcher),
      now);
  counts_ = limits_;
  for (const JobTask& task : job.tasks) has_share_.push_back(task.priority.value_or(0) > 0);
  lines_.resize(types_, resources_);
  if (policy->binds_late) late_ = std::make_unique<LateDispatch>(*dispatcher_, now);
  follow_plan();
}

void Placer::set_priorities(std::span<const Count> left) {
  if (priorities_.empty()) return;
  double all = 0;
  double before = 0;
  for (std::size_t i = 0; i < types_; ++i) {
    all += static_cast<double>(left[i]);
    before += priorities_[i];
  }
  if (all == 0) return;
  bool moved = false;
  for (std::size_t i = 0; i < types_; ++i) {
    const double share = static_cast<double>(left[i]) / all;
    moved |= std::abs(share - priorities_[i] / before) > kShareStep;
    moved |= (left[i] == 0) != (priorities_[i] == 0);
  }
  if (!moved) return;
  for (std::size_t i = 0; i < types_; ++i) priorities_[i] = static_cast<double>(left[i]);
  dispatcher_->set_priorities(priorities_);
}

void Placer::update(const Demand& demand, Clock::time_point now) {
  set_priorities(demand.left);
  std::vector<Count> counts(types_);
  for (std::size_t i = 0; i < types_; ++i)
    counts[i] = std::min(limits_[i], demand.left[i] + demand.running[i]);
  if (counts != counts_) {
    dispatcher_->set_counts(counts);
    counts_ = std::move(counts);
    // Idling keeps shares only while there is work for all types that have a share.
    idling_helps_ = true;
    for (std::size_t i = 0; i < types_; ++i) idling_helps_ &= counts_[i] > 0 || !has_share_[i];
  }
  follow_plan();
  for (std::size_t i = 0; i < types_; ++i) {
    const TaskType type = task_type(i);
    const Count wanted = std::min(limits_[i] - demand.running[i], demand.ready[i]);
    if (late_) {
      late_->set_waiting(type, std::max<Count>(wanted, 0));
      continue;
    }
    while (lines_.waiting(type) < wanted && place_waiting(type, now)) {
    }
    if (lines_.waiting(type) > wanted) trim(type, wanted);
  }
}

/// False: the type cannot go anywhere now.
bool Placer::place_waiting(TaskType i, Clock::time_point now) {
  const std::optional<Ticket> ticket = dispatcher_->place(i, now);
  if (ticket) put(*ticket);
  return ticket.has_value();
}

void Placer::put(const Ticket& ticket) {
  WaitingTask& task = tasks_.make();
  task.ticket = ticket;
  task.urgency = ticket.explores ? 1 : 0;
  lines_.put(task);
}

/// Takes back the latest tickets of the type until `wanted` wait.
void Placer::trim(TaskType i, Count wanted) {
  for (std::size_t j = resources_; j-- > 0;) {
    while (lines_.waiting(i) > wanted) {
      WaitingTask* const last = lines_.line(i, resource_id(j)).last();
      if (last == nullptr) break;
      withdraw(*last);
    }
  }
}

void Placer::follow_plan() {
  if (late_) {
    late_->follow_plan();
    return;
  }
  std::shared_ptr<const Plan> plan = dispatcher_->plan();
  if (plan_ && plan->number == plan_->number) return;
  plan_ = std::move(plan);
  clear_waiting(false);  // rates are learned under any plan
  std::vector<double> weights(types_);
  for (std::size_t j = 0; j < resources_; ++j) {
    const ResourceId r = resource_id(j);
    // A first come, first served queue stays one, and so does the queue of a policy without targets.
    const bool by_order = weighted_ || (plan_->target && disciplines_[j] == Discipline::kPs);
    lines_.set_order(r, by_order ? Lines::Order::kService : Lines::Order::kArrival);
    if (!by_order) continue;
    for (std::size_t i = 0; i < types_; ++i) weights[i] = plan_->part(task_type(i), r).value_or(1.0);
    lines_.set_weights(r, weights);
  }
}

void Placer::disable(TaskType i, ResourceId j) {
  dispatcher_->disable(i, j);
  withdraw(i, j);
}

void Placer::lose(ResourceId j) {
  dispatcher_->lose(j);
  for (std::size_t i = 0; i < types_; ++i) withdraw(task_type(i), j);
}

void Placer::withdraw(WaitingTask& task) {
  dispatcher_->cancel(task.ticket);
  lines_.remove(task);
  tasks_.release(task);
}

/// Takes back all tickets that wait there, including those that wait to learn a rate, which a new plan does
/// not take back.
void Placer::withdraw(TaskType i, ResourceId j) {
  while (WaitingTask* const task = lines_.line(i, j).last()) withdraw(*task);
}

bool Placer::wants(TaskType i, ResourceId j) const {
  return late_ ? late_->plan().part(i, j).value_or(0) > 0 : !lines_.line(i, j).empty();
}

void Placer::clear_waiting(bool with_trials) {
  const auto goes = [&](const WaitingTask& task) { return with_trials || !task.ticket.explores; };
  for (std::size_t i = 0; i < types_; ++i) {
    if (lines_.waiting(task_type(i)) == 0) continue;
    for (std::size_t j = 0; j < resources_; ++j) {
      while (WaitingTask* const task = lines_.line(task_type(i), resource_id(j)).first(goes)) withdraw(*task);
    }
  }
}

std::vector<Count> Placer::waiting() const {
  std::vector<Count> counts;
  for (std::size_t i = 0; i < types_; ++i) {
    for (std::size_t j = 0; j < resources_; ++j) {
      counts.push_back(late_ ? late_->trials(task_type(i), resource_id(j))
                             : static_cast<Count>(lines_.line(task_type(i), resource_id(j)).size()));
    }
  }
  return counts;
}

Placed Placer::take_at(TaskType i, ResourceId j, Clock::time_point now) {
  if (late_) return late_->take_at(i, j, now);
  return {dispatcher_->place_at(i, j, now), false};
}

void Placer::send_elsewhere(TaskType i, ResourceId j, Clock::time_point now) {
  std::optional<ResourceId> best;
  double least = 0;
  for (std::size_t other = 0; other < resources_; ++other) {
    const ResourceId r = resource_id(other);
    if (r == j || !dispatcher_->allows(i, r)) continue;
    const double seconds = dispatcher_->mean_seconds(i, r).value_or(0);  // an unknown pair is tried
    if (best && seconds >= least) continue;
    best = r;
    least = seconds;
  }
  if (best) move_waiting(i, j, *best, now);
}

bool Placer::move_waiting(TaskType i, ResourceId from, ResourceId to, Clock::time_point now) {
  WaitingTask* const task = lines_.line(i, from).last();
  if (task == nullptr) return false;
  withdraw(*task);
  put(dispatcher_->place_at(i, to, now));
  return true;
}

void Placer::ended(const Placed& placed, double busy_s, bool ok, Clock::time_point now) {
  if (late_) return late_->ended(placed, busy_s, ok, now);
  const Ticket& ticket = placed.ticket;
  dispatcher_->complete(ticket, busy_s, ok, now);
  if (placed.in_order) lines_.served(ticket.type, ticket.resource, busy_s);
}

void Placer::dropped(const Placed& placed, double busy_s) {
  if (late_) return late_->dropped(placed, busy_s);
  const Ticket& ticket = placed.ticket;
  dispatcher_->cancel(ticket);
  if (placed.in_order) lines_.served(ticket.type, ticket.resource, busy_s);
}

std::optional<Clock::time_point> Placer::next_look(Clock::time_point now) const {
  std::optional<Clock::time_point> next;
  for (std::size_t j = 0; j < resources_; ++j) {
    std::optional<Clock::time_point> at;
    if (late_) {
      at = late_->ask_again(resource_id(j));
    } else if (const std::optional<double> until = lines_.idle_until(resource_id(j))) {
      // Rounded up, otherwise it would be asked just before its time, again and again.
      at = start_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(*until));
    }
    // A time in the past belongs to a resource that was not asked since then: its slots are busy.
    if (at && *at > now && (!next || *at < *next)) next = at;
  }
  return next;
}

}  // namespace allot
