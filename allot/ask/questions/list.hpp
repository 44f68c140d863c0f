// The built-ins, each with a line of description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "allot/solve/solution.hpp"

namespace allot {

/// Something that a user can name, with a line of description.
struct Named {
  std::string_view name;
  std::string_view summary;
  std::string_view parameters;        ///< of a distribution: its parameters with their defaults
  std::vector<Objective> objectives;  ///< of a solver: what it can optimise
  bool needs_shares = false;          ///< a policy, as all that follows: the types must have priorities
  bool needs_assignment = false;
  bool needs_file = false;  ///< a distribution
};

/// Everything built in, in the order of the tables.
struct Listing {
  std::vector<Named> solvers;
  std::vector<Named> policies;
  std::vector<Named> distributions;
  std::vector<Named> disciplines;
};

Listing builtin_listing();

/// One array per kind that has entries.
std::string listing_json(const Listing& listing);

}  // namespace allot
