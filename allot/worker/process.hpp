// Prevents orphans: a process adopts the processes that its descendants leave behind, and ends them all.
#pragma once

#include <chrono>
#include <span>

namespace allot {

/// From now on a descendant whose parent ends becomes a child of this process instead of init
/// (PR_SET_CHILD_SUBREAPER). Applies to the whole process, and is not inherited.
void adopt_orphans() noexcept;

/// Kills (SIGKILL) all descendants of this process and reaps them, repeatedly, until none is left, except for
/// the children in `spare` and their descendants. Complete only after adopt_orphans(). False if some are left
/// after `patience`: a process that hangs in the kernel cannot be killed. Reads /proc; takes some
/// milliseconds.
bool kill_descendants(std::span<const int> spare = {},
                      std::chrono::milliseconds patience = std::chrono::seconds(10));

}  // namespace allot
