#include "allot/worker/detail/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

// The child runs in the parent's memory: sanitizers must ignore it.
#if defined(__clang__)
#define ALLOT_IN_CHILD __attribute__((noinline, no_sanitize("address", "thread", "undefined")))
#else
#define ALLOT_IN_CHILD \
  __attribute__((noinline, no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif

namespace allot::detail {
namespace {

enum class Step { kNone, kSetUp, kDirectory, kOutput, kError, kExecute };

/// All data for the child, prepared beforehand: it must not allocate.
struct ChildOrders {
  std::vector<const char*> candidates;  ///< paths to try: the first that can be executed is used
  std::vector<char*> argv;
  std::vector<char*> environment;
  const char* directory = nullptr;
  std::array<int, 3> descriptors{-1, -1, -1};
  const char* output_path = nullptr;
  const char* error_path = nullptr;
  mode_t output_mode = 0600;
  int signal_at_parents_end = 0;
  std::size_t most_descriptors = 0;
  pid_t parent = 0;
  Step step = Step::kNone;  ///< the step that failed
  int error = 0;
};

[[noreturn]] ALLOT_IN_CHILD void fail(ChildOrders& orders, Step step, int error) {
  orders.step = step;
  orders.error = error;
  ::_exit(127);
}

/// A new file that replaces an existing one; without a path, /dev/null.
ALLOT_IN_CHILD int open_for_writing(const char* path, mode_t mode) {
  if (path == nullptr) return ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::unlink(path);
  return ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, mode);
}

/// Moves a descriptor out of the range of the three that are about to be set.
ALLOT_IN_CHILD int above_standard(int fd) { return fd >= 0 && fd < 3 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 3) : fd; }

ALLOT_IN_CHILD void execute_first(ChildOrders& orders) {
  // Like execvp, but a file that the kernel cannot execute is not passed to a shell.
  int reason = ENOENT;
  for (const char* const candidate : orders.candidates) {
    ::execve(candidate, orders.argv.data(), orders.environment.data());
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) continue;
    reason = error;
    if (error != EACCES) break;
  }
  fail(orders, Step::kExecute, reason);
}

ALLOT_IN_CHILD int run_child(void* argument) {
  ChildOrders& orders = *static_cast<ChildOrders*>(argument);
  // By a direct system call, whose structure is all zero for SIG_DFL: the C library hides two signals of its
  // own, which a parent may have left ignored.
  std::array<unsigned long, 8> action;
  std::memset(action.data(), 0, sizeof action);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    ::syscall(SYS_rt_sigaction, signal, action.data(), nullptr, sizeof(unsigned long));
  }
  if (orders.signal_at_parents_end != 0) {
    ::prctl(PR_SET_PDEATHSIG, orders.signal_at_parents_end);
    if (::getppid() != orders.parent) ::_exit(127);
  }
  if (::setsid() < 0) fail(orders, Step::kSetUp, errno);
  if (orders.directory != nullptr && ::chdir(orders.directory) != 0) fail(orders, Step::kDirectory, errno);

  int input = above_standard(orders.descriptors[0]);
  int output = above_standard(orders.descriptors[1]);
  int error = above_standard(orders.descriptors[2]);
  if (input < 0) input = above_standard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (output < 0) output = above_standard(open_for_writing(orders.output_path, orders.output_mode));
  if (output < 0) fail(orders, Step::kOutput, errno);
  if (error < 0) {
    // One file for both: if opened twice, they would overwrite each other.
    const bool same = orders.descriptors[1] < 0 && orders.output_path != nullptr &&
                      orders.error_path != nullptr && std::strcmp(orders.output_path, orders.error_path) == 0;
    error = same ? output : above_standard(open_for_writing(orders.error_path, 0600));
  }
  if (error < 0) fail(orders, Step::kError, errno);
  if (input < 0 || ::dup2(input, 0) < 0 || ::dup2(output, 1) < 0 || ::dup2(error, 2) < 0) {
    fail(orders, Step::kSetUp, errno);
  }
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  rlimit limit;
  if (orders.most_descriptors > 0 && ::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = orders.most_descriptors;
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }

  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  execute_first(orders);
  return 127;
}

std::string_view name_of(std::string_view variable) { return variable.substr(0, variable.find('=')); }

/// This process's environment with `added` on top; the last value of a name wins.
std::vector<char*> merged_environment(const std::vector<std::string>& added) {
  std::vector<char*> merged;
  for (char** own = ::environ; own != nullptr && *own != nullptr; ++own) {
    const std::string_view name = name_of(*own);
    const bool replaced =
        std::any_of(added.begin(), added.end(), [&](const std::string& v) { return name_of(v) == name; });
    if (!replaced) merged.push_back(*own);
  }
  for (auto variable = added.begin(); variable != added.end(); ++variable) {
    const bool replaced = std::any_of(variable + 1, added.end(), [&](const std::string& later) {
      return name_of(later) == name_of(*variable);
    });
    if (!replaced) merged.push_back(const_cast<char*>(variable->c_str()));
  }
  merged.push_back(nullptr);
  return merged;
}

std::vector<std::string> candidates(const std::string& command, const std::vector<char*>& environment) {
  if (command.find('/') != std::string::npos || command.empty()) return {command};
  std::string_view path = "/usr/local/bin:/usr/bin:/bin";
  for (const char* const variable : environment) {
    if (variable != nullptr && std::string_view(variable).starts_with("PATH=")) path = variable + 5;
  }
  std::vector<std::string> found;
  for (std::size_t from = 0; from <= path.size();) {
    const std::size_t to = std::min(path.find(':', from), path.size());
    const std::string folder(path.substr(from, to - from));
    found.push_back(folder.empty() ? command : folder + "/" + command);
    from = to + 1;
  }
  return found;
}

/// The child's stack, with a guard page below it. One for all children of a thread: a child no longer needs
/// it when spawn() returns.
class Stack {
 public:
  Stack() {
    memory_ = ::mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::mprotect(memory_, 4096, PROT_NONE);
  }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  ~Stack() { ::munmap(memory_, kSize); }
  void* top() const { return static_cast<char*>(memory_) + kSize; }

 private:
  static constexpr std::size_t kSize = std::size_t{64} << 10;
  void* memory_;
};

std::string reason(int error) { return std::generic_category().message(error); }

Spawned explain(const Program& program, const ChildOrders& orders) {
  Spawned failed;
  switch (orders.step) {
    case Step::kDirectory:
      failed.error = "cannot enter the folder " + program.directory + ": " + reason(orders.error);
      break;
    case Step::kOutput:
      failed.error = "cannot write " + program.output_path + ": " + reason(orders.error);
      break;
    case Step::kError:
      failed.error = "cannot write " + program.error_path + ": " + reason(orders.error);
      break;
    case Step::kExecute:
      failed.error = "cannot execute " + program.argv.front() + ": " + reason(orders.error);
      failed.not_found = orders.error == ENOENT || orders.error == EACCES || orders.error == ENOEXEC ||
                         orders.error == ELOOP || orders.error == ENAMETOOLONG || orders.error == EISDIR;
      break;
    case Step::kSetUp:
    case Step::kNone:
      failed.error = "cannot start " + program.argv.front() + ": " + reason(orders.error);
      break;
  }
  return failed;
}

}  // namespace

Spawned spawn(const Program& program) {
  Spawned spawned;
  const auto has_zero = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (program.argv.empty() || std::any_of(program.argv.begin(), program.argv.end(), has_zero) ||
      std::any_of(program.environment.begin(), program.environment.end(), has_zero)) {
    spawned.error =
        program.argv.empty() ? "there is no command" : "a zero byte in the arguments or the environment";
    return spawned;
  }
  ChildOrders orders;
  for (const std::string& word : program.argv) orders.argv.push_back(const_cast<char*>(word.c_str()));
  orders.argv.push_back(nullptr);
  orders.environment = merged_environment(program.environment);
  const std::vector<std::string> paths = candidates(program.argv.front(), orders.environment);
  for (const std::string& path : paths) orders.candidates.push_back(path.c_str());
  if (!program.directory.empty()) orders.directory = program.directory.c_str();
  orders.descriptors = {program.input, program.output, program.error};
  if (!program.output_path.empty()) orders.output_path = program.output_path.c_str();
  if (!program.error_path.empty()) orders.error_path = program.error_path.c_str();
  orders.output_mode = program.private_output ? 0600 : 0666;
  orders.signal_at_parents_end = program.signal_at_parents_end;
  orders.most_descriptors = program.most_descriptors;
  orders.parent = ::getpid();

  // No signal handler of this process may run in the child, which shares its memory.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_local const Stack stack;
  const pid_t process = ::clone(run_child, stack.top(), CLONE_VM | CLONE_VFORK | SIGCHLD, &orders);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  if (process < 0) {
    spawned.error = "cannot start a process: " + reason(error);
  } else if (orders.step != Step::kNone) {
    ::waitpid(process, nullptr, 0);
    spawned = explain(program, orders);
  } else {
    spawned.process = process;
  }
  return spawned;
}

}  // namespace allot::detail
