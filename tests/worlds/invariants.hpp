// What must hold in every world, after every turn of the loop and at its end.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allot/run/loop.hpp"
#include "tests/worlds/disk.hpp"
#include "tests/worlds/scene.hpp"

namespace allot::worlds {

/// Each function returns what is wrong, if something is.
class Invariants {
 public:
  Invariants(const Scene& scene, const Disk& disk, const RunLoop& loop);

  using Problem = std::optional<std::string>;

  /// A task begins to run.
  Problem executed(std::size_t task, Clock::time_point now);
  /// These were lost with their worker.
  void lost(const std::vector<std::uint64_t>& ids);
  /// An attempt has its record.
  Problem ended(const AttemptEnd& end, bool is_final, Clock::time_point now);
  /// An output is about to be removed.
  Problem removed(std::size_t task) const;
  Problem after_turn(Clock::time_point now);
  Problem at_end(const RunSummary& summary) const;
  /// The run is about to be told to end, or to pause.
  void told(Signal::Kind kind) {
    if (kind == Signal::Kind::kPause) return;
    time_is_up_ = kind == Signal::Kind::kTimeIsUp && loop_.phase() == RunPhase::kRunning;
  }
  /// Time has passed in which nothing could happen.
  void slept(Clock::duration time) {
    last_event_.reset();
    ordered_to_end_.reset();
    asleep_ += time;
  }

 private:
  Problem books(Clock::time_point now) const;
  Problem holdings() const;
  Problem idleness(Clock::time_point now);
  Problem limits(Clock::time_point now);
  Problem too_early(std::size_t task) const;
  Problem outputs_in_use() const;
  Problem stages_at_end(const RunSummary& summary) const;
  /// As the loop knows it: it has been told so, or the disk says so.
  enum class Fate { kNone, kDone, kFailed };
  Fate fate(std::size_t task) const;
  std::size_t task_of(TaskType type, std::size_t row) const { return first_[index(type)] + row; }
  bool startable(const Slot& slot, Clock::time_point now) const;
  std::string situation(Clock::time_point now) const;

  const Scene& scene_;
  const Disk& disk_;
  const RunLoop& loop_;
  double patience_s_ = 0;                              ///< idling that a plan may want at the most
  std::set<std::pair<std::size_t, int>> lost_shared_;  ///< attempts lost together with others
  std::map<std::size_t, int> attempts_now_;
  std::vector<std::size_t> first_;                  ///< by type: its first task
  std::vector<std::vector<TaskType>> takers_;       ///< by type
  std::map<std::size_t, bool> ended_;               ///< tasks with a final record of this run: well or not
  std::map<std::size_t, Clock::time_point> began_;  ///< by task, of its latest attempt; sleep not counted
  Clock::duration asleep_{};
  std::optional<Clock::time_point> last_event_;  ///< a start or an end
  std::optional<Clock::time_point> ordered_to_end_;
  bool time_is_up_ = false;  ///< which alone ends the run
  std::uint64_t seen_ = 0;   ///< attempts that have ended
  std::uint64_t last_events_ = 0;
};

}  // namespace allot::worlds
