// The section of bench_planned on tasks that need several things.
#pragma once

#include <cstdint>

/// Prints what part of the value that whole tasks can reach at most each policy reaches, simulated.
void bench_needs(int systems, std::uint64_t completions);
