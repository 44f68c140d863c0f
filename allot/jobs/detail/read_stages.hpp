// The keys of a task type for its dependencies: `from`, `after`, `at_most` and `keep`.
#pragma once

#include <span>
#include <vector>

#include "allot/format/problems.hpp"
#include "allot/format/read_fields.hpp"
#include "allot/jobs/job.hpp"

namespace allot::detail {

/// Reads them into the types of the job, which already exist, one per table. Reports unknown names, cycles,
/// and limits that would make tasks wait forever; whatever is reported is left out of the job. Returns the
/// types in an order in which each comes after the type that it is from.
std::vector<TaskType> read_stages(std::span<const TableReader> tables, const format::Names& names, Job& job,
                                  Problems& problems);

/// Checks that require all types: a type in a `from` has an output, and a type that limits or removes its
/// outputs has another type that takes them.
void check_stages(std::span<const TableReader> tables, const Job& job, Problems& problems);

}  // namespace allot::detail
