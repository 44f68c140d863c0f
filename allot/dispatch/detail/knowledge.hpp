// What the planner knows: types, resources, their rates, what may be used, what should be tried.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "allot/dispatch/detail/board.hpp"
#include "allot/dispatch/dispatcher.hpp"

namespace allot::detail {

/// Not thread-safe but for what it writes to the board.
class Knowledge {
 public:
  /// Throws InvalidModel when the system cannot be.
  Knowledge(Board& board, std::vector<Resource> resources, std::vector<TaskClass> types,
            std::vector<RatePrior> priors, const RateEstimatorOptions& estimator, double exploration);

  // ---- changes; all but reports ask for a new plan
  void set_count(TaskType i, Count count);
  void set_priorities(std::span<const double> priorities);
  TaskType add_type(const TaskClass& type, std::span<const RatePrior> by_resource);
  ResourceId add_resource(const Resource& resource, std::span<const RatePrior> by_type);
  void remove_type(TaskType i);
  void set_servers(ResourceId j, Count servers);
  void drain(ResourceId j);
  void lose(ResourceId j);
  void restore(ResourceId j);
  void disable(TaskType i, ResourceId j);
  void report_running(TaskType i, ResourceId j, std::span<const double> busy_seconds);

  /// Takes in what has completed since the last time; opens and closes circuit breakers; wishes for pairs to
  /// be tried. Returns how many completions there were.
  std::size_t look(double now);

  /// Whether rates have moved by more than their uncertainty since the latest `system`, or anything else has
  /// changed.
  bool outdated() const;
  /// The system as it is to be planned for now.
  System system();

  RateEstimate estimate(TaskType i, ResourceId j) const;
  std::optional<double> mean_seconds(TaskType i, ResourceId j) const;
  /// Throws InvalidModel unless there are such a type and such a resource.
  void check(TaskType i) const;
  void check(ResourceId j) const;

 private:
  enum class Presence : std::uint8_t { kHere, kDrained, kLost };

  struct Pair {
    bool exists = false;  ///< can run and was not disabled
    RateEstimator estimator;
    double planned_seconds = 0;  ///< in the latest system; 0: was unknown
    double explored_seconds = 0;
    std::uint64_t latest_sample = 0;  ///< number of all completions then
    bool questioned = false;          ///< since its latest sample
  };

  Pair& pair(TaskType i, ResourceId j) noexcept { return pairs_(i, j); }
  const Pair& pair(TaskType i, ResourceId j) const noexcept { return pairs_(i, j); }
  IdRange<TaskType> type_ids() const noexcept { return IdRange<TaskType>(types_.size()); }
  IdRange<ResourceId> resource_ids() const noexcept { return IdRange<ResourceId>(resources_.size()); }
  bool present(TaskType i, ResourceId j) const noexcept;
  void check_all() const;
  void make_pair(TaskType i, ResourceId j, const RatePrior& prior);
  void take(const Sample& sample);
  void open_and_close(double now);
  void make_wishes();
  bool has_moved(const Pair& known) const;
  bool worth_trying(TaskType i, ResourceId j, double fastest) const;

  Board& board_;
  RateEstimatorOptions estimator_options_;
  double exploration_;
  std::vector<Resource> resources_;
  std::vector<Presence> presence_;
  std::vector<TaskClass> types_;
  std::vector<bool> removed_;
  PerPair<Pair> pairs_;
  std::uint64_t completions_ = 0;
  double busy_seconds_ = 0;
  std::vector<double> budgets_;  ///< seconds for trying again what is not used, by resource and pair
  bool changed_ = true;
};

}  // namespace allot::detail
