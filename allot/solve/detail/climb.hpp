// MAP's climb (paper Algorithms 1-3) under every discipline, with floors and minimum depths.
#pragma once

#include "allot/base/stop.hpp"
#include "allot/solve/detail/search_state.hpp"
#include "allot/solve/options.hpp"

namespace allot::detail {

/// Walks the state uphill until a full pass changes nothing or the poll says stop. For each accelerator's
/// type, OptSA takes tasks from the accelerator to the resource where one helps most; for each type, OptGP
/// takes tasks from where one hurts least to where it helps most. A move is rated in O(1), so a pass without
/// a move costs O(T R), or O(T R^2) if floors or minimum depths make the two ends depend on each other.
inline constexpr std::string_view kSensitivityWords[] = {"exact", "derivative"};
inline constexpr Setting kSensitivity{
    .name = "sensitivity",
    .help = "score a move by the exact difference (default) or by the derivative",
    .words = kSensitivityWords};

void climb(SearchState& state, Sensitivity sensitivity, MapMoves moves, StopPoll& poll);

/// If the best resource to take a task from is also the best to bring one to, uses the better of the two
/// runners-up. `next_from` and `next_to` give the best apart from one resource.
template <typename End, typename From, typename To>
void part_ends(End& from, End& to, const From& next_from, const To& next_to) {
  if (from.resource != to.resource) return;
  const End other_to = next_to(to.resource);
  const End other_from = next_from(from.resource);
  if (from.value + other_to.value >= other_from.value + to.value) {
    to = other_to;
  } else {
    from = other_from;
  }
}

/// Continues with chains of two types (chains.hpp), and climbs again after each.
void exchange(SearchState& state, StopPoll& poll);

bool has_fcfs(const System& system) noexcept;

/// Whether every resource shares evenly and nothing else constrains the state: then SharedClimb makes the
/// same moves, faster.
bool shares_evenly(const System& system) noexcept;

}  // namespace allot::detail
