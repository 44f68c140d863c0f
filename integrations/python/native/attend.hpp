// Long work while the interpreter stays responsive: other Python threads run, Ctrl-C works, progress is
// reported.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "allot/base/stop.hpp"
#include "integrations/python/native/lifetime.hpp"

namespace allot::python {

namespace py = pybind11;

/// Runs work on a separate thread while the calling thread waits without the interpreter lock. About twenty
/// times a second, and at the end, the calling thread takes the lock, lets Python handle signals and delivers
/// the last message of the work, again if there is no newer one, as a sign of life. So Python code runs only
/// in the thread that called.
class Attendant {
 public:
  /// For the work: set when a signal handler or a message raises an exception.
  const StopFlag& stop() const noexcept { return stop_; }

  /// Called by the work, from any thread and without the interpreter lock. The waiting thread calls the
  /// message with the lock, perhaps several times; a newer message replaces it.
  void send(std::function<void()> message);

  /// Returns the result of the work. Throws the exception of the work, of a signal handler or of a message;
  /// RuntimeError if the interpreter ended in the meantime, or in a child that a message forked.
  template <typename Work>
  auto run(Work work) {
    std::optional<decltype(work())> result;
    run_work([&] { result.emplace(work()); });
    return std::move(*result);
  }

 private:
  void run_work(const std::function<void()>& work);

  StopFlag stop_{false};
  NativeCall call_{&stop_};
  std::mutex mutex_;
  std::function<void()> message_;
};

}  // namespace allot::python
