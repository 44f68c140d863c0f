// What the tasks that run hold of slots and capacities: none is ever overdrawn, on no lane.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/stop.hpp"
#include "allot/jobs/job.hpp"
#include "allot/model/system.hpp"

namespace allot {

/// What one attempt holds, besides capacities without names for their units.
struct Holding {
  TaskType type{};
  ResourceId resource{};
  struct Server {
    ResourceId resource{};
    Count number = 0;
    double part = 1;
  };
  std::vector<Server> servers;  ///< of all resources; the slot that the task is known by comes first

  /// The numbers of those of a resource, as a list: "0,1,2".
  std::string list(ResourceId j) const;
};

/// Counts from the moment a task is handed to a lane until it is safe to say that it has ended. Where no task
/// of the job needs more than its slot there is nothing to count, and a slot is all that is held. Not
/// thread-safe.
class Holdings {
 public:
  explicit Holdings(const Job& job);

  /// Whether some task needs anything but a slot of its resource.
  bool any() const noexcept { return any_; }
  /// The job as a system in which everything that has a command has rate 1; nothing where nothing is counted.
  const std::optional<System>& shape() const noexcept { return shape_; }

  /// Whether a task can start: all that it would hold is free, and is not kept for somebody else.
  bool fits(TaskType i, ResourceId j) const noexcept;
  /// The same if nobody kept anything.
  bool is_room_for(TaskType i, ResourceId j) const noexcept;
  /// Whether it fits once all that runs has ended.
  bool will_fit(TaskType i, ResourceId j) const noexcept;
  /// Whether an idle slot may be given a task at all: behind a launcher nobody else holds this very one, else
  /// some of the resource is free.
  bool is_free(ResourceId j, Count slot) const noexcept;
  /// Of each capacity of the shape, those that are shared at their full amount; empty where nothing is
  /// counted.
  std::span<const double> free() const noexcept { return free_; }

  /// To be called only where there is room.
  Holding take(TaskType i, ResourceId j, Count slot);
  void give_back(const Holding& holding);
  /// The task was lost, or cannot be killed, and may still be there: until then, or until `release`.
  void give_back_at(Holding holding, Clock::time_point when);
  void keep_while_stuck(Holding holding, std::size_t slot);
  /// Those that cannot be killed, by the slot of the crew.
  std::span<const std::pair<std::size_t, Holding>> stuck() const noexcept { return stuck_; }
  Holding no_longer_stuck(std::size_t at);
  /// Gives back what is due.
  void wake(Clock::time_point now);
  Clock::time_point next() const noexcept;
  void slept(Clock::duration time) noexcept;
  /// Held by those that nobody waits for any more, with when it is given back.
  std::span<const std::pair<Clock::time_point, Holding>> lingering() const noexcept { return lingering_; }

  /// What a task of the pair needs is kept for it from now on; nothing: no more.
  void keep(std::optional<std::pair<TaskType, ResourceId>> pair) noexcept { kept_for_ = pair; }
  const std::optional<std::pair<TaskType, ResourceId>>& kept_for() const noexcept { return kept_for_; }

 private:
  std::span<const Draw> needs(TaskType i, ResourceId j) const noexcept { return shape_->needs(i, j); }
  bool is_enough(const Draw& draw, double free) const noexcept;
  /// What tasks hold of a capacity.
  double held_by(const PerPair<Count>& tasks, CapacityId capacity) const noexcept;
  void count(TaskType i, ResourceId j, Count change);
  void take_servers(ResourceId r, double amount, std::optional<Count> first, Holding& holding);

  bool any_ = false;
  std::optional<System> shape_;
  std::vector<bool> is_far_;  // by resource: behind a launcher
  PerPair<Count> tasks_;      // that hold, by pair
  PerPair<Count> lingering_tasks_;
  std::vector<double> free_;                  // by capacity
  std::vector<std::vector<double>> servers_;  // by resource: what is free of each
  std::vector<std::pair<Clock::time_point, Holding>> lingering_;
  std::vector<std::pair<std::size_t, Holding>> stuck_;
  std::optional<std::pair<TaskType, ResourceId>> kept_for_;
};

/// How many tasks can be at a resource at once: its servers, or more where tasks need parts of them.
Count places(const Job& job, ResourceId j);
/// The servers of the resource that a task of the type takes there.
double servers_taken(const JobTask& task, ResourceId j) noexcept;
/// The system of a job with the rates as given, its needs and capacities.
System job_system(const Job& job, std::span<const double> rates, std::span<const Count> counts);

}  // namespace allot
