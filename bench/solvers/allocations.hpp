// Counts what is taken from the heap with `new`.
#pragma once

#include <cstdint>

namespace bench {

/// How often memory has been taken so far, by this program and the library linked into it.
std::uint64_t allocations() noexcept;

}  // namespace bench
