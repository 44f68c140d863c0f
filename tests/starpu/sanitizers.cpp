// What the sanitizers leave to StarPU when they watch the policies inside it. They ask a program for these by
// name; in other builds nobody does.
//
// A library that is not built with them has one frame in their reports, the one that takes the lock or the
// memory itself. So that a policy called by StarPU is not taken for StarPU, stacks of allocations end there.

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
const char* __asan_default_options();
const char* __lsan_default_suppressions();
const char* __tsan_default_suppressions();

const char* __asan_default_options() { return "malloc_context_size=2"; }

/// Reductions (1.3.10).
const char* __lsan_default_suppressions() { return "leak:libstarpu\n"; }

/// Cycles with a lock that StarPU itself takes: when contexts and their workers change, it takes its own in
/// either order (1.3.10). Cycles among ours are reported, and so is every race.
const char* __tsan_default_suppressions() { return "deadlock:libstarpu\n"; }
}
// NOLINTEND(bugprone-reserved-identifier)
