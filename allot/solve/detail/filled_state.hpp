// A state in which tasks have needs, as a search sees it.
//
// Resources whose tasks draw on a common capacity form a group. The completions of a group depend only on its
// own tasks, so a move refills only the groups where tasks come or go.
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

/// Updates no number by differences, so that every value depends on the tasks alone.
class FilledState {
 public:
  FilledState() = default;
  /// Starts without tasks. Even sharing must have a formula for the system, which must outlive the state.
  explicit FilledState(const System& system);

  /// Sets the counts, row-major.
  void place(std::span<const Count> counts);

  /// Value per second.
  double value() const noexcept { return value_; }
  /// X_i.
  void throughputs(std::span<double> by_task) const noexcept;

  /// The value after the shifts (at most four) minus the value now.
  double value_change(std::span<const Shift> shifts) { return foresee(shifts); }
  /// X_i after the shifts.
  void throughputs_after(std::span<const Shift> shifts, std::span<double> by_task);
  void apply(std::span<const Shift> shifts);

  /// How many more tasks of a type a resource can take without any task getting less of a capacity; never
  /// below 0.
  Count room(TaskType i, ResourceId j) const noexcept;

  std::size_t group_count() const noexcept { return groups_.size(); }

 private:
  struct Pair {
    PairId id;
    double rate = 0;
    double value_rate = 0;
  };
  /// If tasks take nothing but single servers of one resource, there is no `sharing`: the discipline's own
  /// formula applies.
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
  std::vector<std::size_t> at_;        // by pair of the system: its position in its group
  std::vector<double> drawn_;  // by capacity: what all tasks together would take if nothing were limited
  std::vector<Foreseen> foreseen_;
  std::size_t touched_ = 0;  // how many of them
  double value_ = 0;
};

/// No state has more value than this: every server, or every thread, works on what brings most.
double most_value(const System& system) noexcept;

}  // namespace allot::detail
