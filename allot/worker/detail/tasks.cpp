#include "allot/worker/detail/tasks.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "allot/worker/detail/guard.hpp"
#include "allot/worker/detail/output_file.hpp"
#include "allot/worker/detail/process_table.hpp"
#include "allot/worker/detail/spawn.hpp"

namespace allot::detail {
namespace {

/// Environment variable of every task: names the worker and the task. Even daemons that leave the session and
/// the group keep it.
constexpr const char* kMarker = "ALLOT_WORKER_TASK";

/// A task that dies of a signal that this worker did not send may be the first victim of something that will
/// also end this worker, as when a batch system cancels the job. Its record waits this long: if the worker
/// ends, the task is lost, not failed.
constexpr Clock::duration kSuspicion = std::chrono::milliseconds(200);

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string in_directory(const TaskRequest& task, const std::string& path) {
  return task.directory.empty() || path.starts_with('/') ? path : task.directory + "/" + path;
}

void discard_output_of(const TaskRequest& request) {
  if (!request.temporary_output.empty()) discard_output(in_directory(request, request.temporary_output));
}

/// Removes the output files that stayed empty. Done here, not by the near end, which has more to do if there
/// are many short tasks.
void discard_silence_of(const TaskRequest& request) {
  if (!request.stdout_path.empty() && request.stdout_path != request.temporary_output)
    discard_if_empty(in_directory(request, request.stdout_path));
  if (!request.stderr_path.empty()) discard_if_empty(in_directory(request, request.stderr_path));
}

}  // namespace

Clock::duration to_duration(double seconds) noexcept {
  if (!(seconds > 0)) return Clock::duration::zero();
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e8)));
}

Tasks::Tasks(std::size_t most_descriptors)
    : most_descriptors_(most_descriptors), marker_(std::to_string(::getpid()) + ".") {}

// ---- from the request to the record

void Tasks::start(TaskRequest request) {
  Running task;
  Program program;
  program.argv = request.argv;
  program.environment = request.environment;
  program.environment.push_back(std::string(kMarker) + "=" + marker_ + std::to_string(request.id));
  program.directory = request.directory;
  program.output_path = request.stdout_path;
  program.error_path = request.stderr_path;
  // The task's output belongs to the user; other files are private.
  program.private_output = request.stdout_path != request.temporary_output;
  program.signal_at_parents_end = SIGKILL;
  program.most_descriptors = most_descriptors_;
  if ((request.stdout_path.empty() && !task.out.open()) ||
      (request.stderr_path.empty() && !task.err.open())) {
    return refuse(request, TaskStatus::kFailed, "no descriptors are left for its output", false);
  }
  program.output = task.out.write_end();
  program.error = task.err.write_end();
  // Before the spawn: a short task may have ended before this process runs again.
  task.start = Clock::now();
  task.start_unix = unix_now();
  const Spawned spawned = spawn(program);
  if (spawned.process < 0) return refuse(request, TaskStatus::kFailed, spawned.error, spawned.not_found);
  if (request.timeout_s > 0) task.deadline = task.start + to_duration(request.timeout_s);
  task.out.close_write_end();
  task.err.close_write_end();
  news_.emplace_back(protocol::TaskStarted{request.id, spawned.process});
  task.request = std::move(request);
  running_.emplace(spawned.process, std::move(task));
}

/// The record of a task that never ran.
void Tasks::refuse(const TaskRequest& request, TaskStatus status, std::string error, bool not_found) {
  TaskRecord record;
  record.id = request.id;
  record.status = status;
  record.error = std::move(error);
  record.not_found = not_found;
  record.start_unix = unix_now();
  discard_output_of(request);
  news_.emplace_back(std::move(record));
}

void Tasks::reap() {
  bool any = false;
  for (;;) {
    // Look before reaping: until then no other process can have its number, or that of its group.
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
    const auto task = running_.find(info.si_pid);
    if (task != running_.end()) ::kill(-info.si_pid, SIGKILL);
    int status = 0;
    rusage usage{};
    ::wait4(info.si_pid, &status, 0, &usage);
    if (task != running_.end()) {
      Running ended = std::move(task->second);
      running_.erase(task);
      record(std::move(ended), status, usage);
    }
    any = true;
  }
  if (any) end_leftovers();
}

void Tasks::record(Running task, int wait_status, const rusage& usage) {
  const Clock::time_point now = Clock::now();
  if (paused_since_) account_pause(task, now);
  TaskRecord record;
  record.id = task.request.id;
  record.start_unix = task.start_unix;
  record.wall_s = std::max(0.0, to_seconds(now - task.start - task.stopped));
  record.user_s = seconds_of(usage.ru_utime);
  record.sys_s = seconds_of(usage.ru_stime);
  record.maxrss_kb = usage.ru_maxrss;
  record.was_stopped = task.was_stopped;
  if (WIFEXITED(wait_status)) record.exit = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) record.signal = WTERMSIG(wait_status);
  task.out.read();
  task.err.read();
  record.out = std::move(task.out.text);
  record.err = std::move(task.err.text);
  record.out_cut = task.out.cut;
  record.err_cut = task.err.cut;
  switch (task.ended_by) {
    case EndedBy::kItself:
      record.status = record.exit == 0 ? TaskStatus::kOk : TaskStatus::kFailed;
      break;
    case EndedBy::kTimeout:
      record.status = TaskStatus::kTimeout;
      break;
    case EndedBy::kCaller:
      record.status = TaskStatus::kKilled;
      break;
  }
  discard_silence_of(task.request);
  const int signal = task.ended_by == EndedBy::kItself ? record.signal.value_or(0) : 0;
  if (record.status != TaskStatus::kOk) discard_output_of(task.request);
  if (record.status == TaskStatus::kOk && !task.request.temporary_output.empty()) {
    if (!keeper_) keeper_.emplace();
    keeper_->put(std::move(record), in_directory(task.request, task.request.temporary_output),
                 in_directory(task.request, task.request.final_output));
  } else if (signal == SIGTERM || signal == SIGKILL) {
    held_.push_back({now + kSuspicion, std::move(record)});
  } else {
    news_.emplace_back(std::move(record));
  }
}

void Tasks::discard_outputs() {
  for (const auto& [process, task] : running_) discard_output_of(task.request);
  keeper_.reset();
}

// ---- for the loop

void Tasks::watch(std::vector<pollfd>& watched) const {
  const auto add_one = [&watched](int fd) {
    if (fd >= 0) watched.push_back({fd, POLLIN, 0});
  };
  if (keeper_) add_one(keeper_->descriptor());
  for (const auto& [process, task] : running_) {
    add_one(task.out.read_end());
    add_one(task.err.read_end());
  }
}

Clock::time_point Tasks::next(Clock::time_point latest) const {
  if (!held_.empty()) latest = std::min(latest, held_.front().until);
  if (paused_since_) return latest;
  if (!waiting_.empty()) return Clock::time_point::min();
  for (const auto& [process, task] : running_) latest = std::min(latest, task.deadline.value_or(latest));
  return latest;
}

void Tasks::collect(std::span<const pollfd> ready) {
  const auto is_ready = [ready](int fd) {
    return std::any_of(ready.begin(), ready.end(), [fd](const pollfd& entry) { return entry.fd == fd; });
  };
  if (ready.empty()) return;
  for (auto& [process, task] : running_) {
    if (is_ready(task.out.read_end())) task.out.read();
    if (is_ready(task.err.read_end())) task.err.read();
  }
  if (keeper_ && is_ready(keeper_->descriptor())) {
    for (TaskRecord& record : keeper_->take()) news_.emplace_back(std::move(record));
  }
}

void Tasks::advance(Clock::time_point now) {
  while (!held_.empty() && held_.front().until <= now) {
    news_.emplace_back(std::move(held_.front().record));
    held_.pop_front();
  }
  if (paused_since_) return;
  check_timeouts(now);
  if (waiting_.empty()) return;
  TaskRequest request = std::move(waiting_.front());
  waiting_.pop_front();
  start(std::move(request));
}

void Tasks::check_timeouts(Clock::time_point now) {
  for (auto& [process, task] : running_) {
    if (!task.deadline || now < *task.deadline) continue;
    const bool first = task.ended_by != EndedBy::kTimeout;
    const Clock::duration grace = to_duration(task.request.grace_s);
    task.ended_by = EndedBy::kTimeout;
    task.deadline.reset();
    if (first && grace > Clock::duration::zero()) {
      task.deadline = now + grace;
      signal_task(process, task.request.id, SIGTERM);
    } else {
      signal_task(process, task.request.id, SIGKILL);
    }
  }
}

// ---- for the caller

void Tasks::kill(std::uint64_t id, int signal) {
  for (auto& [process, task] : running_) {
    if (task.request.id != id) continue;
    if (task.ended_by == EndedBy::kItself) task.ended_by = EndedBy::kCaller;
    signal_task(process, id, signal);
  }
  const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                    [id](const TaskRequest& request) { return request.id == id; });
  if (waiting == waiting_.end()) return;
  refuse(*waiting, TaskStatus::kKilled, "", false);
  waiting_.erase(waiting);
}

void Tasks::pause() {
  if (paused_since_) return;
  paused_since_ = Clock::now();
  signal_all(SIGSTOP);
}

void Tasks::resume() {
  if (!paused_since_) return;
  const Clock::time_point now = Clock::now();
  for (auto& [process, task] : running_) account_pause(task, now);
  paused_since_.reset();
  signal_all(SIGCONT);
}

void Tasks::account_pause(Running& task, Clock::time_point now) const {
  const Clock::duration time = now - std::max(*paused_since_, task.start);
  task.stopped += time;
  task.was_stopped = true;
  if (task.deadline) *task.deadline += time;
}

void Tasks::slept(Clock::duration time) {
  for (auto& [process, task] : running_) {
    task.was_stopped = true;
    if (task.deadline) *task.deadline += time;
  }
}

// ---- which processes belong to a task

void Tasks::start_guard() { guard_ = detail::start_guard(kMarker, marker_); }

/// To all descendants of this process except the guard.
void Tasks::signal_all(int signal) const {
  const std::array<pid_t, 1> self{::getpid()};
  std::vector<pid_t> told{self.front(), guard_};
  // Until a look finds nothing new: processes forked during a look are found by the next one.
  for (int round = 0; round < 10; ++round) {
    bool news = false;
    for (const ProcessEntry& entry : with_descendants(process_table(), self)) {
      if (entry.zombie || std::find(told.begin(), told.end(), entry.process) != told.end()) continue;
      ::kill(entry.process, signal);
      told.push_back(entry.process);
      news = true;
    }
    if (!news) return;
  }
}

/// To the group at once, then to processes that left it: session, descendants, orphans that have the
/// environment.
void Tasks::signal_task(pid_t process, std::uint64_t id, int signal) const {
  ::kill(-process, signal);
  const std::vector<ProcessEntry> table = process_table();
  std::vector<pid_t> roots{process};
  for (const ProcessEntry& entry : table) {
    const bool orphan = entry.parent == ::getpid() && !running_.contains(entry.process);
    if (entry.session == process || (orphan && owner(entry.process) == id)) roots.push_back(entry.process);
  }
  for (const ProcessEntry& entry : with_descendants(table, roots)) {
    if (entry.group != process && !entry.zombie) ::kill(entry.process, signal);
  }
}

/// The task of the process, according to its environment.
std::optional<std::uint64_t> Tasks::owner(pid_t process) const {
  const std::string value = environment_of(process, kMarker);
  if (!value.starts_with(marker_)) return std::nullopt;
  return std::strtoull(value.c_str() + marker_.size(), nullptr, 10);
}

void Tasks::end_leftovers() {
  for (const pid_t child : own_children()) {
    if (child == guard_ || running_.contains(child) || running_.contains(::getsid(child))) continue;
    const std::optional<std::uint64_t> id = owner(child);
    const bool runs = id && std::any_of(running_.begin(), running_.end(),
                                        [&](const auto& entry) { return entry.second.request.id == *id; });
    if (!runs && (id || running_.empty())) ::kill(child, SIGKILL);
  }
}

}  // namespace allot::detail
