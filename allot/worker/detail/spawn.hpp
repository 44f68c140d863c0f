// Starts a program as cheaply as the kernel allows: the child borrows this process's memory until it
// executes, so nothing is copied, and a failure is known when the call returns.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace allot::detail {

struct Program {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value", on top of this process's own
  std::string directory;                 ///< empty: this process's
  /// Descriptors for standard input, output and error; -1: the file named below, or /dev/null.
  int input = -1;
  int output = -1;
  int error = -1;
  /// Created new: an existing file is removed first, and links are not followed.
  std::string output_path;
  std::string error_path;
  bool private_output = true;        ///< only its owner may read it (0600); otherwise the umask decides
  int signal_at_parents_end = 0;     ///< sent to the program when the thread that started it ends; 0: none
  std::size_t most_descriptors = 0;  ///< its soft limit; 0: the limit of this process
};

struct Spawned {
  pid_t process = -1;  ///< -1: could not be started
  std::string error;
  bool not_found = false;  ///< there is no such program, or it cannot be executed
};

/// Starts the program as the leader of a new session, with default signals, no signal blocked, and only these
/// three descriptors. Signals are blocked during the call. The caller must reap the child.
Spawned spawn(const Program& program);

}  // namespace allot::detail
