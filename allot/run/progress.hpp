// The progress of a run and its predictions: the numbers that are shown and recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"
#include "allot/model/system.hpp"
#include "allot/run/attempts.hpp"
#include "allot/run/crew.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/recent.hpp"
#include "allot/run/view.hpp"

namespace allot {

/// Counts the events of a run and makes its view. Not thread-safe.
class Progress {
 public:
  Progress(const Job& job, Clock::time_point begin);

  // ---- events

  void found_done(TaskType type);    ///< by an earlier run
  void found_failed(TaskType type);  ///< finally, in an earlier run
  /// A task has its final record. `by_itself`: it did not fail because of another task.
  void ended(TaskType type, bool ok, bool by_itself = true);
  void retried() { ++view_.retried; }
  /// An attempt has ended after `seconds`.
  void attempt_ended(const RunningAttempt& attempt, double seconds, bool ok, Clock::time_point now);
  /// Sets how many tasks of the type wait for others.
  void waits(TaskType type, Count count) {
    view_.types[index(type)].waiting = static_cast<std::uint64_t>(count);
  }
  void phase(RunPhase phase) { view_.phase = phase; }
  void begin(Clock::time_point now) { begin_ = now; }
  /// Time that does not belong to the run.
  void paused(Clock::duration time) { paused_ += time; }

  // ---- the view

  /// Updates the view. `left`: by type, not started yet.
  void refresh(const Placer& placer, const Attempts& attempts, std::span<const Slot> slots,
               std::span<const Count> left, Clock::time_point now);
  const RunView& view() const noexcept { return view_; }
  std::uint64_t done_now() const noexcept { return done_now_; }
  std::uint64_t failed_now() const noexcept { return failed_now_; }
  std::uint64_t failed_by_itself() const noexcept { return failed_by_itself_; }  ///< in this run

  /// For the journal, from the last refreshed view.
  std::vector<LearntRate> rates(double time_unix) const;
  std::vector<Prediction> predictions(double time_unix) const;
  /// The linear program's bound for what this run did; absent if an untried pair could be fast.
  std::optional<double> bound() const;

 private:
  std::optional<System> system_at(int end) const;
  void refresh_types(const Placer& placer, const Attempts& attempts, Clock::time_point now);
  void refresh_resources(const Attempts& attempts, std::span<const Slot> slots, Clock::time_point now);
  void refresh_time_left(const Placer& placer, const Attempts& attempts, std::span<const Count> left);
  void estimate_time_left(const Placer& placer, std::span<const Count> left);

  const Job& job_;
  Clock::time_point begin_;
  Clock::duration paused_{};
  RunView view_;
  PerPair<std::uint64_t> done_by_pair_;
  /// Time of slots with a task, by resource: of all tasks that hold them, and only of the resource's own
  /// tasks, which is what the model counts energy by.
  struct SlotSeconds {
    double held = 0;
    double own = 0;
  };
  void add_time(const RunningAttempt& attempt, double seconds, std::vector<SlotSeconds>& to) const;
  std::vector<SlotSeconds> slot_s_;  // of attempts that have ended
  RecentCompletions recent_;
  double estimated_s_ = 0;  // time of the run at the last estimate of the time left
  double counted_s_ = 0;    // time of the run at the last countdown
  std::uint64_t done_now_ = 0;
  std::uint64_t failed_now_ = 0;
  std::uint64_t failed_by_itself_ = 0;
};

}  // namespace allot
