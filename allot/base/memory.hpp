// How much memory there is, so that what would not fit is refused before it is taken.
#pragma once

#include <cstdint>
#include <string>

namespace allot {

/// Bytes that this process can still take: the least of what the machine has free, what a control group
/// leaves, and the process's own limits (ulimit -v, -d). Where nothing is known: without end.
std::uint64_t memory_available();

/// Throws InvalidModel for `field` when so many bytes would not fit, saying what they are for, how many they
/// are and how many there are.
void require_memory(double bytes, const std::string& field, const std::string& what);

/// "3.2 GiB"
std::string memory_text(double bytes);

}  // namespace allot
