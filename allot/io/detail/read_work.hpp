// The parts of a scenario document beside the system: threads, population and arrivals, which only simulation
// takes, and how the rates were measured.
#pragma once

#include <unordered_set>

#include "allot/io/detail/read_system.hpp"
#include "allot/model/scenario.hpp"

namespace allot::detail {

/// The names under `task` in population and arrivals, right or wrong.
std::unordered_set<std::string_view> types_with_other_work(const Node& root);

std::vector<ThreadGroup> read_threads(const TableReader& root, const SystemParts& parts, Problems& problems);
std::vector<PopulationChange> read_population(const TableReader& root, const SystemParts& parts,
                                              Problems& problems);
std::vector<Arrivals> read_arrivals(const TableReader& root, const SystemParts& parts, Problems& problems);
std::vector<MeasuredRate> read_measured(const TableReader& root, const SystemParts& parts,
                                        Problems& problems);

}  // namespace allot::detail
