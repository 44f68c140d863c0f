// Lines in which ready tasks wait for a free server, and the choice of the task that it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/dispatch/line.hpp"
#include "allot/policy/service_order.hpp"

namespace allot {

/// There is a line for each pair of a type and a resource, for tasks that are *bound* to the resource, and a
/// line for each type, for *unbound* tasks that any resource with a part for them may take (late binding). A
/// host uses either or both.
///
/// A free server takes, among the types with a task for it, the one that has received the least service
/// relative to its weight there (`ServiceOrder`), or, if a resource is set to kArrival, the earliest task.
/// Tasks that are bound to a resource come before those of the same type that are not. A type without weight
/// at a resource takes nothing from its unbound line there.
///
/// Hosts own the tasks, which must not move while they wait. Not thread-safe: use it under a lock or from one
/// thread. A decision is O(types), everything else O(1), without allocation once the lines have been as full
/// before.
class Lines {
 public:
  using WhenAhead = ServiceOrder::WhenAhead;
  struct Options {
    WhenAhead when_ahead = WhenAhead::kServe;
    /// A trial that is the first of its line goes before all others at its resource; no order counts it.
    bool trials_first = true;
  };
  enum class Order : std::uint8_t {
    kService,
    kArrival,  ///< first come, first served
  };

  explicit Lines(const Options& options) : options_(options) {}

  /// Space for this many of each; never less than before. New pairs have weight 1 at first.
  void resize(std::size_t types, std::size_t resources);
  std::size_t types() const noexcept { return unbound_.size(); }
  std::size_t resources() const noexcept { return columns_.size(); }

  // ---- waiting

  /// Waits at the resource of its ticket. A task that was here before keeps its turn.
  void put(WaitingTask& task);
  /// Waits in the line of its type, for any resource.
  void put_unbound(WaitingTask& task);
  /// Removes a waiting task.
  void remove(WaitingTask& task) noexcept;
  /// Gives a waiting task another ticket of the same type: at another resource, or bound from now on. It
  /// keeps its turn.
  void rebind(WaitingTask& task, const Ticket& ticket);

  const Line& line(TaskType i, ResourceId j) const noexcept { return cells_(i, j).line; }
  const Line& unbound(TaskType i) const noexcept { return unbound_[index(i)]; }
  Count waiting() const noexcept { return waiting_; }
  Count waiting(TaskType i) const noexcept { return waiting_by_type_[index(i)]; }

  // ---- taking

  /// The task of the type that a server of the resource would take; null: none.
  WaitingTask* first(TaskType i, ResourceId j) const noexcept;
  /// The task that a free server of the resource starts now; null: there is none, or all types with a task
  /// have had their part. `available(type)`: whether a task of the type can start there at all, for example
  /// because its needs are free. `now` is any clock in seconds that never goes back. `idling_helps`: false if
  /// leaving a server idle would help no type now.
  template <typename Available>
  WaitingTask* take(ResourceId j, double now, const Available& available, bool idling_helps = true) {
    for (std::size_t i = 0; i < types(); ++i) {
      WaitingTask* const task = first(task_type(i), j);
      candidates_[i] = task != nullptr && available(task_type(i)) ? task : nullptr;
    }
    return take_one(j, now, candidates_, idling_helps);
  }
  /// The same among tasks that the host has found itself: one per type or null, waiting in any line. The host
  /// must change the ticket of a task that was not bound to this resource.
  WaitingTask* take_one(ResourceId j, double now, std::span<WaitingTask* const> candidates,
                        bool idling_helps = true);
  /// A task that the resource has taken could not be started: it waits at the resource of its ticket, or
  /// unbound.
  void put_back(WaitingTask& task, ResourceId j);
  /// A task has ended after this many seconds at a resource: call it for all tasks that were taken
  /// `in_order`.
  void served(TaskType i, ResourceId j, double seconds) { column(j).order.served(i, seconds); }
  /// When to ask a resource again that stays idle on purpose; absent: it does not idle on purpose.
  std::optional<double> idle_until(ResourceId j) const noexcept;

  // ---- the plan

  /// How much each type should get of the resource, see `ServiceOrder::set_weights`.
  void set_weights(ResourceId j, std::span<const double> weights);
  double weight(TaskType i, ResourceId j) const noexcept { return cells_(i, j).weight; }
  void set_order(ResourceId j, Order order) noexcept { column(j).by_arrival = order == Order::kArrival; }

 private:
  struct Cell {
    Line line;
    double weight = 1;
  };
  struct Column {
    ServiceOrder order;
    bool by_arrival = false;
  };

  Column& column(ResourceId j) noexcept { return columns_[index(j)]; }
  Line& line_of(const WaitingTask& task) noexcept {
    return task.unbound ? unbound_[index(task.ticket.type)]
                        : cells_(task.ticket.type, task.ticket.resource).line;
  }
  void enter(WaitingTask& task);
  WaitingTask* chosen(ResourceId j, double now, std::span<WaitingTask* const> candidates, bool idling_helps);

  Options options_;
  PerPair<Cell> cells_;
  std::vector<Line> unbound_;
  std::vector<Column> columns_;
  std::vector<Count> waiting_by_type_;
  Count waiting_ = 0;
  std::uint64_t arrivals_ = 0;
  std::vector<WaitingTask*> candidates_;  ///< scratch of `take`
  std::vector<Count> offer_;              ///< scratch of `take_one`
};

}  // namespace allot
