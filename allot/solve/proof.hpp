// Why no answer is better than a bound, as data: what a certificate is written from.
//
// A proof is a tree of parts. The whole of the search is part 0; a part is either split in two, by how many
// tasks a resource may hold, in all or of one type, or it is closed: at its prices nothing in it is better
// than the bound. docs/background/proofs.md says why that convinces.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/model/assignment.hpp"

namespace allot {

/// Prices at which a part is judged. Which of them are used depends on what is proven.
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
  /// First to last: strikes out the totals of resources that cannot be in anything better than the bound.
  std::vector<ProofPrices> prices;
  std::optional<ProofSplit> split;  ///< absent: nothing is left to split
};

struct Proof {
  /// Completions per second: nothing has more. Absent: nothing is feasible at all.
  std::optional<double> bound;
  std::vector<ProofPart> parts;
};

}  // namespace allot
