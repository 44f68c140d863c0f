// The files of attempts: creates folders before, removes the rest of lost attempts, and keeps captured
// output.
#pragma once

#include <string>

#include "allot/worker/task.hpp"

namespace allot {

/// The captured output of an attempt; empty if it printed nothing.
struct AttemptOutput {
  std::string out;
  std::string err;
};

/// The interface of the loop to the file system.
class AttemptFiles {
 public:
  virtual ~AttemptFiles() = default;
  /// Before an attempt of a task, given by its number in the journal: sets the files for the output of a
  /// local attempt, and creates the folder of its output. `last_run`: the id of the earlier run that tried
  /// the task last, or empty.
  virtual void prepare(TaskRequest& request, std::int64_t task_id, int attempt, bool local,
                       const std::string& last_run) = 0;
  /// After the attempt: removes empty files, and writes output that came back over a lane.
  virtual AttemptOutput keep(const TaskRequest& request, const TaskRecord& record, std::int64_t task_id,
                             int attempt) = 0;
  /// Removes an output that is no longer needed.
  virtual void remove_output(const std::string& path) = 0;
};

/// Keeps them in a folder beside the journal.
class FolderOfAttempts final : public AttemptFiles {
 public:
  FolderOfAttempts(std::string folder, std::string run_id)
      : folder_(std::move(folder)), run_id_(std::move(run_id)) {}
  void prepare(TaskRequest& request, std::int64_t task_id, int attempt, bool local,
               const std::string& last_run) override;
  AttemptOutput keep(const TaskRequest& request, const TaskRecord& record, std::int64_t task_id,
                     int attempt) override;
  void remove_output(const std::string& path) override;

 private:
  std::string folder_;
  std::string run_id_;
};

}  // namespace allot
