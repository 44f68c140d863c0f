// How far a run has come, and what it promises: the numbers that are shown and noted down.
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

/// Keeps the counts of a run and turns them into its view. Not thread-safe.
class Progress {
 public:
  Progress(const Job& job, Clock::time_point begin);

  // ---- what happens

  void found_done(TaskType type);    ///< by an earlier run
  void found_failed(TaskType type);  ///< for good, in an earlier run
  /// With its final record. `by_itself`: not because another task failed.
  void ended(TaskType type, bool ok, bool by_itself = true);
  void retried() { ++view_.retried; }
  /// An attempt has ended after so many seconds at the resource.
  void attempt_ended(TaskType type, ResourceId resource, double seconds, bool ok, Clock::time_point now);
  /// So many of the type wait for others.
  void waits(TaskType type, Count count) {
    view_.types[index(type)].waiting = static_cast<std::uint64_t>(count);
  }
  void phase(RunPhase phase) { view_.phase = phase; }
  void begin(Clock::time_point now) { begin_ = now; }
  /// Time that is no part of the run.
  void paused(Clock::duration time) { paused_ += time; }

  // ---- what is seen

  /// Brings the view up to date. `left`: by type, not started yet.
  void refresh(const Placer& placer, const Attempts& attempts, std::span<const Slot> slots,
               std::span<const Count> left, Clock::time_point now);
  const RunView& view() const noexcept { return view_; }
  std::uint64_t done_now() const noexcept { return done_now_; }
  std::uint64_t failed_now() const noexcept { return failed_now_; }
  std::uint64_t failed_by_itself() const noexcept { return failed_by_itself_; }  ///< in this run

  /// As the journal keeps them; of the view as it was refreshed last.
  std::vector<LearntRate> rates(double time_unix) const;
  std::vector<Prediction> predictions(double time_unix) const;
  /// The linear program's bound for what this run did; nothing where a pair that nobody tried could be fast.
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
  std::vector<double> busy_s_;
  RecentCompletions recent_;
  double estimated_s_ = 0;  // of the run, when the time left was estimated
  double counted_s_ = 0;    // when it was counted down
  std::uint64_t done_now_ = 0;
  std::uint64_t failed_now_ = 0;
  std::uint64_t failed_by_itself_ = 0;
};

}  // namespace allot
