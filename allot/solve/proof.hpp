// Why no answer is better than a bound, as data: the source of a certificate.
//
// A proof is a tree of parts. Part 0 is the whole search. A part is either split in two, by the number of
// tasks that a resource may hold, in all or of one type, or it is closed: at its prices, nothing in it is
// better than the bound. docs/background/proofs.md explains why this is a proof.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/model/assignment.hpp"

namespace allot {

/// Prices at which a part is judged. The claim decides which of them are used.
struct ProofPrices {
  std::vector<double> task;        ///< per type: of a thread (throughput), of a completion (shares)
  std::vector<double> completion;  ///< per type, >= 0: of its floor; empty: all 0
  std::vector<double> unit;        ///< per resource, >= 0: of a server (shares only)
  std::vector<double> depth;       ///< per resource, >= 0: of its minimum depth (shares only)
};

/// One cut through a part: everything with at most `at` tasks at the resource (of the type, or in all) is in
/// part `low`, the rest in part `high`.
struct ProofSplit {
  ResourceId resource{};
  std::optional<TaskType> type;
  Count at = 0;
  std::size_t low = 0;
  std::size_t high = 0;
};

struct ProofPart {
  /// Applied in order: each set strikes out totals of resources that nothing better than the bound can have.
  std::vector<ProofPrices> prices;
  std::optional<ProofSplit> split;  ///< absent: the part is closed
};

struct Proof {
  /// Completions per second: no answer has more. Absent: nothing is feasible.
  std::optional<double> bound;
  std::vector<ProofPart> parts;
};

}  // namespace allot
