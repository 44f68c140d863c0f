// Moves of two types at once, for machines with pools of servers.
//
// At a resource with several servers a move often gains nothing as long as another type is there: the new
// task must push the other type out. A chain does both: tasks of one type to a resource whose servers are all
// busy, tasks of another type from there to where they do best.
#pragma once

#include <cstdint>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/detail/search_state.hpp"

namespace allot::detail {

/// Whether chains can help at all: some resource has several servers, its tasks wait for each other, or tasks
/// have needs.
bool chains_matter(const System& system) noexcept;

/// Reusable buffers of a search for chains.
class Chains {
 public:
  /// Finds where tasks that leave a resource would do best. Call it before a round of `improve`.
  void look(const SearchState& state, StopPoll& poll);

  /// Applies the best chain that begins with type i, if it lowers the cost.
  bool improve(SearchState& state, TaskType i, StopPoll& poll);

  /// Moves rated so far.
  std::uint64_t rated() const noexcept { return rated_; }

 private:
  struct Exit {
    TaskType type{};
    ResourceId from{};
    ResourceId to{};
  };

  void rate(const SearchState& state, TaskType i, const Exit& exit);

  std::vector<Exit> exits_;
  std::uint64_t rated_ = 0;
  Chain best_;
  double best_change_ = 0;
};

}  // namespace allot::detail
