// Two runs must not write one output: while a run goes on, its outputs are claimed, and another that would
// write one of them is refused. For the runs of one user on one machine.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"

namespace allot {

/// The absolute paths of all outputs of a job.
std::vector<std::string> outputs_of(const Job& job);

/// Held for as long as the object, or the process, lives: a file in a folder of the user's own, locked.
class OutputClaim {
 public:
  /// `folder`: where claims lie; empty: $XDG_RUNTIME_DIR/allot, or one in the folder for temporary files.
  /// Throws JournalError (kLocked), naming the output and the process, when one of them is claimed. Where no
  /// such folder can be had, nothing is claimed.
  explicit OutputClaim(const std::vector<std::string>& outputs, const std::string& folder = "");
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;
  ~OutputClaim();

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace allot
