// How much memory is available, so that work that would not fit is refused beforehand.
#pragma once

#include <cstdint>
#include <string>

namespace allot {

/// Bytes that this process can still allocate: the least of the machine's free memory, the rest of the
/// control group's limit, and the limits of the process (ulimit -v, -d). Unlimited if nothing is known.
std::uint64_t memory_available();

/// Throws InvalidModel for `field` if this many bytes would not fit. The message says what they are for, how
/// many are needed, and how many are available.
void require_memory(double bytes, const std::string& field, const std::string& what);

/// "3.2 GiB"
std::string memory_text(double bytes);

}  // namespace allot
