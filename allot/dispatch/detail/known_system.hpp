// What the planner knows: types, resources, rates, which pairs may be used, and which should be tried.
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

/// The dispatcher changes it (dispatcher_changes.cpp); learning and planning are here. Not thread-safe,
/// except for its writes to the counts.
struct KnownSystem {
  /// Throws InvalidModel if the system is impossible.
  KnownSystem(SharedCounts& shared, std::vector<Resource> given_resources, std::vector<TaskClass> given_types,
              const std::vector<RatePrior>& priors, const DispatcherOptions& options);

  /// Processes completions since the last call, opens and closes circuit breakers, and requests trials of
  /// pairs. Returns the number of completions.
  std::size_t look(double now);

  /// Whether rates have moved by more than their uncertainty since the latest `system`, or anything else has
  /// changed.
  bool outdated() const;
  /// The system to plan for now. A limit of a type without any known rate is left out.
  System system();
  /// Whether trials of some pair of a type with tasks are still needed: what the latest `system` says about
  /// limits and shares is a guess.
  bool is_learning() const;

  /// Under an open load: the most completions per second of each type, unlimited while nothing is known;
  /// otherwise empty.
  std::vector<double> ceilings();
  /// The arrivals of each type per second, if as many tasks are completed because threads submit tasks of any
  /// type; otherwise empty. For the latest `ceilings`.
  std::vector<double> arrivals() const;

  /// Sets up a new pair.
  void make_pair(TaskType i, ResourceId j, const RatePrior& prior);
  /// No more tasks of the pair, not even trials.
  void close(TaskType i, ResourceId j) noexcept {
    counts.set_access(i, j, Access::kClosed);
    counts.drop_trial(i, j);
  }
  /// Expects `count` tasks of the type from now on.
  void expect(TaskType i, Count count);
  /// Whether tasks of the type may be there, apart from an open breaker.
  bool present(TaskType i, ResourceId j) const noexcept;
  /// Throw InvalidModel unless there are such a type and such a resource.
  void check(TaskType i) const;
  void check(ResourceId j) const;
  /// Throws unless the resources, types and capacities form a valid system.
  void check_all() const { shape(); }

  /// The number of tasks of a type in plans, and the numbers seen.
  struct Population {
    static constexpr std::size_t kLooks = 8;  ///< looks that must agree that there are fewer
    static constexpr std::size_t kLong = 64;  ///< looks that must agree on a small difference

    Count planned = 0;
    std::array<Count, kLooks> seen{};  ///< at the latest looks
    std::size_t looks = 0;             ///< since the first task, or since another number was expected
    std::size_t differs = 0;           ///< consecutive looks that would have planned for another number
    bool ended = false;                ///< a task has ended since the previous look
    bool just_ended = false;           ///< a task has ended a moment before the look
    Count in_flight = 0;               ///< at the latest look
    double ended_now = 0;              ///< since then
    double arrived = 0;                ///< recent arrivals, with fading weight
    double planned_arrivals = 0;       ///< per second, in the latest system
    Count most = 0;                    ///< the most tasks in the latest eight looks
    Count highest = 0;                 ///< the largest of these numbers since the latest check for calm
    Count lowest = kMaxCount;          ///< likewise
    Count first = 0;                   ///< the first of these numbers
    Count completed = 0;               ///< tasks that have ended since then
    bool calm = false;                 ///< at the latest check for calm
    bool grew = false;                 ///< the latest change was an increase over the eight looks before
    std::uint32_t rises = 0;           ///< one bit per eight looks: it was more than before
    std::uint32_t turns = 0;           ///< one bit per eight looks: it began to grow or to fall
  };

  enum class Presence : std::uint8_t { kHere, kDrained, kLost };
  /// A pair is tried until its rate is based on this many completions.
  static constexpr double kLearnt = 1.9;  // two, one of them slightly faded
  /// A pair with a sample among this many completions of all pairs is in use, and notices a change of its
  /// resource itself.
  static constexpr std::uint64_t kInUse = 32;
  /// A pair without a sample in this many completions of all pairs has rested.
  static constexpr std::uint64_t kSoon = 16;

  struct Pair {
    bool exists = false;  ///< can run and was not disabled
    RateEstimator estimator;
    double planned_seconds = 0;       ///< in the latest system; 0: unknown
    double explored_seconds = 0;      ///< of servers
    double away_seconds = 0;          ///< the same with the time that these tasks waited
    double busy_seconds = 0;          ///< of all its tasks
    std::uint64_t latest_sample = 0;  ///< the number of all completions then
    double latest_end = 0;            ///< when it was completed
    bool questioned = false;          ///< since its latest sample
    std::uint64_t retries = 0;        ///< trials after a rest, since it was last in use
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
  /// The planner's own thread looks, at moments that have nothing to do with what the host does. A few looks
  /// see a task less, between its end and its successor, or one more, where the successor was submitted by
  /// the task itself and its end is not told yet: of eight looks the second largest number counts.
  bool looks_by_itself;
  std::vector<Resource> resources;
  std::vector<Capacity> capacities;
  std::vector<Presence> presence;
  std::vector<TaskClass> types;  ///< with the declared counts
  std::vector<Population> populations;
  std::vector<bool> removed;
  PerPair<Pair> pairs;
  std::uint64_t completions = 0;
  double busy_seconds = 0;
  std::vector<double> budgets;  ///< seconds for new trials of an unused pair, by resource
  bool changed = true;          ///< a new plan is needed
  bool open = may_be_open;      ///< tasks that end are not followed by tasks of their type: see Load::kOpen
  /// How tasks slow each other down; absent after a change.
  std::optional<EvenSharing> sharing;

 private:
  /// The system with rate 1 for every pair that can run.
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
  double least_seconds(TaskType i) const noexcept;
  double servers_kept_busy(TaskType i, ResourceId j) const;

  bool planned_learning_ = false;   ///< at the latest `system`
  bool shares_ = false;             ///< some capacity is shared: tasks slow each other down
  double looked_ = 0;               ///< when
  Count most_in_all_ = 0;           ///< tasks, since the latest check for calm
  Count least_in_all_ = kMaxCount;  ///< likewise, of the most in eight looks
  Count most_lately_ = 0;           ///< in the latest of these
  bool is_pool_ = false;            ///< the number of all tasks was the same while those of types were not
  std::size_t looks_for_calm_ = 0;  ///< the number of looks that have watched for calm
  double watched_ = 0;              ///< recent seconds in which arrivals were counted, with fading weight
  SpeedHistory speeds_;
  std::vector<double> present_;  ///< scratch: tasks of each pair
  std::vector<Count> seen_;      ///< scratch: tasks of each type
};

}  // namespace allot::detail
