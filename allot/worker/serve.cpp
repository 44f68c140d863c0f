#include "allot/worker/serve.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/base/version.hpp"
#include "allot/worker/detail/collector.hpp"
#include "allot/worker/detail/descriptor.hpp"
#include "allot/worker/detail/output_file.hpp"
#include "allot/worker/detail/output_keeper.hpp"
#include "allot/worker/detail/process_table.hpp"
#include "allot/worker/detail/spawn.hpp"
#include "allot/worker/process.hpp"
#include "allot/worker/protocol.hpp"

namespace allot {
namespace {

/// In the environment of every task: which worker's, and which. It stays with daemons that leave everything
/// else.
constexpr const char* kMarker = "ALLOT_WORKER_TASK";

/// A task that dies of a signal that nobody here sent may be the first victim of what is about to end this
/// worker too, as when a batch system cancels the job. Its record waits for so long: then it is lost, not
/// failed.
constexpr Clock::duration kSuspicion = std::chrono::milliseconds(200);

/// Of what a message says; no number in it may overflow the clock.
Clock::duration to_duration(double seconds) {
  if (!(seconds > 0)) return Clock::duration::zero();
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, 1e8)));
}

double to_seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }
double to_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string in_directory(const TaskRequest& task, const std::string& path) {
  return task.directory.empty() || path.starts_with('/') ? path : task.directory + "/" + path;
}

enum class EndedBy : std::uint8_t { kItself, kTimeout, kCaller };

struct Running {
  TaskRequest request;
  Clock::time_point start;
  double start_unix = 0;
  std::optional<Clock::time_point> deadline;  ///< of the timeout, then of the grace
  EndedBy ended_by = EndedBy::kItself;
  Clock::duration stopped{0};
  bool was_stopped = false;
  detail::Collector out;
  detail::Collector err;
};

struct Held {
  Clock::time_point until;
  TaskRecord record;
};

/// One lane, from the first word to the last. Ends when `why_` is set.
class Server {
 public:
  explicit Server(const ServeOptions& options)
      : input_(options.input), output_(options.output), marker_(std::to_string(::getpid()) + ".") {}

  ServeOutcome run() {
    take_over_signals();
    adopt_orphans();
    raise_descriptor_limit();
    set_blocking(input_, false);
    set_blocking(output_, false);
    queue_bytes(protocol::kFarMagic);
    queue(protocol::Hello{protocol::kVersion, "allot " + std::string(version())});
    heard_ = sent_ = Clock::now();
    while (!why_) turn();
    return end();
  }

  ServeOutcome end() {
    kill_descendants();
    for (const auto& [process, task] : tasks_) discard_output_of(task.request);
    keeper_.reset();
    set_blocking(input_, true);
    set_blocking(output_, true);
    return {in_order_, in_order_ ? std::string() : why_.value_or("")};
  }

 private:
  // ---- the loop

  void turn() {
    wait();
    const bool children = read_signals();
    if (why_) return;
    if (children) reap();
    if (is_ready(input_)) read_input();
    collect();
    if (keeper_) {
      for (const TaskRecord& record : keeper_->take()) queue(record);
    }
    const Clock::time_point now = Clock::now();
    // One at a time: the ends of others are to be seen when they happen.
    if (!waiting_.empty() && !paused_since_) {
      const TaskRequest next = std::move(waiting_.front());
      waiting_.pop_front();
      start(next);
    }
    check_timeouts(now);
    release_held(now);
    check_heartbeat(now);
    flush();
  }

  void wait() {
    ready_.clear();
    const auto watch = [this](int fd, short events) {
      if (fd >= 0) ready_.push_back({fd, events, 0});
    };
    watch(input_, POLLIN);
    watch(signals_.get(), POLLIN);
    if (!outbox_.empty()) watch(output_, POLLOUT);
    if (keeper_) watch(keeper_->descriptor(), POLLIN);
    for (const auto& [process, task] : tasks_) {
      watch(task.out.read_end(), POLLIN);
      watch(task.err.read_end(), POLLIN);
    }
    Clock::time_point until = sent_ + heartbeat_;
    if (silence_ > Clock::duration::zero() && !paused_since_) until = std::min(until, heard_ + silence_);
    for (const Held& held : held_) until = std::min(until, held.until);
    if (!paused_since_) {
      if (!waiting_.empty()) until = sent_;
      for (const auto& [process, task] : tasks_) until = std::min(until, task.deadline.value_or(until));
    }
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec timeout{seconds.count(), std::chrono::nanoseconds(left - seconds).count()};
    if (::ppoll(ready_.data(), ready_.size(), &timeout, nullptr) < 0) ready_.clear();
    std::erase_if(ready_, [](const pollfd& entry) { return entry.revents == 0; });
  }

  bool is_ready(int fd) const {
    return std::any_of(ready_.begin(), ready_.end(), [fd](const pollfd& entry) { return entry.fd == fd; });
  }

  void give_up(const std::string& why) {
    if (why_) return;
    in_order_ = false;
    why_ = why;
  }
  void finish_in_order() {
    if (!why_) why_ = "";
  }

  // ---- signals

  void take_over_signals() {
    for (const int signal : {SIGINT, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE}) {
      ::signal(signal, SIG_IGN);
    }
    ::signal(SIGCHLD, SIG_DFL);
    sigset_t mine;
    ::sigemptyset(&mine);
    ::sigaddset(&mine, SIGCHLD);
    ::sigaddset(&mine, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &mine, nullptr);
    signals_ = detail::Descriptor(::signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) throw std::system_error(errno, std::generic_category(), "signalfd");
  }

  /// True if children have ended.
  bool read_signals() {
    bool children = false;
    if (!is_ready(signals_.get())) return false;
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo == SIGTERM) give_up("it was terminated (SIGTERM)");
      if (info.ssi_signo == SIGCHLD) children = true;
    }
    return children;
  }

  /// For the pipes of many tasks; these are given the limit as it was.
  void raise_descriptor_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    most_descriptors_ = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  // ---- messages

  void read_input() {
    const std::size_t before = inbox_.size();
    inbox_.resize(before + (std::size_t{64} << 10));
    const ssize_t size = ::read(input_, inbox_.data() + before, inbox_.size() - before);
    const int error = errno;
    inbox_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (size < 0 && (error == EAGAIN || error == EINTR)) return;
    if (size == 0) return finish_in_order();
    if (size < 0) return give_up("its input cannot be read: " + std::generic_category().message(error));
    heard_ = Clock::now();
    handle_inbox();
  }

  void handle_inbox() {
    std::string_view bytes = inbox_;
    if (!greeted_) {
      const std::string_view magic = protocol::kNearMagic;
      const std::size_t seen = std::min(bytes.size(), magic.size());
      if (bytes.substr(0, seen) != magic.substr(0, seen)) return give_up("its input is not from allot");
      if (seen < magic.size()) return;
      greeted_ = true;
      bytes.remove_prefix(magic.size());
    }
    while (!why_) {
      protocol::Decoded decoded = protocol::decode(bytes);
      if (decoded.kind == protocol::Decoded::Kind::kIncomplete) break;
      if (decoded.kind == protocol::Decoded::Kind::kGarbage) return give_up("its input is damaged");
      bytes.remove_prefix(decoded.size);
      handle(std::move(decoded.message));
    }
    inbox_.erase(0, inbox_.size() - bytes.size());
  }

  void handle(protocol::Message message) {
    if (!introduced_ && !std::holds_alternative<protocol::Hello>(message)) {
      return give_up("its input does not begin with a greeting");
    }
    if (const auto* hello = std::get_if<protocol::Hello>(&message)) {
      introduced_ = true;
      if (hello->version != protocol::kVersion) {
        give_up("it speaks version " + std::to_string(protocol::kVersion) + " of the protocol, and " +
                hello->program + " version " + std::to_string(hello->version));
      }
    } else if (const auto* setup = std::get_if<protocol::Setup>(&message)) {
      heartbeat_ = std::max(to_duration(setup->heartbeat_s), Clock::duration(std::chrono::milliseconds(10)));
      silence_ = to_duration(setup->silence_s);
    } else if (auto* request = std::get_if<TaskRequest>(&message)) {
      waiting_.push_back(std::move(*request));
    } else if (const auto* kill = std::get_if<protocol::KillTask>(&message)) {
      kill_task(kill->id, kill->signal);
    } else if (std::holds_alternative<protocol::Pause>(message)) {
      pause();
    } else if (std::holds_alternative<protocol::Resume>(message)) {
      resume();
    } else if (std::holds_alternative<protocol::Finish>(message)) {
      finish_in_order();
    } else if (!std::holds_alternative<protocol::Heartbeat>(message)) {
      give_up("its input is what a worker says, not what it is told");
    }
  }

  void queue_bytes(std::string_view bytes) { outbox_ += bytes; }
  void queue(const protocol::Message& message) { queue_bytes(protocol::encode(message)); }

  void flush() {
    std::size_t written = 0;
    while (written < outbox_.size()) {
      const ssize_t size = ::write(output_, outbox_.data() + written, outbox_.size() - written);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) break;
      if (size < 0) {
        give_up("its output cannot be written: " + std::generic_category().message(errno));
        break;
      }
      written += static_cast<std::size_t>(size);
    }
    if (written > 0) sent_ = Clock::now();
    outbox_.erase(0, written);
  }

  void check_heartbeat(Clock::time_point now) {
    if (now >= sent_ + heartbeat_ && outbox_.empty()) {
      queue(protocol::Heartbeat{});
      end_leftovers();  // one that was being executed at the last look had no environment yet
    }
    if (silence_ > Clock::duration::zero() && !paused_since_ && now >= heard_ + silence_) {
      give_up("nothing was heard for " + std::to_string(std::llround(to_seconds(silence_))) + " s");
    }
  }

  // ---- tasks

  void start(const TaskRequest& request) {
    Running task;
    task.request = request;
    detail::Program program;
    program.argv = request.argv;
    program.environment = request.environment;
    program.environment.push_back(std::string(kMarker) + "=" + marker_ + std::to_string(request.id));
    program.directory = request.directory;
    program.output_path = request.stdout_path;
    program.error_path = request.stderr_path;
    program.dies_with_parent = true;
    program.most_descriptors = most_descriptors_;
    if ((request.stdout_path.empty() && !task.out.open()) ||
        (request.stderr_path.empty() && !task.err.open())) {
      return refuse(request, {-1, "no descriptors are left for its output", false});
    }
    program.output = task.out.write_end();
    program.error = task.err.write_end();
    const detail::Spawned spawned = detail::spawn(program);
    if (spawned.process < 0) return refuse(request, spawned);
    task.start = Clock::now();
    task.start_unix = unix_now();
    if (request.timeout_s > 0) task.deadline = task.start + to_duration(request.timeout_s);
    task.out.close_write_end();
    task.err.close_write_end();
    queue(protocol::TaskStarted{request.id});
    tasks_.emplace(spawned.process, std::move(task));
  }

  /// The record of a task that never ran.
  void refuse(const TaskRequest& request, const detail::Spawned& spawned) {
    TaskRecord record;
    record.id = request.id;
    record.status = TaskStatus::kFailed;
    record.error = spawned.error;
    record.not_found = spawned.not_found;
    record.start_unix = unix_now();
    discard_output_of(request);
    queue(record);
  }

  void reap() {
    bool any = false;
    for (;;) {
      // Looked at before it is reaped: until then its number, and that of its group, cannot be anybody
      // else's.
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) break;
      const auto task = tasks_.find(info.si_pid);
      if (task != tasks_.end()) ::kill(-info.si_pid, SIGKILL);
      int status = 0;
      rusage usage{};
      ::wait4(info.si_pid, &status, 0, &usage);
      if (task != tasks_.end()) {
        Running ended = std::move(task->second);
        tasks_.erase(task);
        record(std::move(ended), status, usage);
      }
      any = true;
    }
    if (any) end_leftovers();
  }

  void record(Running task, int status, const rusage& usage) {
    const Clock::time_point now = Clock::now();
    if (paused_since_) account_pause(task, now);
    TaskRecord record;
    record.id = task.request.id;
    record.start_unix = task.start_unix;
    record.wall_s = std::max(0.0, to_seconds(now - task.start - task.stopped));
    record.user_s = to_seconds(usage.ru_utime);
    record.sys_s = to_seconds(usage.ru_stime);
    record.maxrss_kb = usage.ru_maxrss;
    record.was_stopped = task.was_stopped;
    if (WIFEXITED(status)) record.exit = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) record.signal = WTERMSIG(status);
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
    if (record.status != TaskStatus::kOk) discard_output_of(task.request);
    if (record.status == TaskStatus::kOk && !task.request.temporary_output.empty()) {
      if (!keeper_) keeper_.emplace();
      keeper_->put(std::move(record), in_directory(task.request, task.request.temporary_output),
                   in_directory(task.request, task.request.final_output));
    } else if (task.ended_by == EndedBy::kItself && (record.signal == SIGTERM || record.signal == SIGKILL)) {
      held_.push_back({now + kSuspicion, std::move(record)});
    } else {
      queue(record);
    }
  }

  static void discard_output_of(const TaskRequest& request) {
    if (!request.temporary_output.empty()) {
      detail::discard_output(in_directory(request, request.temporary_output));
    }
  }

  void release_held(Clock::time_point now) {
    while (!held_.empty() && held_.front().until <= now) {
      queue(held_.front().record);
      held_.pop_front();
    }
  }

  void collect() {
    for (auto& [process, task] : tasks_) {
      if (is_ready(task.out.read_end())) task.out.read();
      if (is_ready(task.err.read_end())) task.err.read();
    }
  }

  void check_timeouts(Clock::time_point now) {
    if (paused_since_) return;
    for (auto& [process, task] : tasks_) {
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

  void kill_task(std::uint64_t id, int signal) {
    for (auto& [process, task] : tasks_) {
      if (task.request.id != id) continue;
      if (task.ended_by == EndedBy::kItself) task.ended_by = EndedBy::kCaller;
      signal_task(process, id, signal);
    }
    const auto waiting = std::find_if(waiting_.begin(), waiting_.end(),
                                      [id](const TaskRequest& request) { return request.id == id; });
    if (waiting == waiting_.end()) return;
    TaskRecord record;
    record.id = id;
    record.status = TaskStatus::kKilled;
    record.start_unix = unix_now();
    discard_output_of(*waiting);
    waiting_.erase(waiting);
    queue(record);
  }

  // ---- processes

  /// To the group at once, and to those that left it: session, descendants, orphans that carry the
  /// environment.
  void signal_task(pid_t process, std::uint64_t id, int signal) {
    ::kill(-process, signal);
    const std::vector<detail::ProcessEntry> table = detail::process_table();
    std::vector<pid_t> roots{process};
    for (const detail::ProcessEntry& entry : table) {
      const bool orphan = entry.parent == ::getpid() && !tasks_.contains(entry.process);
      if (entry.session == process || (orphan && owner(entry.process) == id)) roots.push_back(entry.process);
    }
    for (const detail::ProcessEntry& entry : detail::with_descendants(table, roots)) {
      if (entry.group != process && !entry.zombie) ::kill(entry.process, signal);
    }
  }

  void signal_all(int signal) {
    std::vector<pid_t> told;
    // Until a look finds nobody new: who is being forked while we look is told the next time.
    for (int round = 0; round < 10; ++round) {
      const std::vector<detail::ProcessEntry> table = detail::process_table();
      const std::vector<pid_t> self{::getpid()};
      bool news = false;
      for (const detail::ProcessEntry& entry : detail::with_descendants(table, self)) {
        if (entry.process == self.front() || entry.zombie) continue;
        if (std::find(told.begin(), told.end(), entry.process) != told.end()) continue;
        ::kill(entry.process, signal);
        told.push_back(entry.process);
        news = true;
      }
      if (!news) return;
    }
  }

  void pause() {
    if (paused_since_) return;
    paused_since_ = Clock::now();
    signal_all(SIGSTOP);
  }

  void resume() {
    if (!paused_since_) return;
    const Clock::time_point now = Clock::now();
    for (auto& [process, task] : tasks_) account_pause(task, now);
    paused_since_.reset();
    signal_all(SIGCONT);
  }

  void account_pause(Running& task, Clock::time_point now) const {
    const Clock::duration time = now - std::max(*paused_since_, task.start);
    task.stopped += time;
    task.was_stopped = true;
    if (task.deadline) *task.deadline += time;
  }

  /// The task whose environment the process carries.
  std::optional<std::uint64_t> owner(pid_t process) const {
    const std::string value = detail::environment_of(process, kMarker);
    if (!value.starts_with(marker_)) return std::nullopt;
    return std::strtoull(value.c_str() + marker_.size(), nullptr, 10);
  }

  /// Of the orphans adopted, kills those whose task has ended.
  void end_leftovers() {
    for (const pid_t child : detail::own_children()) {
      if (tasks_.contains(child) || tasks_.contains(::getsid(child))) continue;
      const std::optional<std::uint64_t> id = owner(child);
      const bool runs = id && std::any_of(tasks_.begin(), tasks_.end(),
                                          [&](const auto& entry) { return entry.second.request.id == *id; });
      if (!runs && (id || tasks_.empty())) ::kill(child, SIGKILL);
    }
  }

  static void set_blocking(int fd, bool blocking) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0) ::fcntl(fd, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
  }

  int input_;
  int output_;
  std::string marker_;
  std::size_t most_descriptors_ = 0;
  detail::Descriptor signals_;
  std::vector<pollfd> ready_;  ///< what is watched, then what of it has something
  std::string inbox_;
  std::string outbox_;
  bool greeted_ = false;     ///< the magic word was read
  bool introduced_ = false;  ///< the Hello was read
  bool in_order_ = true;
  std::optional<std::string> why_;
  Clock::duration heartbeat_ = std::chrono::seconds(1);
  Clock::duration silence_{0};
  Clock::time_point heard_;
  Clock::time_point sent_;
  std::map<pid_t, Running> tasks_;
  std::deque<TaskRequest> waiting_;
  std::deque<Held> held_;
  std::optional<detail::OutputKeeper> keeper_;
  std::optional<Clock::time_point> paused_since_;
};

}  // namespace

ServeOutcome serve(const ServeOptions& options) noexcept {
  try {
    Server server(options);
    try {
      return server.run();
    } catch (const std::exception& error) {
      server.end();
      return {false, error.what()};
    }
  } catch (...) {
    return {false, "it ran out of memory"};
  }
}

}  // namespace allot
