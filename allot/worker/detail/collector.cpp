#include "allot/worker/detail/collector.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "allot/worker/task.hpp"

namespace allot::detail {

bool Collector::open() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
  read_end_ = Descriptor(ends[0]);
  write_end_ = Descriptor(ends[1]);
  // Only this end: the task must block when the pipe is full.
  return ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

void Collector::read() {
  // At most what a pipe holds at once, so that a task that writes without end does not delay the others.
  std::array<char, 16384> part;
  for (std::size_t round = 0; read_end_ && round < 8; ++round) {
    const ssize_t size = ::read(read_end_.get(), part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size <= 0) return close();
    const std::size_t kept = std::min(static_cast<std::size_t>(size), kMostOutput - text.size());
    text.append(part.data(), kept);
    cut = cut || kept < static_cast<std::size_t>(size);
  }
}

}  // namespace allot::detail
