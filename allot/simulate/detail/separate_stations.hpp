// Independent resources: a station for each, and which of them is due first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/detail/job.hpp"
#include "allot/simulate/detail/queues.hpp"
#include "allot/simulate/detail/stations.hpp"

namespace allot::detail {

/// Which stations a loop may meet. If all are of one kind, it need not check.
enum class Mix { kAny, kShared, kSingle };

/// What an engine knows about the stations it is made for.
struct StationsSetup {
  bool binds_late = false;
  bool by_shares = false;  ///< the policy has time shares
  bool exact_shares = true;
};

template <typename QueueKind, typename Due>
class SeparateStations {
 public:
  using Queue = QueueKind;
  static constexpr bool kJoint = false;

  SeparateStations(const System& system, const StationsSetup& setup) : due_(system.resource_count()) {
    for (const Resource& resource : system.resources()) {
      if (setup.binds_late) {
        stations_.emplace_back(LateStation<Queue>(resource));
      } else {
        stations_.push_back(
            make_station<Queue>(resource, system.type_count(), setup.by_shares, setup.exact_shares));
      }
    }
    const auto all_are = [&](std::size_t kind) {
      return std::all_of(stations_.begin(), stations_.end(),
                         [&](const Station<Queue>& station) { return station.index() == kind; });
    };
    mix_ = all_are(0) ? Mix::kShared : all_are(1) ? Mix::kSingle : Mix::kAny;
  }

  Mix mix() const noexcept { return mix_; }

  /// Where the next event happens, and when.
  std::size_t first() const noexcept { return due_.first(); }
  double due(std::size_t slot) const noexcept { return due_.due(slot); }
  std::size_t resource_of(std::size_t slot) const noexcept { return slot; }

  /// Calls `use` with the station of a resource.
  template <Mix kMix, typename Use>
  [[gnu::always_inline]] decltype(auto) use_station(std::size_t j, Use&& use) {
    Station<Queue>& station = stations_[j];
    if constexpr (kMix == Mix::kAny) {
      return with_station(station, use);
    } else {
      constexpr std::size_t kKind = kMix == Mix::kShared ? 0 : 1;
      if (station.index() != kKind) __builtin_unreachable();
      return use(*std::get_if<kKind>(&station));
    }
  }

  template <Mix kMix>
  [[gnu::always_inline]] bool leave(std::size_t slot, double now, ThreadId& thread) {
    return use_station<kMix>(slot, [&](auto& station) { return station.leave(now, thread); });
  }
  template <Mix kMix>
  [[gnu::always_inline]] void enter(std::size_t j, double now, const Job& job) {
    use_station<kMix>(j, [&](auto& station) { station.enter(now, job); });
  }
  /// Call it after all changes at one moment; calls `then` with the station.
  template <Mix kMix, typename Then>
  [[gnu::always_inline]] void settle(std::size_t j, double now, Then&& then) {
    use_station<kMix>(j, [&](auto& station) {
      station.settle(now);
      due_.set(j, station.due);
      then(station);
    });
  }

  double remaining(std::size_t j, double now) {
    return with_station(stations_[j], [&](auto& station) { return station.remaining(now); });
  }
  void set_shares(const Policy& policy, std::size_t types, double now) {
    detail::set_shares(stations_, policy, types, now);
  }
  void rebase() noexcept {
    for (Station<Queue>& station : stations_) with_station(station, [](auto& s) { s.rebase(); });
  }

  /// Late binding: the station that takes tasks.
  LateStation<Queue>& taker(std::size_t j) noexcept {
    return *std::get_if<LateStation<Queue>>(&stations_[j]);
  }

  /// From now on, `started` receives the tasks whose service begins. Calls `use` with the tasks in service
  /// and their end, at stations where not all tasks are in service.
  template <typename Use>
  void watch(std::vector<ThreadId>& started, Use&& use) {
    for (Station<Queue>& station : stations_) {
      with_station(station, [&](auto& s) {
        if constexpr (requires { s.started; }) {
          s.started = &started;
          s.for_each_running(use);
        }
      });
    }
  }

 private:
  Due due_;
  std::vector<Station<Queue>> stations_;
  Mix mix_ = Mix::kAny;
};

}  // namespace allot::detail
