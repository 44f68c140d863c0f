// The best known answer for a system, the same for all callers.
#pragma once

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// Steps of work that `best_known` spends by default: about 0.2 s. They are counted, not timed, so that the
/// answer depends only on the system and the seed.
inline constexpr std::uint64_t kBestSteps = 400'000;

/// The assignment with the most throughput that a short portfolio finds (`map`, `local`, then `exact`),
/// always with an upper bound. It is never worse than the answer of any of them, and proven optimal if
/// `exact` proves it. Commands, policies and Python ask this function for "the best"; `certify`, and the page
/// after its quick answer, call `exact` without the limit. `options.start` is an additional assignment to
/// start from. Thread-safe.
Solution best_known(const System& system, const SolveOptions& options = {});

}  // namespace allot
