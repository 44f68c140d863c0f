// Long work beside a living interpreter: other Python threads run, Ctrl-C works, progress is told.
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

/// Runs work on a thread of its own while the calling thread waits without the interpreter lock. Some twenty
/// times a second, and at the end, the calling thread takes the lock, lets Python handle signals and hands on
/// the last message of the work, again where there is no newer one: a sign of life. So Python code runs in
/// the thread that asked for the work, and nowhere else.
class Attendant {
 public:
  /// For the work: set as soon as a signal handler or a message raises an exception.
  const StopFlag& stop() const noexcept { return stop_; }

  /// Called by the work, from any thread and without the interpreter lock. The message is called with the
  /// lock, by the waiting thread, perhaps several times; a newer message takes its place.
  void send(std::function<void()> message);

  /// Returns the result of the work, or throws what it threw, or what a signal handler or a message raised;
  /// RuntimeError when the interpreter ended meanwhile, or in a child that a message forked.
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
