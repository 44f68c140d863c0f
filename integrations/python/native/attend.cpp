#include "integrations/python/native/attend.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

namespace allot::python {
namespace {

/// Time between two checks of signals: short for a person, long for a processor.
constexpr std::chrono::milliseconds kPatience{50};

}  // namespace

void Attendant::send(std::function<void()> message) {
  const std::lock_guard lock(mutex_);
  message_ = std::move(message);
}

void Attendant::run_work(const std::function<void()>& work) {
  std::exception_ptr failed;  // in the work
  std::exception_ptr raised;  // in Python
  std::condition_variable ended;
  bool done = false;
  // Called with the interpreter lock.
  const auto look_around = [&](const std::function<void()>& message) {
    try {
      if (PyErr_CheckSignals() != 0) throw py::error_already_set();
      if (message) message();
    } catch (...) {
      raised = std::current_exception();
      stop_ = true;
    }
  };
  std::thread worker([&] {
    try {
      work();
    } catch (...) {
      failed = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    done = true;
    ended.notify_one();
  });
  {
    const Unlocked released;
    std::unique_lock lock(mutex_);
    while (!ended.wait_for(lock, kPatience, [&] { return done; })) {
      if (raised) continue;
      const std::function<void()> message = message_;
      lock.unlock();
      {
        const Relocked held;
        look_around(message);
      }
      if (call_.is_forked()) {
        // The worker stayed in the parent and may hold the mutex there.
        worker.detach();
        break;
      }
      lock.lock();
    }
    if (lock.owns_lock()) lock.unlock();
    if (worker.joinable()) worker.join();
  }
  if (call_.is_forked()) raise_forked("this call", "do not fork while allot works, or call os._exit there");
  if (!raised) look_around(failed ? nullptr : message_);
  message_ = nullptr;
  if (raised) std::rethrow_exception(raised);
  call_.check_ending();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace allot::python
