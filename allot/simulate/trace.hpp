// What happened when: an observer of single events.
#pragma once

#include <cstdint>

#include "allot/model/ids.hpp"

namespace allot {

/// One event of a simulation. Times in seconds since the start of the run.
struct TraceEvent {
  enum class What { kPlace, kStart, kComplete };  ///< a task enters a resource, first receives service, leaves
  What what = What::kPlace;
  double time = 0;
  std::uint64_t task = 0;    ///< numbered from 0 in the order of placement
  std::uint64_t thread = 0;
  TaskType type{};
  ResourceId resource{};
  double size = 0;
  double response = 0;       ///< of kComplete: seconds since it was placed
};

/// Receives events in the order of time. Called from one thread.
class TraceSink {
 public:
  virtual ~TraceSink() = default;
  virtual void event(const TraceEvent& event) = 0;
};

}  // namespace allot
