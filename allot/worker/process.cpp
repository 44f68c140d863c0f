#include "allot/worker/process.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/worker/detail/process_table.hpp"

namespace allot {

void adopt_orphans() noexcept { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

bool kill_descendants(std::span<const int> spare, std::chrono::milliseconds patience) {
  const Clock::time_point deadline = Clock::now() + patience;
  const auto spared = [&](pid_t process) {
    return std::find(spare.begin(), spare.end(), process) != spare.end();
  };
  int found_none = 0;
  for (;;) {
    // If no child is spared, a process without children has no descendants: orphans would be adopted.
    if (spare.empty()) {
      pid_t reaped = 0;
      do {
        reaped = ::waitpid(-1, nullptr, WNOHANG);
      } while (reaped > 0);
      if (reaped < 0 && errno == ECHILD) return true;
    }
    const std::vector<detail::ProcessEntry> table = detail::process_table();
    std::vector<pid_t> children;
    for (const detail::ProcessEntry& entry : table) {
      if (entry.parent == ::getpid() && !spared(entry.process)) children.push_back(entry.process);
    }
    for (const detail::ProcessEntry& entry : detail::with_descendants(table, children)) {
      if (!entry.zombie) ::kill(entry.process, SIGKILL);
    }
    for (const pid_t child : children) ::waitpid(child, nullptr, WNOHANG);
    // One look may miss a process whose parent ends during the look.
    found_none = children.empty() ? found_none + 1 : 0;
    if (found_none == 2 && !spare.empty()) return true;
    if (Clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace allot
