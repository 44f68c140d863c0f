#include "apps/allot/commands/run_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "apps/allot/exit.hpp"

namespace allot::app {

namespace {
extern "C" void end_now(int number) { ::_exit(128 + number); }
}  // namespace

RunSignals::RunSignals() {
  ::sigemptyset(&set_);
  for (const int number : {SIGINT, SIGHUP, SIGTERM, SIGTSTP}) ::sigaddset(&set_, number);
  ::sigprocmask(SIG_BLOCK, &set_, &before_);
  file_ = ::signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  if (file_ < 0) throw Failure(Exit::kInputOutput, std::string("signalfd: ") + std::strerror(errno));
}

/// The run is over, and further signals do not change its result: pending signals are dropped. A signal
/// during the final report ends the process at once with the signal's status.
RunSignals::~RunSignals() {
  ::close(file_);
  constexpr timespec kAtOnce{};
  while (::sigtimedwait(&set_, nullptr, &kAtOnce) > 0) {
  }
  for (const int number : {SIGINT, SIGHUP, SIGTERM}) ::signal(number, end_now);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int RunSignals::next() const noexcept {
  signalfd_siginfo info{};
  return ::read(file_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace allot::app
