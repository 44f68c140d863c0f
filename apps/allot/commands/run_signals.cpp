#include "apps/allot/commands/run_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "apps/allot/exit.hpp"

namespace allot::app {

RunSignals::RunSignals() {
  ::sigemptyset(&set_);
  for (const int number : {SIGINT, SIGHUP, SIGTERM, SIGTSTP}) ::sigaddset(&set_, number);
  ::sigprocmask(SIG_BLOCK, &set_, &before_);
  file_ = ::signalfd(-1, &set_, SFD_NONBLOCK | SFD_CLOEXEC);
  if (file_ < 0) throw Failure(Exit::kInputOutput, std::string("signalfd: ") + std::strerror(errno));
}

RunSignals::~RunSignals() {
  ::close(file_);
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int RunSignals::next() const noexcept {
  signalfd_siginfo info{};
  return ::read(file_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace allot::app
