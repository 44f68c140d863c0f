// A state in which tasks have needs, as a search sees it.
//
// Resources whose tasks draw on a common capacity make a group. What a group completes follows from its own
// tasks alone, so a move fills only the groups anew where tasks come or go.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "allot/model/filling.hpp"
#include "allot/model/system.hpp"
#include "allot/model/throughput.hpp"

namespace allot::detail {

/// Tasks that come to a resource (n > 0), or leave.
struct Shift {
  TaskType type{};
  ResourceId resource{};
  Count n = 0;
};

/// No number in it is kept up by differences, so that it depends on the tasks alone.
class FilledState {
 public:
  FilledState() = default;
  /// Without a task. The system, for which even sharing must have a formula, must outlive the state.
  explicit FilledState(const System& system);

  /// Brings the state to the counts, row after row.
  void place(std::span<const Count> counts);

  /// Value per second.
  double value() const noexcept { return value_; }
  /// X_i.
  void throughputs(std::span<double> by_task) const noexcept;

  /// The value after the shifts, of which there are at most four, minus the value now.
  double value_change(std::span<const Shift> shifts) { return foresee(shifts); }
  /// X_i after the shifts.
  void throughputs_after(std::span<const Shift> shifts, std::span<double> by_task);
  void apply(std::span<const Shift> shifts);

  /// How many more tasks of a type the capacities that it draws on at a resource can take without anybody's
  /// getting less; never below 0.
  Count room(TaskType i, ResourceId j) const noexcept;

  std::size_t group_count() const noexcept { return groups_.size(); }

 private:
  struct Pair {
    PairId id;
    double rate = 0;
    double value_rate = 0;
  };
  /// Where nothing but single servers of one resource is drawn on, the law of part one says it all.
  struct Group {
    std::vector<Pair> pairs;
    std::optional<EvenSharing> sharing;
    Discipline discipline = Discipline::kPs;
    Count servers = 1;
    std::vector<double> tasks;
    std::vector<double> completed;  // X_ij
    double value = 0;
  };
  /// A group after the shifts.
  struct Foreseen {
    std::size_t group = 0;
    std::vector<double> tasks;
    std::vector<double> completed;
    double value = 0;
  };

  void join(std::vector<std::size_t>& group_of) const;
  double complete(Group& group, std::span<const double> tasks, std::vector<double>& completed);
  double foresee(std::span<const Shift> shifts);
  void add_up() noexcept;

  const System* system_ = nullptr;
  std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // by resource
  std::vector<std::size_t> at_;        // by pair of the system: the place in its group
  std::vector<double> drawn_;          // by capacity: what all tasks together would take
  std::vector<Foreseen> foreseen_;
  std::size_t touched_ = 0;  // how many of them
  double value_ = 0;
};

/// No state has more value than this: every server busy with what brings most on it, or every thread.
double most_value(const System& system) noexcept;

}  // namespace allot::detail
