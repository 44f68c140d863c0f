// Where attempts write: folders made before, leftovers of lost attempts removed, and what was printed kept.
#pragma once

#include <string>

#include "allot/worker/task.hpp"

namespace allot {

/// Where an attempt's output is; empty where it printed nothing.
struct AttemptOutput {
  std::string out;
  std::string err;
};

/// What the loop asks of the file system.
class AttemptFiles {
 public:
  virtual ~AttemptFiles() = default;
  /// Before an attempt of a task, known by its number in the journal: where a local one is to print to, and a
  /// folder for its output. `last_run`: the id of the earlier run that tried the task last, or nothing.
  virtual void prepare(TaskRequest& request, std::int64_t task_id, int attempt, bool local,
                       const std::string& last_run) = 0;
  /// After it: files of attempts that printed nothing are removed; what came back over a lane is written.
  virtual AttemptOutput keep(const TaskRequest& request, const TaskRecord& record, std::int64_t task_id,
                             int attempt) = 0;
  /// An output has served its purpose.
  virtual void remove_output(const std::string& path) = 0;
};

/// In a folder beside the journal.
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
