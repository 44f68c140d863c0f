// What the planner knows: types, resources, their rates, what may be used, what should be tried.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "allot/dispatch/detail/shared_counts.hpp"
#include "allot/dispatch/detail/speed_history.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/model/filling.hpp"

namespace allot::detail {

/// Changed by the dispatcher (dispatcher_changes.cpp), learned from and planned for here. Not thread-safe but
/// for what it writes to the counts.
struct KnownSystem {
  /// Throws InvalidModel when the system cannot be.
  KnownSystem(SharedCounts& shared, std::vector<Resource> given_resources, std::vector<TaskClass> given_types,
              const std::vector<RatePrior>& priors, const DispatcherOptions& options);

  /// Takes in what has completed since the last time; opens and closes circuit breakers; asks for pairs to be
  /// tried. Returns how many completions there were.
  std::size_t look(double now);

  /// Whether rates have moved by more than their uncertainty since the latest `system`, or anything else has
  /// changed.
  bool outdated() const;
  /// The system as it is to be planned for now.
  System system();

  /// Under an open load: the most of each type that can complete per second, without bounds while nothing is
  /// known; else empty.
  std::vector<double> ceilings();
  /// And what arrives of each type per second, if as much is completed because threads submit tasks of any
  /// type; else empty. For the latest `ceilings`.
  std::vector<double> arrivals() const;

  /// Of a pair that is new.
  void make_pair(TaskType i, ResourceId j, const RatePrior& prior);
  /// Nothing more goes there, not even to try it.
  void close(TaskType i, ResourceId j) noexcept {
    counts.set_access(i, j, Access::kClosed);
    counts.drop_trial(i, j);
  }
  /// So many tasks of the type are expected from now on.
  void expect(TaskType i, Count count);
  /// Whether tasks of the type may be there, but for a breaker that is open.
  bool present(TaskType i, ResourceId j) const noexcept;
  /// Throw InvalidModel unless there are such a type and such a resource.
  void check(TaskType i) const;
  void check(ResourceId j) const;
  /// Throws if the resources, types and capacities that are there make no system.
  void check_all() const { shape(); }

  /// How many tasks of a type are planned for, and how many were seen.
  struct Population {
    static constexpr std::size_t kLooks = 8;  ///< that must agree that there are fewer
    static constexpr std::size_t kLong = 64;  ///< that must agree on a small difference

    Count planned = 0;
    std::array<Count, kLooks> seen{};  ///< at the latest looks
    std::size_t looks = 0;             ///< since the first task, or since another number was expected
    std::size_t differs = 0;           ///< looks in a row that would have planned for another number
    bool ended = false;                ///< a task has, since the look before
    bool just_ended = false;           ///< a moment before the look
    Count in_flight = 0;               ///< at the latest look
    double ended_now = 0;              ///< since then
    double arrived = 0;                ///< tasks that have come, of late
    double planned_arrivals = 0;       ///< per second, in the latest system
    Count most = 0;                    ///< seen in the latest eight looks of their own
    Count highest = 0;                 ///< of those, since calm was looked for
    Count lowest = kMaxCount;          ///< likewise
    Count first = 0;                   ///< of those, the first
    Count completed = 0;               ///< tasks that have ended since then
    bool calm = false;                 ///< when calm was looked for
    bool grew = false;                 ///< it was more than in the eight before, when it last differed
    std::uint32_t rises = 0;           ///< when it was more than before: a bit for each eight looks
    std::uint32_t turns = 0;           ///< when it began to grow or to fall: a bit for each eight looks
  };

  enum class Presence : std::uint8_t { kHere, kDrained, kLost };
  /// A pair is tried until so many completions are behind its rate.
  static constexpr double kLearnt = 1.9;  // two, one of them faded a little
  /// Completions of all pairs within which a pair is in use, and will notice a change of its resource itself.
  static constexpr std::uint64_t kInUse = 32;
  /// And after which it has rested.
  static constexpr std::uint64_t kSoon = 16;

  struct Pair {
    bool exists = false;  ///< can run and was not disabled
    RateEstimator estimator;
    double planned_seconds = 0;  ///< in the latest system; 0: was unknown
    double explored_seconds = 0;
    double busy_seconds = 0;          ///< of all its tasks
    std::uint64_t latest_sample = 0;  ///< number of all completions then
    double latest_end = 0;            ///< when it was completed
    bool questioned = false;          ///< since its latest sample
    std::uint64_t retries = 0;        ///< tries after a rest, since it was in use
  };

  Pair& pair(TaskType i, ResourceId j) noexcept { return pairs(i, j); }
  const Pair& pair(TaskType i, ResourceId j) const noexcept { return pairs(i, j); }
  IdRange<TaskType> type_ids() const noexcept { return IdRange<TaskType>(types.size()); }
  IdRange<ResourceId> resource_ids() const noexcept { return IdRange<ResourceId>(resources.size()); }

  SharedCounts& counts;
  RateEstimatorOptions estimator_options;
  double exploration;
  bool follow_counts;
  bool may_be_open;
  std::vector<Resource> resources;
  std::vector<Capacity> capacities;
  std::vector<Presence> presence;
  std::vector<TaskClass> types;  ///< with the counts that were declared
  std::vector<Population> populations;
  std::vector<bool> removed;
  PerPair<Pair> pairs;
  std::uint64_t completions = 0;
  double busy_seconds = 0;
  std::vector<double> budgets;  ///< seconds for trying again what is not used, by resource and pair
  bool changed = true;          ///< a new plan is asked for
  bool open = may_be_open;      ///< tasks that end are not followed by tasks of their type: see Load::kOpen
  /// How tasks slow each other down; absent: not known since something has changed.
  std::optional<EvenSharing> sharing;

 private:
  /// Everything that can run anywhere, at rate 1.
  System shape() const;
  System made(std::vector<TaskClass> tasks, PerPair<double> rates) const;
  void look_at_counts(double now);
  void look_whether_open(bool is_burst);
  bool have_been_calm();
  double fastest_rate(TaskType i) const noexcept;
  static void look_for_turns(Population& population, Count most);
  void look_at_speeds(double now);
  void take(const Sample& sample, double now);
  void open_and_close(double now);
  void ask_for_trials(double now);
  bool has_moved(const Pair& known) const;
  bool may_belong(TaskType i, ResourceId j) const;
  bool worth_trying(TaskType i, ResourceId j, double fastest, double now) const;
  double servers_kept_busy(TaskType i, ResourceId j) const;

  bool shares_ = false;             ///< some capacity is shared: tasks slow each other down
  double looked_ = 0;               ///< when
  Count most_in_all_ = 0;           ///< tasks, since calm was looked for
  Count least_in_all_ = kMaxCount;  ///< likewise, of the most in eight looks
  Count most_lately_ = 0;           ///< in the latest of these
  bool is_pool_ = false;            ///< the number of all tasks was the same while those of types were not
  std::size_t looks_for_calm_ = 0;  ///< of all times
  double watched_ = 0;              ///< seconds in which tasks have come of late
  SpeedHistory speeds_;
  std::vector<double> present_;  ///< scratch: tasks of each pair
  std::vector<Count> seen_;      ///< scratch: tasks of each type
};

}  // namespace allot::detail
