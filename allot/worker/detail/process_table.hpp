// Who is whose child, from /proc.
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

/// All processes that can be seen. Not one moment: processes come and go while it is read.
std::vector<ProcessEntry> process_table();

/// Those entries that are among `roots` or descend from them.
std::vector<ProcessEntry> with_descendants(const std::vector<ProcessEntry>& table,
                                           std::span<const pid_t> roots);

/// The children of this process's main thread, with the orphans that it adopted; zombies too. Cheap: one
/// small file. Empty where the kernel does not tell.
std::vector<pid_t> own_children();

/// The value of `name` in the environment that the process was started with; empty if there is none, or if it
/// cannot be read.
std::string environment_of(pid_t process, const std::string& name);

}  // namespace allot::detail
