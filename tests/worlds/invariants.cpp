#include "tests/worlds/invariants.hpp"

#include <algorithm>
#include <cmath>

#include "allot/jobs/stages.hpp"

namespace allot::worlds {
namespace {

/// What turns and ticks add to any limit.
constexpr double kSlack = 15;
/// No task is tried so often, whatever happens.
constexpr int kMostAttempts = 40;

double to_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

Invariants::Invariants(const Scene& scene, const Disk& disk, const RunLoop& loop)
    : scene_(scene), disk_(disk), loop_(loop), takers_(takers(scene.job)) {
  std::size_t first = 0;
  for (const JobTask& task : scene.job.tasks) {
    first_.push_back(first);
    first += task.inputs.rows();
  }
  // A plan may leave a server idle while another is sooner done; what it believes about times comes from what
  // it was told and what it has seen.
  for (std::size_t i = 0; i < scene.job.tasks.size(); ++i) {
    for (std::size_t j = 0; j < scene.job.resources.size(); ++j) {
      const double true_s = scene.seconds[i * scene.job.resources.size() + j];
      const auto& rate = scene.job.tasks[i].rates[j];
      patience_s_ = std::max({patience_s_, 30 * true_s, rate ? 1 / *rate : Starts::kUnknownSeconds});
    }
    patience_s_ = std::max(patience_s_, scene.job.tasks[i].timeout_s.value_or(0));
  }
  // Exact shares are kept by idling: a hundred times what a task takes, for one that has next to no share.
  const bool idles =
      scene.options.objective == RunObjective::kPriority && scene.options.shares == ShareReading::kExact;
  // So does who carries out a plan, rather than run far ahead of it.
  const bool plans = scene.options.policy == "planned" || needs_of(scene.job).any;
  patience_s_ =
      (idles || plans ? 100 : 4) * patience_s_ + 10 * scene.options.tick_s + 2 * scene.plan_delay + kSlack;
}

Invariants::Problem Invariants::executed(std::size_t task, Clock::time_point now) {
  began_[task] = now - asleep_;
  if (disk_.tasks[task].final_attempt)
    return "task " + std::to_string(task) + " runs again although its final record is durable";
  return too_early(task);
}

void Invariants::lost(const std::vector<std::uint64_t>& ids) {
  std::vector<std::pair<std::size_t, int>> awaited;
  for (const std::uint64_t id : ids) {
    if (const RunningAttempt* const attempt = loop_.attempts().find(id))
      awaited.emplace_back(attempt->task, attempt->start.attempt);
  }
  if (awaited.size() > 1) lost_shared_.insert(awaited.begin(), awaited.end());
}

Invariants::Problem Invariants::ended(const AttemptEnd& end, bool is_final, Clock::time_point now) {
  ++seen_;
  if (is_final) ended_[end.task] = end.status == AttemptStatus::kOk;
  const std::string name = "task " + std::to_string(end.task);
  if (end.status == AttemptStatus::kLost && !end.forgiven && lost_shared_.contains({end.task, end.attempt}))
    return name + " is blamed for a loss that others had a part in";
  const double limit_s = scene_.job.tasks[index(loop_.items()[end.task].type)].timeout_s.value_or(0);
  const bool given_up = end.status == AttemptStatus::kLost &&
                        end.error.starts_with("it could not be killed") &&
                        loop_.phase() == RunPhase::kRunning;
  if ((end.status == AttemptStatus::kTimeout || given_up) &&
      to_seconds(now - asleep_ - began_[end.task]) < limit_s * (1 - 1e-6)) {
    return name + " is said to be past its time limit, and is not";
  }
  if (++attempts_now_[end.task] > kMostAttempts) return name + " is tried without end";
  return std::nullopt;
}

Invariants::Problem Invariants::after_turn(Clock::time_point now) {
  if (const auto problem = books(now)) return problem;
  if (const auto problem = holdings()) return problem;
  if (const auto problem = limits(now)) return problem;
  if (const auto problem = outputs_in_use()) return problem;
  return idleness(now);
}

/// The attempts are those that the crew has; the dispatcher's counts are the attempts and the tickets that
/// wait; no task is lost, none is there twice.
Invariants::Problem Invariants::books(Clock::time_point now) const {
  const Crew& crew = *loop_.crew();
  std::size_t busy = 0;
  for (const Slot& slot : crew.slots()) {
    if (slot.state != Slot::State::kBusy) continue;
    ++busy;
    const RunningAttempt* const attempt = loop_.attempts().find(slot.task);
    if (attempt == nullptr) return "a slot has a task that the loop does not know of";
    if (attempt->resource() != slot.resource) return "an attempt is booked at another resource";
    if (attempt->alone_until > now && crew.busy_on(slot.lane) != 1)
      return "a task that is to be alone is not";
  }
  if (busy != loop_.attempts().size()) return "the loop knows of attempts that no slot has";
  const std::vector<Count> waiting = loop_.placer().waiting();
  const std::vector<Count> placed = loop_.placer().dispatcher().statistics().in_flight;
  for (std::size_t at = 0; at < waiting.size(); ++at) {
    if (placed[at] != waiting[at] + loop_.attempts().by_pair().values()[at])
      return "the placer's books are wrong";
  }
  std::vector<int> seen(loop_.items().size(), 0);
  for (const auto& [id, attempt] : loop_.attempts().all()) ++seen[attempt.task];
  if (std::any_of(seen.begin(), seen.end(), [](int n) { return n > 1; })) return "a task runs twice at once";
  for (std::size_t i = 0; i < scene_.job.tasks.size(); ++i) {
    if (loop_.attempts().by_type()[i] > loop_.placer().limits()[i])
      return "more in flight than the job allows";
  }
  return std::nullopt;
}

/// What is free is what those that run, and those that may still be there, do not hold.
Invariants::Problem Invariants::holdings() const {
  const Holdings& holdings = loop_.holdings();
  if (!holdings.any()) return std::nullopt;
  const JobNeeds all = needs_of(scene_.job);
  std::vector<double> held(holdings.free().size(), 0.0);
  const auto add = [&](TaskType i, ResourceId j) {
    bool takes_own = false;
    for (const Need& need : all.needs[index(i)]) {
      if (need.resource != j) continue;
      held[index(need.capacity)] += need.amount;
      takes_own |= need.capacity == servers_of(j);
    }
    if (!takes_own) held[index(j)] += 1;
  };
  for (const auto& [id, attempt] : loop_.attempts().all()) add(attempt.type(), attempt.resource());
  for (const auto& [when, holding] : holdings.lingering()) add(holding.type, holding.resource);
  for (const auto& [slot, holding] : holdings.stuck()) add(holding.type, holding.resource);
  const std::size_t resources = scene_.job.resources.size();
  for (std::size_t r = 0; r < held.size(); ++r) {
    if (r >= resources && all.capacities[r - resources].shared) continue;
    const double amount = r < resources ? static_cast<double>(scene_.job.resources[r].servers)
                                        : all.capacities[r - resources].amount;
    if (std::abs(amount - held[r] - holdings.free()[r]) > 1e-6 * amount)
      return "the books say that " + std::to_string(holdings.free()[r]) + " of capacity " +
             std::to_string(r) + " are free, and it is " + std::to_string(amount - held[r]);
  }
  return std::nullopt;
}

bool Invariants::startable(const Slot& slot, Clock::time_point now) const {
  if (!loop_.starts()->free(slot, now)) return false;
  for (std::size_t i = 0; i < scene_.job.tasks.size(); ++i) {
    const TaskType type = task_type(i);
    if (!loop_.pairs().usable(type, slot.resource)) continue;
    if (loop_.attempts().by_type()[i] >= loop_.placer().limits()[i]) continue;
    if (!loop_.holdings().fits(type, slot.resource)) continue;
    const bool only_place = !loop_.starts()->can_run_elsewhere(type, slot.resource);
    if (loop_.backlog().has(type, slot.resource, only_place)) return true;
    if (loop_.crew()->busy_on(slot.lane) == 0 && loop_.backlog().has_alone(type, slot.resource, only_place)) {
      return true;
    }
  }
  return false;
}

/// For messages.
std::string Invariants::situation(Clock::time_point now) const {
  std::string text;
  for (const Slot& slot : loop_.crew()->slots()) {
    text +=
        "\n    " + scene_.job.resources[index(slot.resource)].name + "/" + std::to_string(slot.number) + ": ";
    const RunningAttempt* const attempt = loop_.attempts().find(slot.task);
    if (slot.state == Slot::State::kBusy && attempt != nullptr) {
      text += loop_.items()[attempt->task].identity + " for " +
              std::to_string(to_seconds(now - attempt->began)) + " s" +
              (attempt->alone_until > now ? ", alone" : "");
    } else {
      text +=
          slot.state == Slot::State::kIdle ? startable(slot, now) ? "idle, could work" : "idle" : "not there";
    }
  }
  for (std::size_t i = 0; i < scene_.job.tasks.size(); ++i) {
    text += "\n    t" + std::to_string(i) + ": " + std::to_string(loop_.backlog().ready(task_type(i))) +
            " ready of " + std::to_string(loop_.backlog().left(task_type(i))) + ", waiting";
    for (std::size_t j = 0; j < scene_.job.resources.size(); ++j) {
      const RateEstimate estimate = loop_.placer().dispatcher().estimate(task_type(i), resource_id(j));
      text += " " + std::to_string(loop_.placer().waiting()[i * scene_.job.resources.size() + j]) + " (" +
              (estimate.known() ? std::to_string(estimate.seconds) + " s" : "unknown") +
              (loop_.placer().allows(task_type(i), resource_id(j)) ? ")" : ", closed)");
    }
  }
  return text;
}

/// Nothing idles for long that could work; and when nothing runs, nothing idles at all.
Invariants::Problem Invariants::idleness(Clock::time_point now) {
  if (loop_.phase() != RunPhase::kRunning) return std::nullopt;
  const auto slots = loop_.crew()->slots();
  const bool could =
      std::any_of(slots.begin(), slots.end(), [&](const Slot& slot) { return startable(slot, now); });
  const std::uint64_t events = seen_ + loop_.attempts().size();
  if (!could || !last_event_ || events != last_events_) {
    last_event_ = now;
    last_events_ = events;
  }
  if (could && loop_.attempts().empty()) return "nothing runs, and something could" + situation(now);
  if (to_seconds(now - *last_event_) > patience_s_)
    return "a slot has been idle for " + std::to_string(to_seconds(now - *last_event_)) +
           " s that could work" + situation(now);
  return std::nullopt;
}

/// Time limits hold, whatever the workers do; and who is told to end, ends.
Invariants::Problem Invariants::limits(Clock::time_point now) {
  const RunOptions& options = scene_.options;
  const double kill_s = options.grace_s + options.kill_patience_s;
  for (const auto& [id, attempt] : loop_.attempts().all()) {
    if (attempt.request.timeout_s > 0 &&
        to_seconds(now - attempt.began) > attempt.request.timeout_s + kill_s + options.margin_s + kSlack) {
      return "an attempt is past its time limit by far";
    }
  }
  if (loop_.phase() < RunPhase::kTerminating) return std::nullopt;
  if (!ordered_to_end_) ordered_to_end_ = now;
  if (to_seconds(now - *ordered_to_end_) > kill_s + kSlack) return "it was told to end, and does not";
  return std::nullopt;
}

/// The summary is what the journal says, and every task's fate is what the rules say.
Invariants::Problem Invariants::at_end(const RunSummary& summary) const {
  if (!loop_.attempts().empty()) return "it ended with attempts running";
  if (summary.outcome == RunSummary::Outcome::kIo) return std::nullopt;  // the disk knows less
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  for (std::size_t at = 0; at < disk_.tasks.size(); ++at) {
    const Disk::Task& task = disk_.tasks[at];
    const std::string name = "task " + std::to_string(at);
    const JobTask& type = scene_.job.tasks[index(loop_.items()[at].type)];
    int failures = 0;
    int lost = 0;
    int successes = 0;
    bool impossible = false;
    const bool doomed = task.final_attempt == 0;  // which is no attempt
    for (const auto& [number, attempt] : task.attempts) {
      if (attempt.status == AttemptStatus::kStarted) return name + " has an attempt without an end";
      successes += attempt.status == AttemptStatus::kOk ? 1 : 0;
      if (attempt.forgiven) continue;
      impossible |= attempt.error.starts_with("no resource can run it") || attempt.error.starts_with("argv");
      failures +=
          attempt.status == AttemptStatus::kFailed || attempt.status == AttemptStatus::kTimeout ? 1 : 0;
      lost += attempt.status == AttemptStatus::kLost ? 1 : 0;
    }
    if (successes > 1) return name + " was done twice";
    if ((successes == 1) != task.done()) return name + " was done, and its final record says otherwise";
    const bool given_up = impossible || doomed || failures > type.retries.value_or(scene_.options.retries) ||
                          lost > scene_.options.requeues;
    if (task.final_attempt.has_value() != (task.done() || given_up)) {
      return name + (given_up ? " should have been given up" : " was given up too early");
    }
    done += task.done() ? 1 : 0;
    failed += task.final_attempt && !task.done() ? 1 : 0;
  }
  if (summary.outcome == RunSummary::Outcome::kTimeLimit && !time_is_up_)
    return "it is said to have run out of time, and has not";
  if (summary.outcome == RunSummary::Outcome::kInterrupted && time_is_up_)
    return "it ran out of time, and is said to have been interrupted";
  if (disk_.tasks.empty()) return std::nullopt;  // told to stop before there were any
  if (done != summary.view.done || failed != summary.view.failed)
    return "the summary is not what the journal says";
  const bool all = done + failed == disk_.tasks.size();
  if (all != (summary.outcome == RunSummary::Outcome::kFinished) &&
      summary.outcome != RunSummary::Outcome::kHalted) {
    return "the outcome is '" + std::string(to_string(summary.outcome)) + "' with " +
           std::to_string(disk_.tasks.size() - done - failed) + " tasks left";
  }
  if (summary.outcome == RunSummary::Outcome::kInterrupted && loop_.phase() == RunPhase::kRunning)
    return "it ended early, and nobody had asked for it";
  return stages_at_end(summary);
}

}  // namespace allot::worlds
