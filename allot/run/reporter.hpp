// Reports on a run: its view from time to time, rates and predictions to the journal, and a summary at the
// end.
#pragma once

#include <span>
#include <string>

#include "allot/jobs/run_journal.hpp"
#include "allot/run/backlog.hpp"
#include "allot/run/progress.hpp"
#include "allot/run/runner.hpp"

namespace allot {

/// Not thread-safe; holds references to what it reports on.
class Reporter {
 public:
  Reporter(const Job& job, RunJournal& journal, const RunOptions& options, RunObserver& observer,
           Placer& placer, const Attempts& attempts, const Backlog& backlog, Progress& progress)
      : job_(job),
        journal_(journal),
        options_(options),
        observer_(observer),
        placer_(placer),
        attempts_(attempts),
        backlog_(backlog),
        progress_(progress) {}

  /// When the next tick is due.
  Clock::time_point next() const noexcept { return next_tick_; }
  /// If a tick is due: reports to the planner how long tasks have been running, and updates the view. True:
  /// the view should be shown.
  bool tick(RunPhase phase, std::span<const Slot> slots, Clock::time_point now, double unix_now,
            bool may_write);
  void refresh(RunPhase phase, std::span<const Slot> slots, Clock::time_point now);
  void note_to_journal(double unix_now);
  /// The summary, from the last refreshed view.
  RunSummary summary(Clock::time_point now) const;

 private:
  void report_running(Clock::time_point now);
  void tell_plan_note();

  const Job& job_;
  RunJournal& journal_;
  const RunOptions& options_;
  RunObserver& observer_;
  Placer& placer_;
  const Attempts& attempts_;
  const Backlog& backlog_;
  Progress& progress_;
  Clock::time_point next_tick_{};
  Clock::time_point next_note_{};
  std::uint64_t noted_plan_ = 0;
  std::string last_plan_note_;
};

}  // namespace allot
