// Exit statuses.
#pragma once

#include <stdexcept>
#include <string>

namespace allot::app {

enum class Exit : int {
  kOk = 0,
  kFailed = 1,  ///< the work failed: no feasible answer, or the result could not be written
  kUsage = 2,
  kInvalidInput = 3,
  // only for `run`
  kJournal = 4,      ///< the journal is locked, belongs to other work, or is corrupt
  kInputOutput = 5,  ///< the journal can no longer be written
  kHalted = 6,       ///< too many tasks failed
  kTimeLimit = 7,    ///< the time limit was over before all was done
  kHungUp = 129,     ///< SIGHUP
  kInterrupted = 130,
  kTerminated = 143,  ///< SIGTERM
};

/// Ends a command early: `what()` is for standard error; empty if everything was reported already.
class Failure : public std::runtime_error {
 public:
  Failure(Exit status, const std::string& message) : std::runtime_error(message), status_(status) {}
  Exit status() const noexcept { return status_; }

 private:
  Exit status_;
};

}  // namespace allot::app
