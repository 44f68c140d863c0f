// The signals that a run handles.
#pragma once

#include <signal.h>

namespace allot::app {

/// The signals INT, HUP, TERM and TSTP as a file descriptor. The constructor blocks them, also for all
/// threads that are created later.
class RunSignals {
 public:
  /// Throws Failure if the descriptor cannot be created.
  RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;
  ~RunSignals();

  int file() const noexcept { return file_; }
  /// The next signal that has arrived; 0: none.
  int next() const noexcept;

 private:
  sigset_t set_{};
  sigset_t before_{};
  int file_ = -1;
};

}  // namespace allot::app
