// Where branch and price splits a part of the search in two.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/detail/column_pricing.hpp"
#include "allot/solve/detail/configuration_bound.hpp"

namespace allot::detail {

/// Totals of a resource up to `at`, and those above.
struct TotalCut {
  ResourceId resource{};
  Count at = 0;
};

/// Counts of a type at a resource up to `at`, and those above.
struct CountCut {
  ResourceId resource{};
  std::size_t type = 0;  ///< among the types of the resource's pricer
  Count at = 0;
};

/// At the mean of the total that the linear program spreads most; nothing if it mixes no totals.
std::optional<TotalCut> undecided_total(const System& system, const std::vector<WeightedContent>& support);

/// In the middle of the widest range of totals; nothing if every total is known.
std::optional<TotalCut> widest_total(const System& system, const std::vector<ColumnDomain>& domains);

/// At the mean of the count that the program spreads most; nothing if it mixes no counts.
std::optional<CountCut> undecided_count(const System& system, const ConfigurationBound& bound,
                                        const std::vector<WeightedContent>& support);

/// In the middle of the widest range of a count; nothing if the domains hold a single assignment.
std::optional<CountCut> widest_count(const System& system, const ConfigurationBound& bound,
                                     const std::vector<ColumnDomain>& domains);

/// The smallest value of every count: the assignment itself if the domains hold only one.
Assignment least_counts(const System& system, const ConfigurationBound& bound,
                        const std::vector<ColumnDomain>& domains);

}  // namespace allot::detail
