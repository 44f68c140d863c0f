#include "allot/run/loop.hpp"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "allot/jobs/tokens.hpp"
#include "allot/run/attempt_record.hpp"
#include "allot/run/request.hpp"

namespace allot {
namespace {

/// After a wake-up this late, this process or its machine was stopped.
constexpr Clock::duration kNap = std::chrono::seconds(1);

PlacerOptions placer_options(const RunOptions& options, const World& world) {
  PlacerOptions placer = options;
  placer.planning = world.planning();
  // A plan that the loop waits for is limited by steps, so that the result does not depend on the machine.
  if (placer.planning == Planning::kDeferred) {
    placer.solve_limit = std::chrono::hours(1);
    placer.solve_steps = 20'000;
  }
  return placer;
}

}  // namespace

RunLoop::RunLoop(const Job& job, RunJournal& journal, const RunOptions& options, RunObserver& observer,
                 World& world, AttemptFiles& files)
    : job_(job),
      journal_(journal),
      options_(options),
      observer_(observer),
      world_(world),
      files_(files),
      items_(list_items(job)),
      tallies_(items_.size()),
      ready_(items_.size(), world.now()),
      backlog_(job.tasks.size()),
      gates_(job, items_),
      attempts_(job.tasks.size(), job.resources.size()),
      pairs_(job),
      holdings_(job),
      placer_(job, placer_options(options, world), world.now()),
      progress_(job, world.now()),
      presence_(job.resources.size()),
      halting_(to_duration(options.grace_s), to_duration(options.kill_patience_s)),
      overdue_(to_duration(options.kill_patience_s)),
      reporter_(job, journal, options, observer, placer_, attempts_, backlog_, progress_) {}

// ---- the loop

RunSummary RunLoop::run() {
  if (load_states()) {
    crew_.emplace(crew_resources(job_), options_.crew, world_.now());
    starts_.emplace(job_, backlog_, placer_, attempts_, pairs_, *crew_, holdings_);
    progress_.begin(world_.now());
    while (turn()) {
    }
    crew_->finish();
  }
  return summary();
}

/// False: asked to stop in the meantime.
bool RunLoop::load_states() {
  const auto states = journal_.register_tasks(job_, items_, [this] {
    observer_.woken(*this);
    return halting_.phase() == RunPhase::kRunning;
  });
  if (!states) return false;
  for (std::size_t at = 0; at < items_.size(); ++at) {
    const TaskState& state = (*states)[at];
    const TaskType type = items_[at].type;
    tallies_[at] = {state.attempts, state.failures, state.lost};
    switch (state.kind) {
      case TaskState::Kind::kPending:
        break;
      case TaskState::Kind::kDone:
        progress_.found_done(type);
        break;
      case TaskState::Kind::kFailed:
        progress_.found_failed(type);
        break;
    }
  }
  follow(gates_.begin(*states));
  return true;
}

/// One turn; false when the run is over.
bool RunLoop::turn() {
  const Clock::time_point now = world_.now();
  if (woken_by_ != Clock::time_point::max() && now - woken_by_ > kNap) slept(now - woken_by_);
  events_.clear();
  crew_->pump(now, events_);
  for (const CrewEvent& event : events_) handle(event);
  look_at_journal();
  remove_outputs();
  observer_.woken(*this);
  mind_the_time(now);
  backlog_.wake(now);
  if (holdings_.any()) look_at_stuck(now);
  fail_what_nothing_can_run();
  look_at_presence(now);
  start_what_can_be(now);
  push_out();
  world_.plan(placer_.dispatcher());
  // If nothing runs, a new plan without a pair lets its tasks go elsewhere at once.
  if (attempts_.empty()) {
    start_what_can_be(now);
    push_out();
  }
  if (reporter_.tick(halting_.phase(), slots(), world_.now(), world_.unix_now(), !io_problem_)) {
    observer_.tick(progress_.view());
  }
  if (over()) return false;
  const Clock::time_point end = world_.now();
  overhead_s_ += to_seconds(end - now);
  // A limited sleep, so that a late wake-up can be recognised.
  woken_by_ = std::clamp(next_turn(end), end, end + kNap);
  world_.wait(woken_by_);
  return true;
}

Clock::time_point RunLoop::next_turn(Clock::time_point now) const {
  Clock::time_point until = std::min({crew_->next_deadline(now), halting_.next(), overdue_.next(),
                                      presence_.next(), reporter_.next(), holdings_.next()});
  if (const auto wake = backlog_.next_wake()) until = std::min(until, *wake);
  if (const auto look = placer_.next_look(now)) until = std::min(until, *look);
  return until;
}

bool RunLoop::over() {
  if (!attempts_.empty()) return false;
  if (halting_.phase() == RunPhase::kRunning && backlog_.left() > 0) {
    if (!removals_.empty() || !stranded()) return false;
    if (!std::exchange(is_stranded_, true)) {
      observer_.note(std::to_string(backlog_.left()) +
                     " tasks are left that only resources without a worker can run; run again to resume");
    }
  }
  return !waits_for_launchers();
}

/// All remaining tasks can run only on resources without workers, or wait for such tasks.
bool RunLoop::stranded() const {
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    if (backlog_.queued(task_type(i)) == 0) continue;
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      if (pairs_.usable(task_type(i), resource_id(j)) && !presence_.gone(resource_id(j))) return false;
    }
  }
  return true;
}

/// This process or its machine was stopped: time limits are extended, and nobody counts as silent.
void RunLoop::slept(Clock::duration time) {
  attempts_.slept(time, true);
  overdue_.slept(time);
  halting_.slept(time);
  presence_.slept(time);
  holdings_.slept(time);
}

/// Writes requests at once, so that workers do not wait for the next turn of the loop.
void RunLoop::push_out() {
  std::vector<CrewEvent> events;
  crew_->pump(world_.now(), events);
  for (const CrewEvent& event : events) handle(event);
}

// ---- events

void RunLoop::handle(const CrewEvent& event) {
  switch (event.kind) {
    case CrewEvent::Kind::kRecord:
      on_record(event);
      break;
    case CrewEvent::Kind::kGone: {
      const ResourceId where = crew_->slots()[event.slot].resource;
      const auto slots = crew_->slots();
      const bool all_gone = std::all_of(slots.begin(), slots.end(), [&](const Slot& slot) {
        return slot.resource != where || slot.state == Slot::State::kGone;
      });
      if (!all_gone) break;
      observer_.note("resource '" + job_.resources[index(where)].name +
                     "' is given up for now: " + event.text);
      journal_.note_event(world_.unix_now(), "resource-lost", event.text);
      break;
    }
    case CrewEvent::Kind::kNote:
      if (!event.repeated) observer_.note(event.text);
      journal_.note_event(world_.unix_now(), "lane", event.text);
      break;
  }
}

void RunLoop::on_record(const CrewEvent& event) {
  if (attempts_.find(event.record.id) == nullptr) return;
  RunningAttempt attempt = attempts_.take(event.record.id);
  overdue_.forget(event.record.id);
  release(attempt, event.record.status == TaskStatus::kLost, false);
  TaskRecord record = event.record;
  AttemptOutcome outcome;
  outcome.status = status_of(record.status);
  outcome.not_found = record.not_found;
  outcome.shared = event.shared;
  if (outcome.status == AttemptStatus::kKilled && attempt.overdue) outcome.status = AttemptStatus::kTimeout;
  if (outcome.status == AttemptStatus::kKilled && !attempt.signalled) {
    outcome.status = AttemptStatus::kLost;
    record.error = "its worker reports that it was killed, but this run did not ask for that";
  }
  conclude(attempt, record, outcome);
}

/// Frees what an attempt held as soon as that is safe: a lost attempt may still be running.
void RunLoop::release(const RunningAttempt& attempt, bool lost_with_worker, bool stuck) {
  const Clock::duration lingers = lost_with_worker ? crew_->lingers(attempt.slot) : Clock::duration{};
  if (stuck) {
    holdings_.keep_while_stuck(attempt.holding, attempt.slot);
  } else if (lingers > Clock::duration{}) {
    holdings_.give_back_at(attempt.holding, world_.now() + lingers);
  } else {
    holdings_.give_back(attempt.holding);
  }
}

/// Stuck tasks that have ended after all or are gone with their worker, and other holdings that are due.
void RunLoop::look_at_stuck(Clock::time_point now) {
  for (std::size_t at = holdings_.stuck().size(); at-- > 0;) {
    const std::size_t slot = holdings_.stuck()[at].first;
    const Slot::State state = crew_->slots()[slot].state;
    if (state == Slot::State::kStuck) continue;
    RunningAttempt ended;
    ended.slot = slot;
    ended.holding = holdings_.no_longer_stuck(at);
    release(ended, state == Slot::State::kOpening || state == Slot::State::kGone, false);
  }
  holdings_.wake(now);
}

/// An attempt has ended: updates the journal, the rates and the views, and decides what happens to its task.
void RunLoop::conclude(const RunningAttempt& attempt, const TaskRecord& record, AttemptOutcome outcome) {
  const std::size_t at = attempt.task;
  const TaskType type = attempt.type();
  const Clock::time_point now = world_.now();
  const double taken_s = to_seconds(now - attempt.began);
  const bool ok = outcome.status == AttemptStatus::kOk;

  AttemptEnd end = end_of(attempt, record, outcome.status);
  if (end.counted) {
    // The slot was occupied longer than the process lived: launching and reporting are part of the service.
    placer_.ended(attempt.placed, std::max(record.wall_s, taken_s), ok, now);
  } else {
    placer_.dropped(attempt.placed, record.wall_s);
  }
  progress_.attempt_ended(attempt, taken_s, ok, now);
  const AttemptOutput output =
      files_.keep(attempt.request, record, journal_.task_id(at), attempt.start.attempt);
  if (record.not_found) disable_pair(attempt, record);

  const RetryLimits limits{job_.tasks[index(type)].retries.value_or(options_.retries), options_.requeues,
                           options_.first_backoff_s};
  const Verdict verdict = judge(tallies_[at], outcome, limits);
  end.forgiven = verdict.forgiven;
  keep_record(end, verdict.is_final);
  if (verdict.is_final) {
    progress_.ended(type, ok);
  } else {
    ready_[at] = now + to_duration(verdict.wait_s);
    backlog_.retry(type,
                   {at, verdict.avoid ? std::optional(attempt.resource()) : std::nullopt, verdict.alone},
                   ready_[at]);
  }
  observer_.ended(end, items_[at], verdict.is_final, output);
  if (verdict.is_final) follow(gates_.ended(at, ok));
  halt_if_reached();
}

void RunLoop::disable_pair(const RunningAttempt& attempt, const TaskRecord& record) {
  observer_.note("'" + job_.tasks[index(attempt.type())].name + "' cannot run on '" +
                 job_.resources[index(attempt.resource())].name +
                 "', which is not used for it any more: " + record.error);
  placer_.disable(attempt.type(), attempt.resource());
  pairs_.disable(attempt.type(), attempt.resource(), record.error);
}

void RunLoop::halt_if_reached() {
  if (halted_ || !options_.halt) return;
  const std::uint64_t failures = progress_.failed_by_itself();
  if (!options_.halt->reached(failures, progress_.done_now() + failures)) return;
  halted_ = true;
  const std::string failed = std::to_string(failures) + " tasks failed";
  journal_.note_event(world_.unix_now(), "halted", failed);
  observer_.note("halted: " + failed);
  options_.halt->now ? terminate() : drain();
}

/// Types without a working command anywhere: their tasks get a final record, so that the run can end. Tasks
/// that were running when the last command turned out to be missing may come back later, to be tried again.
void RunLoop::fail_what_nothing_can_run() {
  if (halting_.phase() != RunPhase::kRunning) return;
  const bool changed = pairs_.take_change();
  for (const TaskType type : pairs_.unusable()) {
    if (!changed && backlog_.queued(type) == 0) continue;
    // Waiting tasks go first, otherwise they would get the room of others.
    std::vector<std::size_t> tasks = gates_.waiting_tasks(type);
    const std::vector<std::uint64_t> queued = backlog_.give_up(type);
    tasks.insert(tasks.end(), queued.begin(), queued.end());
    for (const std::size_t at : tasks) {
      fail_unstarted(at, ++tallies_[at].attempts, "no resource can run it: " + pairs_.why_not(type));
      follow(gates_.ended(at, false));
    }
  }
  halt_if_reached();
}

/// Leaves resources without any worker out of plans, and adds them again when a worker is back.
void RunLoop::look_at_presence(Clock::time_point now) {
  for (const Presence::News& news : presence_.look(crew_->slots(), now)) {
    if (news.change == Presence::Change::kBack) {
      placer_.restore(news.resource);
      continue;
    }
    placer_.lose(news.resource);
    if (presence_.gone(news.resource)) continue;  // the reason was already reported
    observer_.note("no worker of '" + job_.resources[index(news.resource)].name +
                   "' is connected; until one is, tasks go elsewhere");
  }
}

void RunLoop::look_at_journal() {
  if (io_problem_) return;
  io_problem_ = journal_.failure();
  if (!io_problem_) return;
  observer_.note("the journal cannot be written: running tasks may finish, no new ones start");
  drain();
}

/// All tasks are done, but jobs of a batch system would stay if their launchers were killed now.
bool RunLoop::waits_for_launchers() {
  if (!crew_->leaving() || halting_.phase() >= RunPhase::kTerminating) return false;
  if (!std::exchange(told_of_launchers_, true)) {
    observer_.note(
        "waiting for the launchers of lost workers to cancel their jobs; interrupt twice to skip this");
  }
  return true;
}

// ---- starting tasks

void RunLoop::start_what_can_be(Clock::time_point now) {
  // A refused task leaves its slot to another.
  for (std::uint64_t before = ~std::uint64_t{0};
       before != refused_ && halting_.phase() == RunPhase::kRunning;) {
    before = refused_;
    starts_->make(now, [this](std::size_t slot, std::uint64_t task, const Placed& placed, bool alone) {
      start(slot, task, placed, alone);
    });
  }
}

void RunLoop::start(std::size_t slot_at, std::uint64_t at, const Placed& placed, bool alone) {
  const Slot& slot = crew_->slots()[slot_at];
  const JobResource& resource = job_.resources[index(slot.resource)];
  TaskTally& tally = tallies_[at];
  const Clock::time_point now = world_.now();
  if (tally.attempts > 0) progress_.retried();
  const int number = ++tally.attempts;
  const std::uint64_t id = next_id_++;
  RunningAttempt attempt;
  attempt.task = at;
  attempt.slot = slot_at;
  attempt.placed = placed;
  attempt.expected_s = placer_.dispatcher().mean_seconds(items_[at].type, slot.resource).value_or(0);
  if (alone) attempt.alone_until = now + to_duration(seconds_alone(tally, attempt.expected_s));
  attempt.began = now;
  attempt.holding = holdings_.take(items_[at].type, slot.resource, slot.number);
  // The slot number that the task sees is the first of those that it holds.
  const Count slot_number = attempt.holding.servers.front().number;
  attempt.request = make_request(
      job_, {&items_[at], at + 1, slot.resource, slot_number, number, &attempt.holding}, options_.run_id);
  attempt.request.id = id;
  attempt.request.grace_s = options_.grace_s;
  files_.prepare(attempt.request, journal_.task_id(at), number, resource.launch.empty(),
                 journal_.last_run(at));
  attempt.start = {{number, resource.name, slot_number, world_.unix_now(),
                    std::max(0.0, to_seconds(now - ready_[at])), join_command(attempt.request.argv)},
                   at};
  journal_.start(attempt.start);
  if (const auto problem = crew_->start(slot_at, attempt.request)) return refuse(attempt, *problem);
  if (attempt.request.timeout_s > 0) {
    overdue_.watch(id, now + to_duration(attempt.request.timeout_s + options_.grace_s + options_.margin_s));
  }
  attempts_.add(id, std::move(attempt));
}

/// A task that cannot be sent to any worker fails; nothing else is affected.
void RunLoop::refuse(const RunningAttempt& attempt, const std::string& problem) {
  ++refused_;
  holdings_.give_back(attempt.holding);
  placer_.dropped(attempt.placed, 0);
  AttemptEnd end;
  static_cast<AttemptStart&>(end) = attempt.start;
  end.status = AttemptStatus::kFailed;
  end.error = problem;
  keep_record(end, true);
  progress_.ended(attempt.type(), false);
  observer_.ended(end, items_[attempt.task], true, {});
  follow(gates_.ended(attempt.task, false));
  halt_if_reached();
}

}  // namespace allot
