// What each task of a pipeline waits for: the task whose output it takes, the types that it comes after, and
// room for its own output.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/jobs/job.hpp"
#include "allot/jobs/run_journal.hpp"

namespace allot {

/// Knows which tasks may start. Tasks are identified by their position in the list of items. Not thread-safe.
class Gates {
 public:
  Gates(const Job& job, std::span<const JobItem> items);

  /// The consequences of an event.
  struct News {
    /// Tasks that may start from now on, in order.
    std::vector<std::size_t> open;
    /// Tasks that can never start: they have failed because of the task `cause`. Each comes after the tasks
    /// that it waited for.
    struct Doomed {
      std::size_t task = 0;
      std::size_t cause = 0;
    };
    std::vector<Doomed> doomed;
    /// Tasks whose output can be removed once all records up to now are durable.
    std::vector<std::size_t> removable;
  };

  /// Sets every task to its state in the journal. Call it once, first.
  News begin(std::span<const TaskState> states);
  /// A task, open or not, has its final record.
  News ended(std::size_t task, bool ok);
  /// An output was removed: there is room for another.
  News removed(std::size_t task);

  /// Number of tasks of the type that wait here.
  Count waiting(TaskType type) const noexcept { return kinds_[index(type)].waiting; }
  /// The same if they become ready one by one; 0 while they wait for a whole type.
  Count streaming(TaskType type) const noexcept;
  /// The tasks of the type that wait here, in order.
  std::vector<std::size_t> waiting_tasks(TaskType type) const;
  /// Outputs of the type that are being made, waiting or in use; counted only with `at_most`.
  Count in_use(TaskType type) const noexcept { return kinds_[index(type)].in_use; }

 private:
  enum class State : std::uint8_t { kWaits, kHeld, kOpen, kDone, kFailed };
  struct Kind {
    std::size_t first = 0;  // of its items
    std::size_t rows = 0;
    std::vector<std::size_t> takers;     // types
    std::vector<std::size_t> followers;  // types that come after all of this one
    std::int64_t before = 0;             // unfinished tasks of the types that it comes after
    Count waiting = 0;
    Count in_use = 0;
    std::deque<std::size_t> held;  // tasks that wait for room, in order
  };

  std::size_t type_of(std::size_t task) const noexcept { return index(items_[task].type); }
  std::size_t before(std::size_t task) const noexcept;
  bool has_failed_before(std::size_t task) const noexcept;
  std::size_t cause_of(std::size_t task) const noexcept;
  void try_to_open(std::size_t task, News& news);
  void admit(std::size_t type, News& news);
  void done(std::size_t task, News& news);
  void fail(std::size_t task, News& news);
  void doom(std::size_t task, std::size_t cause, News& news);
  void doom_followers(std::size_t task, std::size_t cause, News& news);
  void leave(std::size_t task, State state);
  void has_taken(std::size_t task, News& news);
  void all_have_taken(std::size_t task, News& news);
  void free_room(std::size_t type, News& news);

  const Job& job_;
  std::span<const JobItem> items_;
  std::vector<Kind> kinds_;
  std::vector<State> states_;
  std::vector<std::uint32_t> to_take_;  // by task: number of takers of its output without a final record
};

}  // namespace allot
