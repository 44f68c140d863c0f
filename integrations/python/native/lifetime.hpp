// Native work in two special situations: at the end of the interpreter, when threads that request its lock
// are ended on the spot, and after a fork, when only one thread is left.
//
// At the end (an atexit function): no new work begins, current work is asked to stop and waited for, and
// dispatchers end their planners. So nothing of this module runs when Python ends its threads. After a fork:
// a call that would wait for a thread that the child does not have raises an exception.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "allot/base/stop.hpp"

namespace allot::python {

/// Work in progress. The constructor throws RuntimeError if the interpreter is ending.
class NativeCall {
 public:
  /// `stop`: set when the interpreter ends; may be null for short work.
  explicit NativeCall(StopFlag* stop = nullptr);
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;
  ~NativeCall();

  /// Throws RuntimeError if the work was stopped by the end of the interpreter.
  void check_ending() const;
  /// Whether this is another process than the one in which the work began.
  bool is_forked() const noexcept { return ::getpid() != process_; }

 private:
  StopFlag* stop_;
  pid_t process_;
};

/// Releases the interpreter lock during its life. If the interpreter no longer waits, the thread does not
/// continue: it sleeps until the process ends.
class Unlocked {
 public:
  Unlocked();
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked();

 private:
  NativeCall call_;
  PyThreadState* state_;
};

/// Inside Unlocked: takes the lock back for a moment.
class Relocked {
 public:
  Relocked();
  Relocked(const Relocked&) = delete;
  Relocked& operator=(const Relocked&) = delete;
  ~Relocked();

 private:
  PyGILState_STATE state_;
};

/// An object with its own threads: `give_up` is called at the interpreter's end, with the lock, unless this
/// was destroyed before; its result is destroyed without the lock.
class EndedInTime {
 public:
  explicit EndedInTime(std::function<std::shared_ptr<void>()> give_up);
  EndedInTime(const EndedInTime&) = delete;
  EndedInTime& operator=(const EndedInTime&) = delete;
  ~EndedInTime();

 private:
  friend void end_all();
  std::function<std::shared_ptr<void>()> give_up_;
};

/// Destroys an object that has its own threads: without the interpreter lock, unless the interpreter is
/// ending. Its end waits for this like for other work.
void end_without_lock(std::shared_ptr<void> object) noexcept;

/// The error in a child that uses an object of its parent.
[[noreturn]] void raise_forked(const char* what, const char* advice);
/// The error in a thread when the interpreter is ending.
[[noreturn]] void raise_ending();

void bind_lifetime(pybind11::module_& module);

}  // namespace allot::python
