// One attempt of a task as its worker gets it: words, environment, files.
#pragma once

#include <string>

#include "allot/jobs/job.hpp"
#include "allot/run/holdings.hpp"
#include "allot/worker/task.hpp"

namespace allot {

/// Which attempt of which task, and where.
struct Attempt {
  const JobItem* item = nullptr;
  std::uint64_t number = 0;  ///< of the task within the job, from 1: `{#}`
  ResourceId resource{};
  Count slot = 0;
  int attempt = 1;
  const Holding* holding = nullptr;  ///< null: its slot alone
};

/// Everything but the id. The output's folder is not made here.
TaskRequest make_request(const Job& job, const Attempt& attempt, const std::string& run_id);

/// Where the task's file is put when it has succeeded; empty where its type declares none. `number` as in
/// Attempt.
std::string output_path(const Job& job, const JobItem& item, std::uint64_t number);

/// Whether the input of a task is there, where it is the output of another task; true otherwise.
bool has_input(const Job& job, TaskType type, std::size_t row);

/// Where a task is to write its output during an attempt: beside its place, hidden, with the same ending,
/// since programs look at endings. The run's id, which nobody can foresee, keeps runs apart; a name that
/// would be too long loses its beginning.
std::string temporary_output(const std::string& final_output, const std::string& run_id, int attempt);

}  // namespace allot
