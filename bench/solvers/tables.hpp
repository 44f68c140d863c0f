// The tables of bench_solvers: times, quality, ours against the rivals, and what was aimed at.
#pragma once

#include <vector>

#include "bench/solvers/measured.hpp"

namespace bench {

/// `limit`: CPU seconds that a solve could take.
void print_tables(const std::vector<Size>& sizes, double limit);

}  // namespace bench
