// How the loop ends or pauses: requests of the observer, and time limits.
#include <signal.h>

#include <algorithm>
#include <vector>

#include "allot/run/loop.hpp"

namespace allot {

// ---- requests

void RunLoop::drain() {
  out_of_time_ = false;
  if (halting_.drain()) placer_.clear_waiting();
}

void RunLoop::time_is_up() {
  if (halting_.phase() != RunPhase::kRunning) return;
  drain();
  out_of_time_ = true;
}

void RunLoop::terminate() {
  out_of_time_ = false;
  if (!halting_.terminate(world_.now())) return;
  placer_.clear_waiting();
  signal_all(SIGTERM);
}

void RunLoop::kill() {
  out_of_time_ = false;
  if (halting_.kill(world_.now())) {
    placer_.clear_waiting();
    signal_all(SIGKILL);
  } else {
    abandon_all();
  }
}

void RunLoop::pause() {
  paused_at_ = world_.now();
  if (!crew_) return;
  crew_->pause();
  push_out();
}

void RunLoop::resume() {
  const Clock::duration away = world_.now() - paused_at_;
  attempts_.slept(away, false);
  overdue_.slept(away);
  halting_.slept(away);
  presence_.slept(away);
  holdings_.slept(away);
  progress_.paused(away);
  woken_by_ = Clock::time_point::max();
  if (!crew_) return;
  crew_->resume();
  push_out();
}

void RunLoop::signal_all(int number) {
  if (!crew_) return;
  for (std::size_t slot = 0; slot < crew_->slots().size(); ++slot) {
    if (RunningAttempt* const attempt = attempts_.find(crew_->slots()[slot].task)) attempt->signalled = true;
    crew_->signal(slot, number);
  }
}

/// Actions that are due by time alone.
void RunLoop::mind_the_time(Clock::time_point now) {
  for (const Overdue::Due& due : overdue_.due(now)) {
    RunningAttempt* const attempt = attempts_.find(due.id);
    if (attempt == nullptr) continue;
    if (due.give_up) {
      abandon(due.id);
      continue;
    }
    attempt->signalled = attempt->overdue = true;
    crew_->signal(attempt->slot, SIGKILL);
  }
  if (now < halting_.next()) return;
  if (halting_.phase() == RunPhase::kTerminating) {
    kill();
  } else if (halting_.phase() == RunPhase::kKilling) {
    abandon_all();
  }
}

void RunLoop::abandon_all() {
  if (!halting_.abandon()) return;
  std::vector<std::uint64_t> ids;
  for (const auto& [id, attempt] : attempts_.all()) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const std::uint64_t id : ids) abandon(id);
}

/// The attempt was killed but still runs: it is lost, and nothing waits for it any more.
void RunLoop::abandon(std::uint64_t id) {
  RunningAttempt attempt = attempts_.take(id);
  overdue_.forget(id);
  const Slot& slot = crew_->slots()[attempt.slot];
  const JobResource& resource = job_.resources[index(attempt.resource())];
  TaskRecord record;
  record.id = id;
  record.error = "it could not be killed";
  if (slot.process > 0) record.error += "; process " + std::to_string(slot.process) + " may still be running";
  if (!resource.launch.empty()) record.error += ", behind '" + resource.launch.front() + "'";
  crew_->abandon(attempt.slot);
  release(attempt, false, true);
  observer_.note(items_[attempt.task].identity + " on '" + resource.name + "' is given up: " + record.error);
  AttemptOutcome outcome;
  outcome.status = AttemptStatus::kLost;
  outcome.stuck = true;
  conclude(attempt, record, outcome);
}

// ---- the summary

RunSummary RunLoop::summary() {
  const Clock::time_point now = world_.now();
  placer_.dispatcher().solve(now);
  reporter_.refresh(halting_.phase(), slots(), now);
  if (!io_problem_ && crew_) reporter_.note_to_journal(world_.unix_now());
  RunSummary summary = reporter_.summary(now);
  summary.overhead_s = overhead_s_;
  summary.problem = io_problem_.value_or("");
  const bool all = summary.view.done + summary.view.failed == summary.view.total;
  using End = RunSummary::Outcome;
  summary.outcome = io_problem_    ? End::kIo
                    : halted_      ? End::kHalted
                    : all          ? End::kFinished
                    : is_stranded_ ? End::kStranded
                    : out_of_time_ ? End::kTimeLimit
                                   : End::kInterrupted;
  journal_.end_run(std::string(to_string(summary.outcome)), world_.unix_now());
  try {
    journal_.flush();
    remove_outputs();
  } catch (const JournalError& error) {
    summary.outcome = End::kIo;
    summary.problem = error.what();
  }
  return summary;
}

}  // namespace allot
