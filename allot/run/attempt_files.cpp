#include "allot/run/attempt_files.hpp"

#include <filesystem>

#include "allot/base/own_file.hpp"
#include "allot/jobs/attempt.hpp"
#include "allot/run/request.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

/// The file's name if the file has content; an empty file is removed.
std::string keep_if_used(const std::string& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  if (error) return "";
  if (size > 0) return file;
  fs::remove(file, error);
  return "";
}

}  // namespace

void FolderOfAttempts::prepare(TaskRequest& request, std::int64_t task_id, int attempt, bool local,
                               const std::string& last_run) {
  if (local) {
    if (request.stdout_path.empty()) request.stdout_path = kept_output(folder_, task_id, attempt) + ".out";
    request.stderr_path = kept_output(folder_, task_id, attempt) + ".err";
  }
  if (request.final_output.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(request.final_output).parent_path(), error);
  // The rest of a lost attempt, in this run or an earlier one.
  for (const std::string& run : {run_id_, last_run}) {
    if (attempt > 1 && !run.empty())
      fs::remove_all(temporary_output(request.final_output, run, attempt - 1), error);
  }
}

void FolderOfAttempts::remove_output(const std::string& path) {
  std::error_code error;  // ignored: a missing file is fine, and one that cannot be removed does no harm
  fs::remove_all(path, error);
}

AttemptOutput FolderOfAttempts::keep(const TaskRequest& request, const TaskRecord& record,
                                     std::int64_t task_id, int attempt) {
  const auto keep = [&](const std::string& path, const std::string& ending, const std::string& text) {
    const std::string file = path.empty() ? kept_output(folder_, task_id, attempt) + ending : path;
    if (path.empty() && !text.empty()) replace_file(file, text, Readers::kOwner);
    return keep_if_used(file);
  };
  const bool is_output = !request.final_output.empty() && request.stdout_path == request.temporary_output;
  AttemptOutput output;
  if (!is_output) output.out = keep(request.stdout_path, ".out", record.out);
  output.err = keep(request.stderr_path, ".err", record.err);
  return output;
}

}  // namespace allot
