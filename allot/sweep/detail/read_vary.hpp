// Reads a `[[vary]]` of a sweep file: which fields it changes, and to which values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/format/problems.hpp"
#include "allot/sweep/sweep_reader.hpp"

namespace allot::detail {

inline constexpr Count kMostValues = 10'000;

struct Vary {
  SweepAxis axis;
  std::vector<std::vector<std::string>> paths;  ///< one per field, into the scenario or the [generate] table
  const Node* node = nullptr;
};

Vary read_vary(const Node& node, bool is_generated, Problems& problems);

/// Absent also for an infinity.
std::optional<double> finite_number(const Node& node);

/// The value as a document holds it. A whole number stays a whole number.
Node::Content content_of(const Cell& cell);

}  // namespace allot::detail
