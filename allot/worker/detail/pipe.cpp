#include "allot/worker/detail/pipe.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

namespace allot::detail {
namespace {

/// In units of 64 KiB: maximum data read from one pipe before others get their turn.
constexpr int kMostReads = 16;

}  // namespace

std::pair<Descriptor, Descriptor> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  }
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool read_available(int fd, std::string& into) {
  std::array<char, 65536> part;
  for (int round = 0; round < kMostReads; ++round) {
    const ssize_t size = ::read(fd, part.data(), part.size());
    if (size > 0) into.append(part.data(), static_cast<std::size_t>(size));
    if (size > 0 && static_cast<std::size_t>(size) < part.size()) return true;
    if (size < 0 && errno == EAGAIN) return true;
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
  }
  return true;
}

ssize_t write_quietly(int fd, std::string_view bytes) {
  sigset_t pipe;
  sigset_t before;
  sigset_t pending;
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ::sigpending(&pending);
  const ssize_t written = ::write(fd, bytes.data(), bytes.size());
  const int error = errno;
  if (written < 0 && error == EPIPE && ::sigismember(&pending, SIGPIPE) == 0) {
    const timespec at_once{};
    ::sigtimedwait(&pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace allot::detail
