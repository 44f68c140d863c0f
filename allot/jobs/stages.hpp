// Dependencies between the task types of a job: which type uses whose outputs, and which type waits for
// which.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"

namespace allot {

/// Whether any type has a `from` or an `after`.
bool has_stages(const Job& job) noexcept;

/// The first type in the chain of `from` that leads to the type, perhaps itself. Its inputs identify the
/// tasks.
TaskType first_stage(const Job& job, TaskType type) noexcept;

/// By type: the types that use its outputs, in the order of the file.
std::vector<std::vector<TaskType>> takers(const Job& job);

/// All types, each after those that it is from or comes after. Types in a cycle, which a validated job does
/// not have, are left out.
std::vector<TaskType> stage_order(const Job& job);

/// A shortest path from `first` to `last` along which each type waits for the next, including both; empty if
/// `first` does not wait for `last`. `limited`: a type with `at_most` also waits for the types that take its
/// outputs. O(types).
std::vector<TaskType> way_of_waiting(const Job& job, TaskType first, TaskType last, bool limited);

/// The columns of a type that is from another type with these columns: its input, the other type's input as
/// `from`, and the other columns as `from.NAME`.
std::vector<std::string> columns_from(const std::vector<std::string>& columns);

/// Fills in the inputs of types that are from another type: the outputs of that type. Each such type already
/// has its columns, and the other type has an output.
void fill_stages(Job& job);

}  // namespace allot
