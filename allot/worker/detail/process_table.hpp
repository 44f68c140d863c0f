// Processes and their parents, from /proc.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace allot::detail {

struct ProcessEntry {
  pid_t process = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  bool zombie = false;
};

/// All visible processes. Not a snapshot: processes come and go while the table is read.
std::vector<ProcessEntry> process_table();

/// The entries that are in `roots` or descend from them.
std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& table,
                                           std::span<const pid_t> roots);

/// The children of this process's main thread, including zombies and adopted orphans. Cheap: reads one small
/// file. Empty if the kernel does not provide it.
std::vector<pid_t> own_children();

/// The value of `name` in the environment with which the process was started; empty if it is not set or
/// cannot be read.
std::string environment_of(pid_t process, const std::string& name);

}  // namespace allot::detail
