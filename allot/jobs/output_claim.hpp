// Prevents two runs from writing the same output: a run claims its outputs, and another run that would write
// one of them is refused. For the runs of one user on one machine.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"

namespace allot {

/// The absolute paths of all outputs of a job.
std::vector<std::string> outputs_of(const Job& job);

/// Held during the life of the object or the process: a locked file in a folder of the user.
class OutputClaim {
 public:
  /// `folder`: the folder for claims; empty: $XDG_RUNTIME_DIR/allot, or one in the folder for temporary
  /// files. Throws JournalError (kLocked), naming the output and the process, if one of them is already
  /// claimed. Without such a folder, nothing is claimed.
  explicit OutputClaim(const std::vector<std::string>& outputs, const std::string& folder = "");
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;
  ~OutputClaim();

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace allot
