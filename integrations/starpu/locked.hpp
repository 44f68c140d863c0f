// The lock of a scheduling context, taken in the way that StarPU requires.
#pragma once

#include <starpu.h>

#include <mutex>

namespace allot::starpu {

/// Waits for the lock in StarPU's relaxed state, so that other threads that need this worker can proceed. The
/// state has no effect on threads that are not workers.
class Locked {
 public:
  explicit Locked(std::mutex& mutex) : lock_(mutex, std::defer_lock) { lock(); }
  void lock() {
    starpu_worker_relax_on();
    lock_.lock();
    starpu_worker_relax_off();
  }
  void unlock() { lock_.unlock(); }

 private:
  std::unique_lock<std::mutex> lock_;
};

}  // namespace allot::starpu
