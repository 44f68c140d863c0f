// An observer of single events.
#pragma once

#include <cstdint>
#include <string_view>

#include "allot/base/ids.hpp"

namespace allot {

/// One event of a simulation. Times in seconds since the start of the run.
struct TraceEvent {
  /// A task enters a resource, begins its service, leaves.
  enum class What { kPlace, kStart, kComplete };
  What what = What::kPlace;
  double time = 0;
  std::uint64_t task = 0;  ///< numbered from 0 in the order of placement
  std::uint64_t thread = 0;
  TaskType type{};
  ResourceId resource{};
  double size = 0;
  double response = 0;  ///< for kComplete: seconds since it was placed, or since it was ready if bound late
};

/// Receives events in order of time. The first ones are about tasks that were already in the system: when
/// each was placed and, if its service has begun, when it began. Called by one thread at a time.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  /// The events of a policy follow.
  virtual void begin(std::string_view) {}
  virtual void event(const TraceEvent& event) = 0;
};

}  // namespace allot
