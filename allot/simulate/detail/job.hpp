// A task as a station sees it.
#pragma once

#include <cstdint>

#include "allot/simulate/detail/queues.hpp"

namespace allot::detail {

/// The thread of a task, its type, and how many seconds of one server it needs.
struct Job {
  ThreadId thread = 0;
  std::uint32_t type = 0;
  double work = 0;
};

}  // namespace allot::detail
