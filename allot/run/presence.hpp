// Whether a resource has a worker that can run tasks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"
#include "allot/run/crew.hpp"

namespace allot {

/// A resource without a worker for two seconds is left out of plans, because its launcher may wait in a queue
/// for hours. A resource whose workers repeatedly could not be opened is gone, perhaps only for a while. Not
/// thread-safe.
class Presence {
 public:
  explicit Presence(std::size_t resources) : resources_(resources) {}

  enum class Change {
    kAway,  ///< plan without it
    kBack,  ///< plan with it again
  };
  struct News {
    ResourceId resource{};
    Change change{};
    friend bool operator==(const News&, const News&) = default;
  };
  /// The changes since the last call, from the state of the slots.
  std::vector<News> look(std::span<const Slot> slots, Clock::time_point now);

  /// All its slots are given up for now, as of the last look.
  bool gone(ResourceId j) const noexcept { return resources_[index(j)].gone; }
  bool planned(ResourceId j) const noexcept { return resources_[index(j)].planned; }
  /// When `look` may find news even if no slot changes.
  Clock::time_point next() const noexcept;
  /// Time during which this process could not act.
  void slept(Clock::duration time) noexcept;

 private:
  struct Resource {
    bool planned = true;
    bool gone = false;
    std::optional<Clock::time_point> absent_since;
  };
  std::vector<Resource> resources_;
};

}  // namespace allot
