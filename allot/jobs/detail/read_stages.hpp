// The keys of a task type that say what it follows: `from`, `after`, `at_most` and `keep`.
#pragma once

#include <span>
#include <vector>

#include "allot/format/problems.hpp"
#include "allot/format/read_fields.hpp"
#include "allot/jobs/job.hpp"

namespace allot::detail {

/// Reads them into the types of the job, which are there already, one for each table. Reports unknown names,
/// circles and limits that would make tasks wait for ever; what is reported is left out of the job. Returns
/// the types in an order in which each follows the one it is from.
std::vector<TaskType> read_stages(std::span<const TableReader> tables, const format::Names& names, Job& job,
                                  Problems& problems);

/// What can be said only when the types are read: who is from a type has an output to take, and who limits or
/// removes outputs has somebody who takes them.
void check_stages(std::span<const TableReader> tables, const Job& job, Problems& problems);

}  // namespace allot::detail
