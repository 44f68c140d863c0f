// One attempt of a task as a request to a worker: words, environment, files.
#pragma once

#include <string>

#include "allot/jobs/job.hpp"
#include "allot/run/holdings.hpp"
#include "allot/worker/task.hpp"

namespace allot {

/// One attempt of a task, and its place.
struct Attempt {
  const JobItem* item = nullptr;
  std::uint64_t number = 0;  ///< of the task within the job, from 1: `{#}`
  ResourceId resource{};
  Count slot = 0;
  int attempt = 1;
  const Holding* holding = nullptr;  ///< null: only its slot
};

/// All fields except the id. Does not create the folder of the output.
TaskRequest make_request(const Job& job, const Attempt& attempt, const std::string& run_id);

/// The path of the task's file after success; empty if its type declares none. `number` as in Attempt.
std::string output_path(const Job& job, const JobItem& item, std::uint64_t number);

/// Whether the input of a task exists if it is the output of another task; true otherwise.
bool has_input(const Job& job, TaskType type, std::size_t row);

/// The path for a task's output during an attempt: in the same folder, hidden, with the same ending, because
/// programs look at endings. The run's id, which is unpredictable, keeps runs apart; a name that would be too
/// long loses its beginning.
std::string temporary_output(const std::string& final_output, const std::string& run_id, int attempt);

}  // namespace allot
