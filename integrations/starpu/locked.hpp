// The lock of a scheduling context, taken as StarPU wants it.
#pragma once

#include <starpu.h>

#include <mutex>

namespace allot::starpu {

/// Waits for the lock in StarPU's relaxed state, so that others who need this worker meanwhile get it. For
/// threads that are no workers the state means nothing.
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
