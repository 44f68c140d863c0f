// Which of the waiting tasks a resource takes next: the choice *within* a resource.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "allot/base/ids.hpp"

namespace allot {

/// Takes next the type with the least (service received / weight) among those that have a task waiting; ties
/// go to the lowest index. A type that comes back after an absence starts at the present minimum: it gets
/// nothing for the time it was away, except under a plan (kIdleFarAhead), where others kept it away.
///
/// With the counts n_ij of a resource as weights, a device that runs one task after another completes at
/// the rate of processor sharing; with the time shares f_ij of `weighted`, every type gets its share.
///
/// Not thread-safe: use one for each resource, where its tasks are started. Calls cost O(T), without
/// allocation.
class ServiceOrder {
 public:
  enum class WhenAhead {
    kServe,         ///< a server never idles while a task waits (even sharing, `floor` shares)
    kIdle,          ///< a type that has had its weight's share of the time so far waits (`exact` shares)
    kIdleFarAhead,  ///< the same, but only if it is ahead by more than two of its tasks (planned service)
  };

  explicit ServiceOrder(std::size_t types, WhenAhead when_ahead = WhenAhead::kServe);

  /// One weight for each type; for kServe in any unit, for the others in servers of this resource (f_ij). A
  /// type without a weight, such as one that is only tried here, gets 1% of the sum, so that no task waits
  /// forever. All weights are 1 before the first call. There may be more types than before. A type that is
  /// ahead stays ahead by the same seconds of service; one that had no weight gets nothing for that time.
  void set_weights(std::span<const double> weights);
  void set_weights(std::span<const Count> counts);
  /// Mean seconds of service of each type, used until a task of it has been seen; 0: unknown.
  void expect(std::span<const double> seconds);

  /// No type is behind or ahead any more.
  void settle() noexcept;

  /// The type to start now, or none if nothing waits or all waiting types are ahead.
  /// `waiting` has one count for each type; `now` is any clock in seconds that never goes back. Set
  /// `idling_helps` to false if leaving a server idle would help no type now; it has no effect under kServe.
  std::optional<TaskType> next(std::span<const Count> waiting, double now, bool idling_helps = true);

  /// A task started by `next` has ended, after this many seconds of service.
  void served(TaskType i, double seconds);
  /// A task chosen by `next` could not be started, as if it had not been chosen.
  void given_back(TaskType i);

  /// Under a plan (not kServe): `reached` is the time by which the plan gives a type as much as it has
  /// received, including the expected service of its tasks in service. `may_start`: whether its next task is
  /// due by now.
  double reached(TaskType i) const noexcept { return accounts_[index(i)].tag; }
  bool may_start(TaskType i, double now) const noexcept;
  /// Mean seconds between two tasks of a type by the plan.
  double turn(TaskType i) const noexcept {
    return accounts_[index(i)].mean_service / accounts_[index(i)].weight;
  }

  /// After `next` returned none although tasks wait: when to ask again. Otherwise
  /// absent.
  std::optional<double> idle_until() const noexcept { return idle_until_; }

 private:
  template <typename Number>
  void weigh(std::span<const Number> weights);

  struct Account {
    double weight = 1;
    double tag = 0;      ///< service received / weight, in virtual time
    double charged = 0;  ///< the expected service of the tasks in service
    Count in_service = 0;
    double mean_service = 0;  ///< of its latest tasks
    bool present = false;     ///< had a task waiting or in service at the latest call
    bool is_stray = false;    ///< it has the weight of a type without one
  };
  double earliest_start(Account& account) const noexcept;
  static double take_charge(Account& account) noexcept;

  WhenAhead when_ahead_;
  std::vector<Account> accounts_;
  double minimum_ = 0;       ///< least tag among those present, never falling
  double now_ = 0;           ///< time of the latest `next`
  double stray_ = 0;         ///< the weight of a type without one
  double longest_turn_ = 0;  ///< the longest time between two tasks of a type by the plan, in seconds
  std::optional<double> idle_until_;
};

}  // namespace allot
