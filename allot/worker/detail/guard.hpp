// Whoever kills a worker and its parent at once has left nobody to look after the tasks: but for the guard.
#pragma once

#include <sys/types.h>

#include <string>

namespace allot::detail {

/// A small process that outlives this one by a moment: it waits for this process's end, however that comes,
/// and then kills every process whose environment has a `name` that begins with `value`. Call it while there
/// is no other thread. Returns its number, or -1 if there is none to be had; a child of this process.
pid_t start_guard(const std::string& name, const std::string& value);

}  // namespace allot::detail
