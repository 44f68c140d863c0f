#include "integrations/starpu/planner.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>

namespace allot::starpu {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kLook{4};
constexpr std::chrono::milliseconds kIdleLook{200};
/// Delay after a wake-up, so that events that come together are handled together.
constexpr std::chrono::milliseconds kSettle{1};

/// Processor time of this thread. On a busy machine a look may take long because of other programs; that must
/// not delay the next one.
Clock::duration processor_time() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace

Planner::Planner(std::function<bool()> look) : look_(std::move(look)) {
  // Signals must go to the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Planner::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  awake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Planner::wake() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (woken_) return;
    woken_ = true;
  }
  awake_.notify_all();
}

void Planner::run() noexcept {
  std::unique_lock lock(mutex_);
  Clock::time_point earliest = Clock::now();
  bool busy = false;
  while (!stopping_) {
    awake_.wait_for(lock, busy ? kLook : kIdleLook, [this] { return stopping_ || woken_; });
    const Clock::time_point begin = std::max(earliest, woken_ ? Clock::now() + kSettle : Clock::now());
    awake_.wait_until(lock, begin, [this] { return stopping_; });
    if (stopping_) return;
    woken_ = false;
    lock.unlock();
    const Clock::duration start = processor_time();
    try {
      busy = look_();
    } catch (const std::exception&) {
      busy = true;  // perhaps out of memory: the next look may succeed
    }
    earliest = Clock::now() + std::chrono::duration_cast<Clock::duration>((processor_time() - start) / kPart);
    lock.lock();
  }
}

}  // namespace allot::starpu
