// Descent over larger moves than MAP's, and restarts from where it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/base/stop.hpp"
#include "allot/solve/detail/chains.hpp"
#include "allot/solve/detail/search_state.hpp"

namespace allot::detail {

/// How often a search checks the clock: about every 4,000 additions. Between two checks, it rates the moves
/// of one type from one place.
std::uint32_t poll_stride(const System& system, Objective objective) noexcept;

/// The cost of rating a move in steps, beyond the check between moves; high if tasks have many needs.
std::uint64_t steps_per_rating(const System& system) noexcept;

/// Walks a state downhill until no move helps: some or all tasks of a type from one resource to another, all
/// tasks of a type to one resource, swaps of two types between two resources, and, with pools of servers,
/// chains over three. Bulk moves matter because the throughput is convex in the number of slow tasks at a
/// resource: only an extreme is good, and single moves climb towards the wrong one.
class LocalSearch {
 public:
  /// Called after every kept move; may be empty.
  using Visitor = std::function<void(const SearchState&)>;

  explicit LocalSearch(StopPoll& poll, Visitor visitor = {}) : poll_(poll), visitor_(std::move(visitor)) {}

  void descend(SearchState& state);

  /// Repeats: displace tasks of a few types (or clear out a resource, or open or close one that has a minimum
  /// depth), descend, keep the result if it is no worse. Ends when
  /// `evaluations` more moves have been rated. The state is left at the best assignment found.
  void perturb(SearchState& state, RandomStream& random, std::uint64_t evaluations);

  /// Moves rated so far.
  std::uint64_t evaluations() const noexcept { return evaluations_; }

 private:
  bool improve_by_moves(SearchState& state, TaskType i);
  bool improve_by_gathering(SearchState& state, TaskType i);
  bool improve_by_swaps(SearchState& state);
  bool improve_by_chains(SearchState& state);
  void throw_off(SearchState& state, RandomStream& random);
  void clear_out(SearchState& state, RandomStream& random);
  void turn(SearchState& state, RandomStream& random);
  void apply(SearchState& state, const Exchange& exchange);
  bool advances(SearchState& state);
  void pay();
  bool should_stop() {
    if (steps_per_rating_ > 0) pay();
    return poll_.should_stop();
  }

  /// A type at a resource.
  struct Spot {
    TaskType i{};
    ResourceId j{};
  };

  StopPoll& poll_;
  Visitor visitor_;
  std::uint64_t evaluations_ = 0;
  std::uint64_t evaluations_paid_ = 0;
  std::uint64_t steps_per_rating_ = 0;
  std::uint64_t moves_ = 0;
  double cost_checked_ = 0;
  std::vector<Spot> spots_;  // buffers, kept to save allocations
  std::vector<Exchange> chain_;
  Assignment trial_;
  Chains chains_;
  std::size_t next_chain_ = 0;
};

}  // namespace allot::detail
