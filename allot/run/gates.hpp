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

/// Knows which tasks may be started. Tasks are known by their places in the list of items. Not thread-safe.
class Gates {
 public:
  Gates(const Job& job, std::span<const JobItem> items);

  /// What follows from something that happened.
  struct News {
    /// May be started from now on, in order.
    std::vector<std::size_t> open;
    /// Never can be: they have failed for the task named, each behind those that it waited for.
    struct Doomed {
      std::size_t task = 0;
      std::size_t cause = 0;
    };
    std::vector<Doomed> doomed;
    /// Their outputs are to be removed once all records up to now are durable.
    std::vector<std::size_t> removable;
  };

  /// Every task stands as the journal says. To be called once, first.
  News begin(std::span<const TaskState> states);
  /// A task, whether it was open or not, has its final record.
  News ended(std::size_t task, bool ok);
  /// An output is not there any more: room for another.
  News removed(std::size_t task);

  /// Tasks of the type that wait here.
  Count waiting(TaskType type) const noexcept { return kinds_[index(type)].waiting; }
  /// The same where they go on as others end one by one; 0 while they wait for a whole type.
  Count streaming(TaskType type) const noexcept;
  /// The tasks of the type that wait here, in order.
  std::vector<std::size_t> waiting_tasks(TaskType type) const;
  /// Outputs of the type that are being made, wait or are being worked on; only counted with `at_most`.
  Count in_use(TaskType type) const noexcept { return kinds_[index(type)].in_use; }

 private:
  enum class State : std::uint8_t { kWaits, kHeld, kOpen, kDone, kFailed };
  struct Kind {
    std::size_t first = 0;  // of its items
    std::size_t rows = 0;
    std::vector<std::size_t> takers;     // types
    std::vector<std::size_t> followers;  // types that come after all of this one
    std::int64_t before = 0;             // tasks not done of the types that it comes after
    Count waiting = 0;
    Count in_use = 0;
    std::deque<std::size_t> held;  // for room, in order
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
  std::vector<std::uint32_t>
      to_take_;  // by task: of those that take its output, how many have no final record
};

}  // namespace allot
