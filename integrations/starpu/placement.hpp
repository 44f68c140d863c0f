// Where the tasks of a scheduling context wait and which is next, even if their number differs from the plan.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "allot/dispatch/lines.hpp"
#include "integrations/starpu/held_task.hpp"

namespace allot::starpu {

/// Each task waits in the line of its type at the resource where the dispatcher placed it. A resource next
/// takes the type with the least service relative to its part of the plan, and within the type the most
/// urgent task (`Lines`).
///
/// Tasks may change lines: a resource with fewer tasks of a type than planned takes one that still waits
/// elsewhere. So a device with one task in the plan does not idle until the program has submitted the next,
/// and tasks that were placed by an older plan follow the new one.
///
/// A plan is made for certain numbers of tasks in flight. While the numbers are similar, it is followed.
/// Otherwise, as in a task graph that widens and narrows, each task goes where it is expected to end first.
///
/// Under a policy that binds late, tasks wait for no particular resource, and a worker takes the next task of
/// the plan (`LateDispatch`). Before it idles, it takes a task that cannot run where the plan has its type.
///
/// Not thread-safe. Independent of StarPU.
class Placement {
 public:
  using Accepts = std::function<bool(const HeldTask&)>;

  explicit Placement(Lines::WhenAhead when_ahead) : lines_({when_ahead}), when_ahead_(when_ahead) {}

  /// From now on the dispatcher's policy binds late. Call it before the first task.
  void bind_late(Dispatcher& dispatcher, Clock::time_point now = Clock::now()) {
    late_.emplace(dispatcher, now);
  }
  bool binds_late() const noexcept { return late_.has_value(); }

  /// Sets the numbers of types and resources; they never decrease. New resources have one server.
  void resize(std::size_t types, std::size_t resources);
  std::size_t types() const noexcept { return types_; }
  std::size_t resources() const noexcept { return columns_.size(); }
  /// 0: its workers have left; tasks that wait there are for the others.
  void set_servers(ResourceId j, Count servers) { columns_[index(j)].servers = static_cast<double>(servers); }

  /// Puts the task at the resource of its ticket. A pinned task is counted but does not wait. A task that was
  /// taken out keeps its turn. Under late binding a task has no ticket before it is taken.
  void put(HeldTask& task);
  /// A task that the program has bound to a worker of the resource of its ticket, which is created here.
  void pin(HeldTask& task, Clock::time_point now, Dispatcher& dispatcher);
  /// Removes a waiting task, as if it had never been put.
  void take_out(HeldTask& task);
  /// Where a waiting task can run from now on.
  void set_able(HeldTask& task, ResourceSet able);
  /// The next task for a worker of a resource, among those that `accepts` allows; null: none. Its ticket is
  /// then for that resource.
  HeldTask* take(ResourceId j, double now, Dispatcher& dispatcher, const Accepts& accepts);
  /// Gives back a task that was taken and could not be started.
  void put_back(HeldTask& task);
  /// A task that was taken or pinned has ended after `seconds`; absent: unknown. Its ticket goes back to the
  /// dispatcher.
  void end(const HeldTask& task, std::optional<double> seconds, Clock::time_point now,
           Dispatcher& dispatcher);
  /// All waiting tasks, in order of arrival.
  std::vector<HeldTask*> waiting_tasks() const;

  /// Under late binding: whether the plan gives the type a part of the resource.
  bool plan_has(TaskType i, ResourceId j) const noexcept;

  /// When to ask again for a resource that idles on purpose (`allot-weighted`).
  std::optional<double> idle_until(ResourceId j) const { return columns_[index(j)].idle_until; }

  Count waiting() const noexcept { return lines_.waiting(); }
  Count in_flight() const noexcept;
  Count in_flight(TaskType i) const noexcept { return rows_[index(i)].in_flight; }
  Count in_flight(TaskType i, ResourceId j) const noexcept { return cell(i, j).in_flight; }
  /// Tasks of the type that wait anywhere and could run at the resource.
  Count could_run(TaskType i, ResourceId j) const noexcept { return cell(i, j).could_run; }
  /// Tasks of the type that were first put at the resource.
  std::uint64_t placed(TaskType i, ResourceId j) const noexcept { return cell(i, j).placed; }
  /// Tasks that moved from the place where they were put.
  std::uint64_t moved() const noexcept { return moved_; }

  /// Maximum tasks of each type in flight since the last call.
  std::vector<Count> take_peaks();
  /// Follows a new plan: waiting tasks move to where the plan lacks them.
  void follow(const Plan& plan, Dispatcher& dispatcher);

  /// Whether the number of tasks of the type, with one more, is close to the planned number.
  bool fits_plan(TaskType i) const noexcept { return fits(rows_[index(i)], 1); }
  /// Where a task is expected to end first, among `able`, by the mean times of the latest plan and the
  /// transfer times of its data (seconds by resource; empty: none). An unknown time counts as the shortest
  /// known one, and a resource gets no more tasks with unknown times than it can run at once while there is
  /// another place.
  ResourceId soonest(TaskType i, ResourceSet able, std::span<const double> transfers = {}) const;

 private:
  struct Cell {
    Count in_flight = 0;  ///< waiting or running
    Count could_run = 0;  ///< waiting anywhere
    std::uint64_t placed = 0;
    Count target = 0;
    double seconds = 0;  ///< mean time of a task; 0: unknown
  };
  struct Row {
    Count in_flight = 0;
    Count peak = 0;
    Count planned = 0;   ///< N_i of the plan
    double fastest = 0;  ///< the shortest known mean time; 0: none is known
    bool has_target = false;
  };
  struct Column {
    double servers = 1;
    Count tasks = 0;
    std::optional<double> idle_until;  ///< after the latest `take`
  };

  Cell& cell(TaskType i, ResourceId j) noexcept { return cells_(i, j); }
  const Cell& cell(TaskType i, ResourceId j) const noexcept { return cells_(i, j); }
  IdRange<TaskType> type_ids() const noexcept { return IdRange<TaskType>(types_); }
  IdRange<ResourceId> resource_ids() const noexcept { return IdRange<ResourceId>(columns_.size()); }
  /// Mean time of a task, or the shortest known one of its type; 0: unknown.
  double expected_seconds(TaskType i, ResourceId j) const noexcept {
    const double known = cell(i, j).seconds;
    return known > 0 ? known : rows_[index(i)].fastest;
  }
  bool may_try(TaskType i, ResourceId j) const noexcept;
  double backlog(ResourceId j) const;
  static bool fits(const Row& row, Count more) noexcept;
  bool may_take(TaskType i, ResourceId j, ResourceId from) const;
  bool better_at(ResourceId k, TaskType i, ResourceId j) const;
  bool better_elsewhere(const HeldTask& task, ResourceId j) const;
  WaitingTask* candidate(TaskType i, ResourceId j, const Accepts& accepts) const;
  HeldTask* take_late(ResourceId j, double now, const Accepts& accepts);
  bool is_stranded(const HeldTask& task) const noexcept;
  void tell_waiting(TaskType i) {
    if (late_) late_->set_waiting(i, static_cast<Count>(lines_.unbound(i).size()));
  }
  void count(const HeldTask& task, Count change);
  void count_there(const HeldTask& task, Count change);
  void count_waiting(const HeldTask& task, Count change);
  void count_move(ResourceId from, const HeldTask& task);
  void move_surplus(TaskType i, ResourceId from, ResourceId to, Dispatcher& dispatcher);
  void weigh(const Plan& plan);

  Lines lines_;
  Lines::WhenAhead when_ahead_;
  std::optional<LateDispatch> late_;
  std::size_t types_ = 0;
  PerPair<Cell> cells_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::uint64_t moved_ = 0;
  std::vector<WaitingTask*> candidates_;  ///< scratch of `take`
};

}  // namespace allot::starpu
