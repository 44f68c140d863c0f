// The signals that a run answers.
#pragma once

#include <signal.h>

namespace allot::app {

/// The signals INT, HUP, TERM and TSTP as a file. They are blocked from its making on, in all threads made
/// later.
class RunSignals {
 public:
  /// Throws Failure when there is no such file to be had.
  RunSignals();
  RunSignals(const RunSignals&) = delete;
  RunSignals& operator=(const RunSignals&) = delete;
  ~RunSignals();

  int file() const noexcept { return file_; }
  /// The next one that has come; 0: none.
  int next() const noexcept;

 private:
  sigset_t set_{};
  sigset_t before_{};
  int file_ = -1;
};

}  // namespace allot::app
