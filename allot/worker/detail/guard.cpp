#include "allot/worker/detail/guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "allot/worker/detail/process_table.hpp"

namespace allot::detail {
namespace {

/// Maximum looks for remaining processes, a hundredth of a second apart, until two looks in a row find none.
constexpr int kMostLooks = 500;

[[noreturn]] void guard(int end_of_parent, int ready, const std::string& name, const std::string& value) {
  ::setsid();
  ::prctl(PR_SET_NAME, "task-guard");
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_IGN);
  // The guard belongs to no task: the environment that it inherited must not suggest one.
  for (char** entry = environ; *entry != nullptr; ++entry) std::memset(*entry, 0, std::strlen(*entry));
  const char done = 0;
  [[maybe_unused]] const ssize_t told = ::write(ready, &done, 1);
  const auto kept = static_cast<unsigned>(end_of_parent);
  if (kept > 0) ::close_range(0, kept - 1, 0);
  ::close_range(kept + 1, ~0U, 0);
  char byte = 0;
  while (::read(end_of_parent, &byte, 1) < 0 && errno == EINTR) {
  }
  for (int look = 0, found_none = 0; look < kMostLooks && found_none < 2; ++look) {
    bool found = false;
    for (const ProcessEntry& entry : process_table()) {
      if (entry.zombie || !environment_of(entry.process, name).starts_with(value)) continue;
      ::kill(entry.process, SIGKILL);
      found = true;
    }
    found_none = found ? 0 : found_none + 1;
    ::usleep(10'000);
  }
  ::_exit(0);
}

}  // namespace

pid_t start_guard(const std::string& name, const std::string& value) {
  std::array<int, 2> ends{};
  std::array<int, 2> ready{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  if (::pipe2(ready.data(), O_CLOEXEC) != 0) {
    for (const int end : ends) ::close(end);
    return -1;
  }
  const pid_t process = ::fork();
  if (process == 0) guard(ends[0], ready[1], name, value);
  ::close(ends[0]);
  ::close(ready[1]);
  char byte = 0;
  while (process > 0 && ::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
  }
  ::close(ready[0]);
  if (process < 0) ::close(ends[1]);
  // The other end stays open while this process lives: the guard waits until it closes.
  return process;
}

}  // namespace allot::detail
