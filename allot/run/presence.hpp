// Whether anybody is there to run what is sent to a resource.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/stop.hpp"
#include "allot/run/crew.hpp"

namespace allot {

/// A resource without a worker for two seconds is planned without: its launcher may wait in a queue for
/// hours. One whose workers could not be opened time and again is gone, which may pass. Not thread-safe.
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
  /// What has changed, from the state of the slots.
  std::vector<News> look(std::span<const Slot> slots, Clock::time_point now);

  /// All its slots have been given up for now. Known since the last look.
  bool gone(ResourceId j) const noexcept { return resources_[index(j)].gone; }
  bool planned(ResourceId j) const noexcept { return resources_[index(j)].planned; }
  /// When `look` may find news although no slot changes.
  Clock::time_point next() const noexcept;
  /// Time during which nothing could happen.
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
