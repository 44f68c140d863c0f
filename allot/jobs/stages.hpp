// How the task types of a job depend on each other: which uses the output of which, and which waits for
// which.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"

namespace allot {

/// Whether any type has a `from` or an `after`.
bool has_stages(const Job& job) noexcept;

/// Where the inputs of the type come from in the end: the first type on the way along `from`, perhaps itself.
/// Its tasks are known by the inputs there.
TaskType first_stage(const Job& job, TaskType type) noexcept;

/// By type: the types that use its outputs, in the order of the file.
std::vector<std::vector<TaskType>> takers(const Job& job);

/// All types, each behind those that it is from or comes after. Types on a circle, which no job that was
/// read has, are left out.
std::vector<TaskType> stage_order(const Job& job);

/// A shortest way on which `first` waits for `last`, both with it; empty where it does not. `limited`: a type
/// with `at_most` waits for those that take its outputs, too. O(types).
std::vector<TaskType> way_of_waiting(const Job& job, TaskType first, TaskType last, bool limited);

/// The columns of a type that is from one with these: its input, the other's input as `from`, and the columns
/// of the other as `from.NAME`.
std::vector<std::string> columns_from(const std::vector<std::string>& columns);

/// Gives the types that are from another their inputs, which are outputs of the other. Each such type has its
/// columns already, and the other has an output.
void fill_stages(Job& job);

}  // namespace allot
