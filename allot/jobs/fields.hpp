// The table of fields of job files: their own rows, and the rows of scenarios with the same meaning.
#pragma once

#include <span>

#include "allot/jobs/job.hpp"
#include "allot/model/fields.hpp"

namespace allot {

std::span<const Field<Resource>> job_resource_fields();
std::span<const Field<TaskClass>> job_task_fields();
std::span<const Field<Capacity>> job_capacity_fields();
/// Fields of the file itself.
std::span<const Field<Job>> job_fields() noexcept;

}  // namespace allot
