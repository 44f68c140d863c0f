// The table of fields of job files: rows of their own, and those of scenarios that mean the same.
#pragma once

#include <span>

#include "allot/jobs/job.hpp"
#include "allot/model/fields.hpp"

namespace allot {

std::span<const Field<Resource>> job_resource_fields();
std::span<const Field<TaskClass>> job_task_fields();
std::span<const Field<Capacity>> job_capacity_fields();
/// Of the file itself.
std::span<const Field<Job>> job_fields() noexcept;

}  // namespace allot
