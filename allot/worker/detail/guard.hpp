// Kills the tasks if a worker and its parent are killed together.
#pragma once

#include <sys/types.h>

#include <string>

namespace allot::detail {

/// Starts a small process that outlives this one briefly: it waits until this process ends for any reason,
/// and then kills every process whose environment has a `name` with a value that begins with `value`. Call it
/// while there is no other thread. Returns its process number, or -1 if it could not be started; it is a
/// child of this process.
pid_t start_guard(const std::string& name, const std::string& value);

}  // namespace allot::detail
