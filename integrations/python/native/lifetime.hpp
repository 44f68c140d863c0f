// Native work at the two moments when an interpreter is not what it was: at its end, when threads that want
// it back are ended where they stand, and after a fork, when all threads but one are gone.
//
// At the end (an atexit function): no new work begins, work under way is asked to stop and waited for, and
// dispatchers end their planners. So nothing of this module runs when Python ends its threads. After a fork:
// whatever waits for a thread that the child does not have raises an exception instead.
#pragma once

#include <pybind11/pybind11.h>
#include <unistd.h>

#include <functional>
#include <memory>

#include "allot/base/stop.hpp"

namespace allot::python {

/// Work under way. The constructor throws RuntimeError when the interpreter is ending.
class NativeCall {
 public:
  /// `stop`: set when the interpreter ends; may be null for what does not take long.
  explicit NativeCall(StopFlag* stop = nullptr);
  NativeCall(const NativeCall&) = delete;
  NativeCall& operator=(const NativeCall&) = delete;
  ~NativeCall();

  /// Throws RuntimeError when it was the interpreter's end that stopped the work.
  void check_ending() const;
  /// Whether this is another process than the one that the work began in.
  bool is_forked() const noexcept { return ::getpid() != process_; }

 private:
  StopFlag* stop_;
  pid_t process_;
};

/// The interpreter lock, given away for as long as this lives. Where the interpreter does not wait any
/// longer, the thread does not come back: it sleeps until the process is gone.
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

/// Within Unlocked: the lock taken back for a moment.
class Relocked {
 public:
  Relocked();
  Relocked(const Relocked&) = delete;
  Relocked& operator=(const Relocked&) = delete;
  ~Relocked();

 private:
  PyGILState_STATE state_;
};

/// Something with threads of its own: `give_up` is called at the interpreter's end, with the lock, unless
/// this has gone before; what it returns is destroyed without the lock.
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

/// What a child is told that uses something of its parent's.
[[noreturn]] void raise_forked(const char* what, const char* advice);
/// And a thread, when the interpreter is ending.
[[noreturn]] void raise_ending();

void bind_lifetime(pybind11::module_& module);

}  // namespace allot::python
