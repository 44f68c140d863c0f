// Starting a program as cheaply as the kernel can: the child borrows this process's memory until it executes,
// so nothing is copied, and why it could not is known when the call returns.
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
  /// Descriptors to become standard input, output and error; -1: the file named below, or /dev/null.
  int input = -1;
  int output = -1;
  int error = -1;
  /// Made new: what lies there is removed first, a link is not followed.
  std::string output_path;
  std::string error_path;
  bool private_output = true;        ///< only its owner may read it (0600), rather than whom the umask lets
  int signal_at_parents_end = 0;     ///< sent to it when the thread that started it ends; 0: none
  std::size_t most_descriptors = 0;  ///< its soft limit; 0: this process's
};

struct Spawned {
  pid_t process = -1;  ///< -1: could not be started
  std::string error;
  bool not_found = false;  ///< because there is no such program, or none that can be executed
};

/// Starts the program as the leader of a new session, with default signals, no signal blocked, and no
/// descriptors but the three. Signals are blocked meanwhile. The child is for the caller to reap.
Spawned spawn(const Program& program);

}  // namespace allot::detail
