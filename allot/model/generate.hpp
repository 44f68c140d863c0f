// Random systems in the shape of the paper's experiments.
#pragma once

#include <cstdint>

#include "allot/model/scenario.hpp"

namespace allot {

/// Which rate of a type, or of a resource, is the largest.
enum class AffinityRule {
  kRow,      ///< each type is fastest at its home (the paper's prose; the default)
  kColumn,   ///< each resource is fastest for its own type (the paper's printed rule)
  kOrdered,  ///< every type is fastest on resource 1, then 2, ... (big.LITTLE)
  kNone,     ///< rates as drawn
};

struct GenerateOptions {
  std::size_t general = 2;      ///< GPs
  std::size_t specialized = 1;  ///< SAs, each with its own type
  Count threads = 18;           ///< Q; at least one per type
  AffinityRule rule = AffinityRule::kRow;
  double lowest_rate = 0;
  double highest_rate = 1;
  bool priorities = false;  ///< weights drawn from U(0.05, 1)
  bool powers = false;      ///< busy watts drawn from U(1, 10)
  std::uint64_t seed = 1;
};

/// A random scenario with as many types as resources; the home of type i is resource i. Rates are independent
/// U(lowest, highest) wherever a type may run, then ordered by the rule. Every type has one thread; each
/// further thread has a type drawn uniformly. The same options give the same scenario on every platform.
/// Throws InvalidModel for options that no scenario satisfies.
Scenario generate(const GenerateOptions& options);

}  // namespace allot
