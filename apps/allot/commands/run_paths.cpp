#include "apps/allot/commands/run_paths.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "allot/run/request.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostNamed = 10;

fs::path folder_of(const fs::path& path) {
  return path.parent_path().empty() ? fs::path(".") : path.parent_path();
}

/// Creates a file in the folder and removes it: permissions do not show full disks and quotas.
std::string why_no_file_in(const fs::path& folder) {
  const std::string probe = (folder / (".allot-probe-" + std::to_string(::getpid()))).string();
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return std::strerror(errno);
  ::close(file);
  ::unlink(probe.c_str());
  return {};
}

/// The same for a folder that may not exist yet.
std::string why_no_folder(fs::path folder) {
  std::error_code error;
  while (!fs::exists(folder, error) && !error && folder.has_relative_path()) folder = folder_of(folder);
  if (error) return error.message();
  if (!fs::is_directory(folder, error)) return shown(folder.string()) + " is not a folder";
  return ::access(folder.c_str(), W_OK | X_OK) == 0 ? "" : std::strerror(errno);
}

bool runs_here_only(const Job& job, const JobTask& task) {
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    if (task.commands[j] && !job.resources[j].launch.empty()) return false;
  }
  return true;
}

}  // namespace

std::string why_not_writable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) return "is a folder";
  if (fs::exists(status)) return ::access(path.c_str(), W_OK) == 0 ? "" : std::strerror(errno);
  return why_no_file_in(folder_of(path));
}

void check_paths(const RunArguments& arguments, const Job& job, std::span<const JobItem> items) {
  std::vector<std::string> problems;
  const auto look = [&](const std::string& path, const std::string& why) {
    if (!why.empty()) problems.push_back("cannot write " + in_quotes(path) + ": " + why);
  };
  std::error_code error;
  look(arguments.journal, arguments.survey.fresh && !fs::is_directory(arguments.journal, error)
                              ? why_no_file_in(folder_of(arguments.journal))
                              : why_not_writable(arguments.journal));
  const std::string printed = arguments.journal + ".out";
  if (fs::exists(printed, error)) {
    look(printed, !fs::is_directory(printed, error) ? "is not a folder" : why_no_file_in(printed));
  }
  std::set<std::string> folders;
  for (std::size_t at = 0; at < items.size(); ++at) {
    const JobTask& task = job.tasks[index(items[at].type)];
    if (!task.output || !runs_here_only(job, task)) continue;
    folders.insert(folder_of(output_path(job, items[at], at + 1)).string());
  }
  for (const std::string& folder : folders) look(folder, why_no_folder(folder));
  if (problems.empty()) return;
  std::string text;
  for (std::size_t at = 0; at < std::min(problems.size(), kMostNamed); ++at)
    text += (at == 0 ? "" : "\n  ") + problems[at];
  if (problems.size() > kMostNamed)
    text += "\n  and " + counted(static_cast<Count>(problems.size() - kMostNamed), "more path");
  throw Failure(Exit::kInputOutput, text + "\nNothing was started or changed.");
}

}  // namespace allot::app
