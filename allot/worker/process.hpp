// No orphan: a process that adopts what its descendants leave behind, and ends them all.
#pragma once

#include <chrono>
#include <span>

namespace allot {

/// From now on a descendant whose parent ends becomes a child of this process instead of init's
/// (PR_SET_CHILD_SUBREAPER). Holds for the whole process, and is not inherited.
void adopt_orphans() noexcept;

/// Kills (SIGKILL) all descendants of this process and reaps them, again and again until there are none,
/// except for the children in `spare` and their descendants. Complete only after adopt_orphans(). False if
/// some are left after `patience`: what hangs in the kernel cannot be killed. Reads /proc; some milliseconds.
bool kill_descendants(std::span<const int> spare = {},
                      std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace allot
