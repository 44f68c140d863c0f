// What bench_solvers finds: of each solver, at each size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "allot/model/scenario.hpp"

namespace bench {

/// Of one solver at one size: the first `throughput.size()` systems were solved.
struct Measured {
  std::optional<double> seconds;  ///< CPU seconds per solve, mean over the systems
  std::vector<double> throughput;
  std::vector<double> relaxed;
  int proven = 0;
  bool out_of_time = false;

  bool any() const { return seconds.has_value(); }
};

struct Size {
  std::size_t k = 0;
  std::vector<allot::Scenario> scenarios;
  std::vector<double> bound;
  double remaining_gap = 0;  ///< largest relative distance between the bound and the best answer of `exact`
  Measured best_fit, map, map_reused, local, exact, nlopt, scipy, cbc, exhaustive;
  double map_fastest = 0;                ///< seconds per solve in the fastest pass of `map_reused`
  std::uint64_t allocations_again = 0;   ///< in repeated solves of one system after the first
  std::uint64_t allocations_others = 0;  ///< in solves of the size's systems after one round over them

  const allot::System& system(std::size_t at) const { return scenarios[at].system; }
};

}  // namespace bench
