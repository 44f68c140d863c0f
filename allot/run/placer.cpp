#include "allot/run/placer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace allot {
namespace {

/// Shares are asked for anew when one has moved by this part of the whole: a hundred plans for a batch.
constexpr double kShareStep = 0.01;

/// The types of a job with these counts in place of its own.
std::vector<TaskClass> types_of(const Job& job, std::span<const Count> counts) {
  std::vector<TaskClass> types(job.tasks.begin(), job.tasks.end());
  for (std::size_t i = 0; i < types.size(); ++i) types[i].count = counts[i];
  return types;
}

}  // namespace

System job_system(const Job& job, std::span<const double> rates, std::span<const Count> counts) {
  return System(
      std::vector<Resource>(job.resources.begin(), job.resources.end()), types_of(job, counts),
      Rates(job.tasks.size(), job.resources.size(), std::vector<double>(rates.begin(), rates.end())));
}

std::vector<Count> in_flight_limits(const Job& job) {
  std::vector<Count> limits;
  for (const JobTask& task : job.tasks) {
    Count slots = 0;
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (task.commands[j]) slots += std::max(job.resources[j].servers, job.resources[j].min_depth);
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
      waiting_(types_, resources_),
      waiting_by_type_(types_) {
  const std::string policy =
      options.policy.empty() ? std::string(policy_for(options.objective)) : options.policy;
  weighted_ = policy == "weighted";
  // Another policy by name decides for itself; the end of the batch is part of what finishes soonest.
  finishes_ = options.objective == RunObjective::kFinish && options.policy.empty();
  const bool by_remaining = options.objective == RunObjective::kFinish && (weighted_ || policy == "mis");

  std::vector<RatePrior> priors = options.priors;
  if (priors.empty()) {
    for (const JobTask& task : job.tasks) {
      for (std::size_t j = 0; j < resources_; ++j) {
        priors.push_back(!task.commands[j] ? RatePrior::cannot_run()
                         : task.rates[j]   ? RatePrior::measured(*task.rates[j])
                                           : RatePrior::unknown());
      }
    }
  }
  DispatcherOptions dispatcher;
  dispatcher.policy = policy;
  // Whoever wants to be done soonest has no use for idling.
  const ShareReading shares =
      options.objective == RunObjective::kPriority ? options.shares : ShareReading::kFloor;
  dispatcher.policy_options.shares = shares;
  dispatcher.seed = options.seed;
  dispatcher.planning = options.planning;
  dispatcher.solve_limit = options.solve_limit;
  dispatcher.policy_options.solve.steps = options.solve_steps;
  std::vector<Resource> resources(job.resources.begin(), job.resources.end());
  for (const Resource& resource : resources) disciplines_.push_back(resource.discipline);
  std::vector<TaskClass> types = types_of(job, limits_);
  for (std::size_t i = 0; i < types_ && by_remaining; ++i) {
    priorities_.push_back(static_cast<double>(job.tasks[i].inputs.rows()));
    types[i].priority = priorities_[i];
  }
  dispatcher_ = std::make_unique<Dispatcher>(std::move(resources), std::move(types), std::move(priors),
                                             std::move(dispatcher), now);
  counts_ = limits_;
  const auto when_ahead = weighted_ && shares == ShareReading::kExact ? ServiceOrder::WhenAhead::kIdle
                                                                      : ServiceOrder::WhenAhead::kServe;
  orders_.assign(resources_, ServiceOrder(types_, when_ahead));
  for (const JobTask& task : job.tasks) has_share_.push_back(task.priority.value_or(0) > 0);
  by_order_.assign(resources_, false);
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
    // Shares are kept by idling only while there is work of all who have one.
    idling_helps_ = true;
    for (std::size_t i = 0; i < types_; ++i) idling_helps_ &= counts_[i] > 0 || !has_share_[i];
  }
  follow_plan();
  for (std::size_t i = 0; i < types_; ++i) {
    const Count wanted = std::min(limits_[i] - demand.running[i], demand.ready[i]);
    while (waiting_by_type_[i] < wanted) {
      const Count before = waiting_by_type_[i];
      place_waiting(task_type(i), now);
      if (waiting_by_type_[i] == before) break;  // it can go nowhere now
    }
    for (std::size_t j = resources_; waiting_by_type_[i] > wanted && j-- > 0;) {
      std::deque<Ticket>& tickets = queue(task_type(i), resource_id(j));
      while (waiting_by_type_[i] > wanted && !tickets.empty()) {
        dispatcher_->cancel(tickets.back());
        tickets.pop_back();
        --waiting_by_type_[i];
      }
    }
  }
}

void Placer::place_waiting(TaskType i, Clock::time_point now) {
  if (const std::optional<Ticket> ticket = dispatcher_->place(i, now)) {
    std::deque<Ticket>& tickets = queue(i, ticket->resource);
    if (ticket->explores) {
      tickets.push_front(*ticket);
    } else {
      tickets.push_back(*ticket);
    }
    ++waiting_by_type_[index(i)];
  }
}

void Placer::follow_plan() {
  std::shared_ptr<const Plan> plan = dispatcher_->plan();
  if (plan_ && plan->number == plan_->number) return;
  plan_ = std::move(plan);
  clear_waiting(false);  // what is to be learnt is to be learnt under any plan
  for (std::size_t j = 0; j < resources_; ++j) {
    // A queue that is to be first come, first served stays one, and so does that of a policy without targets.
    by_order_[j] = weighted_ || (plan_->target && disciplines_[j] == Discipline::kPs);
    if (!by_order_[j]) continue;
    std::vector<double> weights(types_);
    const PairSpan shares(plan_->time_shares, resources_);
    for (std::size_t i = 0; i < types_; ++i) {
      weights[i] = !shares.empty() ? shares(task_type(i), resource_id(j))
                   : plan_->target ? static_cast<double>((*plan_->target)(task_type(i), resource_id(j)))
                                   : 1.0;
    }
    orders_[j].set_weights(weights);
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

/// Takes back the tickets that wait there: also those that wait to learn a rate, which no new plan takes
/// back.
void Placer::withdraw(TaskType i, ResourceId j) {
  std::deque<Ticket>& tickets = queue(i, j);
  for (const Ticket& ticket : tickets) dispatcher_->cancel(ticket);
  waiting_by_type_[index(i)] -= static_cast<Count>(tickets.size());
  tickets.clear();
}

void Placer::clear_waiting(bool with_trials) {
  for (const TaskType i : waiting_.type_ids()) {
    for (std::deque<Ticket>& tickets : waiting_.row(i)) {
      std::deque<Ticket> kept;
      for (const Ticket& ticket : tickets) {
        if (ticket.explores && !with_trials) {
          kept.push_back(ticket);
          continue;
        }
        dispatcher_->cancel(ticket);
        --waiting_by_type_[index(i)];
      }
      tickets = std::move(kept);
    }
  }
}

std::optional<Placed> Placer::take(ResourceId j, Clock::time_point now) {
  std::optional<TaskType> type;
  for (std::size_t i = 0; i < types_; ++i) {
    if (waiting_here_[i] == 0 || !queue(task_type(i), j).front().explores) continue;
    return take_front(task_type(i), j, false);  // a rate that is not known yet comes before all order
  }
  if (by_order_[index(j)]) {
    type = orders_[index(j)].next(waiting_here_, seconds(now), idling_helps_);
  } else {
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < types_; ++i) {
      if (waiting_here_[i] == 0) continue;
      const std::uint64_t since = queue(task_type(i), j).front().start_ns;
      if (!type || since < first) {
        type = task_type(i);
        first = since;
      }
    }
  }
  if (!type) return std::nullopt;
  return take_front(*type, j, by_order_[index(j)]);
}

Placed Placer::take_front(TaskType i, ResourceId j, bool in_order) {
  std::deque<Ticket>& tickets = queue(i, j);
  const Ticket ticket = tickets.front();
  tickets.pop_front();
  --waiting_by_type_[index(i)];
  return {ticket, in_order};
}

Placed Placer::take_at(TaskType i, ResourceId j, Clock::time_point now) {
  return {dispatcher_->place_at(i, j, now), false};
}

void Placer::send_elsewhere(TaskType i, ResourceId j, Clock::time_point now) {
  std::optional<ResourceId> best;
  double least = 0;
  for (std::size_t other = 0; other < resources_; ++other) {
    const ResourceId r = resource_id(other);
    if (r == j || !dispatcher_->allows(i, r)) continue;
    const double seconds = dispatcher_->mean_seconds(i, r).value_or(0);  // one that is not known is tried
    if (best && seconds >= least) continue;
    best = r;
    least = seconds;
  }
  if (best) move_waiting(i, j, *best, now);
}

bool Placer::move_waiting(TaskType i, ResourceId from, ResourceId to, Clock::time_point now) {
  if (queue(i, from).empty()) return false;
  dispatcher_->cancel(queue(i, from).back());
  queue(i, from).pop_back();
  queue(i, to).push_back(dispatcher_->place_at(i, to, now));
  return true;
}

void Placer::ended(const Placed& placed, double busy_s, bool ok, Clock::time_point now) {
  const Ticket& ticket = placed.ticket;
  dispatcher_->complete(ticket, busy_s, ok, now);
  if (placed.in_order) orders_[index(ticket.resource)].served(ticket.type, busy_s);
}

void Placer::dropped(const Placed& placed, double busy_s) {
  const Ticket& ticket = placed.ticket;
  dispatcher_->cancel(ticket);
  if (placed.in_order) orders_[index(ticket.resource)].served(ticket.type, busy_s);
}

std::optional<Clock::time_point> Placer::next_look(Clock::time_point now) const {
  std::optional<Clock::time_point> next;
  for (std::size_t j = 0; j < resources_; ++j) {
    if (!by_order_[j]) continue;
    if (const std::optional<double> until = orders_[j].idle_until()) {
      // Rounded up, or it would be asked just before its time, again and again.
      const Clock::time_point at =
          start_ + std::chrono::ceil<Clock::duration>(std::chrono::duration<double>(*until));
      // One that has passed is of a resource that was not asked since: its slots are busy.
      if (at > now && (!next || at < *next)) next = at;
    }
  }
  return next;
}

}  // namespace allot
