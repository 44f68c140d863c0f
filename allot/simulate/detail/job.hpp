// A task as a station sees it.
#pragma once

#include <cstdint>

#include "allot/simulate/detail/queues.hpp"

namespace allot::detail {

/// Whose it is, of which type, and how many seconds of one unit it needs.
struct Job {
  ThreadId thread = 0;
  std::uint32_t type = 0;
  double work = 0;
};

}  // namespace allot::detail
