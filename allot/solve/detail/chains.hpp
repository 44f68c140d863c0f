// Moves of two types at once, for machines with pools of servers.
//
// At a resource with several servers a move often gains nothing as long as another type is there: the
// newcomer must push that one out. A chain does both: tasks of one type to a resource whose servers are all
// busy, tasks of another from there to where it does best.
#pragma once

#include <cstdint>

#include "allot/base/stop.hpp"
#include "allot/solve/detail/search_state.hpp"

namespace allot::detail {

/// Whether chains can help at all: some resource has several servers, or its tasks wait for each other.
bool chains_matter(const System& system) noexcept;

/// Applies the best chain that begins with type i, if it lowers the cost. `rated` counts the moves looked at.
bool improve_by_chain(SearchState& state, TaskType i, StopPoll& poll, std::uint64_t& rated);

}  // namespace allot::detail
