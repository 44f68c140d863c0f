// The slots and capacities that running tasks hold: none is ever exceeded, on any lane.
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

/// The servers that one attempt holds. Other capacities have no numbered units.
struct Holding {
  TaskType type{};
  ResourceId resource{};
  struct Server {
    ResourceId resource{};
    Count number = 0;
    double part = 1;
  };
  std::vector<Server>
      servers;  ///< of all resources; the slot of the task comes first, whole ones before parts

  /// The numbers of the servers of a resource, as a list: "0,1,2".
  std::string list(ResourceId j) const;
};

/// Whether there is room for a need of slots, by the free part of each slot: the whole part of a need takes
/// entirely free slots, and the rest is within one other slot.
bool have_room(std::span<const double> free, double amount) noexcept;
/// Takes slots of r; call it only if there is room. `first` goes before other entirely free slots. A part is
/// taken from the fullest slot that has room, so that others stay entirely free.
void take_slots(std::span<double> free, ResourceId r, double amount, std::optional<Count> first,
                std::vector<Holding::Server>& taken);

/// Counts a task from when it is passed to a lane until it has certainly ended. If no task of the job needs
/// more than its slot, nothing is counted, and a task holds only its slot. Not thread-safe.
class Holdings {
 public:
  explicit Holdings(const Job& job);

  /// Whether some task needs anything besides a slot of its resource.
  bool any() const noexcept { return any_; }
  /// The job as a system in which every pair with a command has rate 1; absent if nothing is counted.
  const std::optional<System>& shape() const noexcept { return shape_; }

  /// Whether a task can start: everything that it would hold is free and not kept for another task.
  bool fits(TaskType i, ResourceId j) const;
  /// The same without regard to what is kept.
  bool is_room_for(TaskType i, ResourceId j) const noexcept;
  /// Whether it fits once all running tasks have ended.
  bool will_fit(TaskType i, ResourceId j) const;
  /// Whether an idle slot may be given a task: behind a launcher, no other task holds this slot; otherwise,
  /// some of the resource is free.
  bool is_free(ResourceId j, Count slot) const noexcept;
  /// Free amount of each capacity of the shape (shared capacities: full amount); empty if nothing is counted.
  std::span<const double> free() const noexcept { return free_; }

  /// Call it only if there is room.
  Holding take(TaskType i, ResourceId j, Count slot);
  void give_back(const Holding& holding);
  /// The task was lost, or cannot be killed, and may still be running: it holds its part until then, or until
  /// the slot is no longer stuck.
  void give_back_at(Holding holding, Clock::time_point when);
  void keep_while_stuck(Holding holding, std::size_t slot);
  /// The tasks that cannot be killed, by slot of the crew.
  std::span<const std::pair<std::size_t, Holding>> stuck() const noexcept { return stuck_; }
  Holding no_longer_stuck(std::size_t at);
  /// Gives back the holdings whose time has come.
  void wake(Clock::time_point now);
  Clock::time_point next() const noexcept;
  void slept(Clock::duration time) noexcept;
  /// Holdings of tasks that are no longer waited for, with the time when they are given back.
  std::span<const std::pair<Clock::time_point, Holding>> lingering() const noexcept { return lingering_; }

  /// Keeps room for a task of the pair from now on; absent: stops that.
  void keep(std::optional<std::pair<TaskType, ResourceId>> pair) noexcept { kept_for_ = pair; }
  const std::optional<std::pair<TaskType, ResourceId>>& kept_for() const noexcept { return kept_for_; }

 private:
  std::span<const Draw> needs(TaskType i, ResourceId j) const noexcept { return shape_->needs(i, j); }
  bool is_enough(const Draw& draw, double free) const noexcept;
  /// The amount of a capacity that tasks hold.
  double held_by(const PerPair<Count>& tasks, CapacityId capacity) const noexcept;
  bool is_room(const Draw& draw) const noexcept;
  void count(TaskType i, ResourceId j, Count change);

  bool any_ = false;
  std::optional<System> shape_;
  std::vector<bool> is_far_;  // by resource: behind a launcher
  PerPair<Count> tasks_;      // tasks that hold something, by pair
  PerPair<Count> lingering_tasks_;
  std::vector<double> free_;                  // by capacity
  std::vector<std::vector<double>> servers_;  // by resource: free part of each server
  std::vector<std::pair<Clock::time_point, Holding>> lingering_;
  std::vector<std::pair<std::size_t, Holding>> stuck_;
  std::optional<std::pair<TaskType, ResourceId>> kept_for_;
};

/// Maximum tasks at a resource at once: its servers, or more if tasks need parts of them.
Count places(const Job& job, ResourceId j);
/// The servers of the resource that a task of the type occupies there.
double servers_taken(const JobTask& task, ResourceId j) noexcept;
/// The system of a job with the given rates, its needs and capacities.
System job_system(const Job& job, std::span<const double> rates, std::span<const Count> counts);

}  // namespace allot
