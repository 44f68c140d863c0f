#include "integrations/python/native/lifetime.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace allot::python {
namespace {

/// How long the end of the interpreter waits for work that was asked to stop.
constexpr std::chrono::seconds kExitPatience{10};

/// Global state of the process. Never destroyed: threads may outlive everything else.
struct Work {
  std::mutex mutex;
  std::condition_variable less;
  int under_way = 0;
  std::vector<StopFlag*> flags;
  std::vector<EndedInTime*> ended_in_time;
  std::atomic<bool> ending{false};
  std::atomic<bool> over{false};  ///< nothing is waited for any more
};

Work& work() {
  static Work* const instance = new Work;
  return *instance;
}

template <typename Value>
void take_out(std::vector<Value>& values, Value value) {
  const auto it = std::find(values.begin(), values.end(), value);
  if (it != values.end()) values.erase(it);
}

/// A thread must not return into an interpreter that has ended: it would be ended in the middle of native
/// code, which aborts the process.
void stay_out_if_over() {
  while (work().over.load(std::memory_order_acquire)) ::pause();
}

// A fork copies the mutex in its present state: it is held during the fork, so that it is free in both
// processes.
void before_fork() { work().mutex.lock(); }
void after_fork_in_parent() { work().mutex.unlock(); }
void after_fork_in_child() {
  Work& all = work();
  // The other threads are not in the child. The thread that forked may be in a call, which is not counted
  // twice (NativeCall).
  all.under_way = 0;
  all.flags.clear();
  all.ended_in_time.clear();
  all.mutex.unlock();
}

}  // namespace

void raise_forked(const char* what, const char* advice) {
  throw std::runtime_error(std::string(what) +
                           " belongs to the process that made it, of which this one is a fork; " + advice);
}

void raise_ending() {
  throw std::runtime_error(
      "the interpreter is ending, and allot begins no more work; end or join the threads that call it before "
      "the "
      "program ends");
}

NativeCall::NativeCall(StopFlag* stop) : stop_(stop), process_(::getpid()) {
  Work& all = work();
  const std::lock_guard lock(all.mutex);
  if (all.ending) raise_ending();
  ++all.under_way;
  if (stop_ != nullptr) all.flags.push_back(stop_);
}

NativeCall::~NativeCall() {
  if (is_forked()) return;
  Work& all = work();
  const std::lock_guard lock(all.mutex);
  --all.under_way;
  if (stop_ != nullptr) take_out(all.flags, stop_);
  all.less.notify_all();
}

void NativeCall::check_ending() const {
  if (work().ending) raise_ending();
}

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {}

Unlocked::~Unlocked() {
  stay_out_if_over();
  PyEval_RestoreThread(state_);
}

Relocked::Relocked() {
  stay_out_if_over();
  state_ = PyGILState_Ensure();
}

Relocked::~Relocked() { PyGILState_Release(state_); }

EndedInTime::EndedInTime(std::function<std::shared_ptr<void>()> give_up) : give_up_(std::move(give_up)) {
  const std::lock_guard lock(work().mutex);
  work().ended_in_time.push_back(this);
}

EndedInTime::~EndedInTime() {
  const std::lock_guard lock(work().mutex);
  take_out(work().ended_in_time, this);
}

void end_without_lock(std::shared_ptr<void> object) noexcept {
  try {
    const Unlocked released;
    object.reset();
  } catch (const std::runtime_error&) {  // ending: no lock may be released any more
    object.reset();
  }
}

/// Called by atexit: Python and its other threads still run.
void end_all() {
  Work& all = work();
  bool ended = false;
  {
    const pybind11::gil_scoped_release released;
    std::unique_lock lock(all.mutex);
    all.ending = true;
    for (StopFlag* const flag : all.flags) *flag = true;
    ended = all.less.wait_for(lock, kExitPatience, [&] { return all.under_way == 0; });
    all.over = !ended;
  }
  // Threads that use such an object without releasing the lock cannot be in a call now.
  std::vector<std::shared_ptr<void>> last;
  if (ended) {
    std::unique_lock lock(all.mutex);
    const std::vector<EndedInTime*> left = all.ended_in_time;
    lock.unlock();
    for (EndedInTime* const one : left) last.push_back(one->give_up_());
  }
  {
    const pybind11::gil_scoped_release released;
    last.clear();
  }
  all.over = true;
}

void bind_lifetime(pybind11::module_& module) {
  static const int registered = ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  static_cast<void>(registered);
  module.def("_end", &end_all);
  pybind11::module_::import("atexit").attr("register")(module.attr("_end"));
}

}  // namespace allot::python
