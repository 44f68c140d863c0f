// The rates of a task type: a table of resource names and numbers.
#pragma once

#include <utility>
#include <vector>

#include "allot/io/detail/read_fields.hpp"

namespace allot::detail {

using RateRow = std::vector<std::pair<ResourceId, double>>;

/// Rates as they stand there: whether they can be is for the rules to say. Returns whether all could be read.
bool read_rates(const Node& node, const Names& resources, RateRow& row, Problems& problems);

}  // namespace allot::detail
