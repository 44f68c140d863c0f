// Holds the best assignment: under processor sharing with constant counts no policy can do better (Lemma 1).
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/best.hpp"

namespace allot::policies {
namespace {

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  SolveOptions search;
  search.stop = options.solve;
  search.start = options.start;
  return detail::make_target_policy(
      system,
      detail::shared_evenly(
          system,
          [search](const System& populated) { return detail::target_of(best_known(populated, search)); }),
      options.load);
}

}  // namespace

extern const PolicyInfo optimal;
const PolicyInfo optimal{.name = "optimal",
                         .summary = "keeps to the best assignment known, usually proven optimal",
                         .make = make,
                         .looks_at = Looks::kOwnCounts};

}  // namespace allot::policies
