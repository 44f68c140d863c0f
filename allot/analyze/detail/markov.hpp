// Finite Markov chains in continuous time: closed classes, the probability of ending in each, and the long
// run within.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"

namespace allot::detail {

/// Rates q(s, t) > 0 from state to state, s != t; those out of s are [begin[s], begin[s + 1]).
struct Generator {
  std::vector<std::size_t> begin = {0};
  std::vector<std::uint32_t> target;
  std::vector<double> rate;

  std::size_t size() const noexcept { return begin.size() - 1; }
};

/// Strongly connected components of the graph of a generator.
struct Components {
  std::vector<std::uint32_t> of;  ///< component of each state
  std::vector<std::vector<std::uint32_t>>
      members;               ///< successors first: an edge leads to a lower or the same number
  std::vector<bool> closed;  ///< no rate leads out
};

/// Tarjan's algorithm, without recursion.
Components components(const Generator& chain);

struct ClosedClass {
  std::vector<std::uint32_t> states;
  double chance = 0;               ///< of ending here
  std::vector<double> stationary;  ///< long-run part of the time in each of `states`, once here
};

struct LongRunOptions {
  std::size_t largest_direct =
      3000;  ///< systems of more equations are solved by iteration, if that converges
};

/// The closed classes and where the chain ends from the start. Balance holds to a relative 1e-12; throws
/// InvalidModel if rates are so far apart that this cannot be reached. Incomplete if the poll says stop.
std::vector<ClosedClass> long_run(const Generator& chain,
                                  std::span<const std::pair<std::uint32_t, double>> start, StopPoll& poll,
                                  const LongRunOptions& options = {});

}  // namespace allot::detail
