// A general solver of integer programs, CBC, on the throughput problem.
//
// The throughput is linear once the totals of the resources are known. So for every resource j and total m a
// binary z_jm says whether j holds m tasks, and x_ijm of them are of type i:
//
//     maximise  sum mu_ij x_ijm / m     sum_i x_ijm = m z_jm,  sum_m z_jm <= 1,  sum_jm x_ijm = N_i,
//                                       0 <= x_ijm <= min(N_i, m) z_jm
//
// With the totals fixed this is a transportation problem, so x needs no integrality.
#pragma once

#include <filesystem>
#include <optional>

#include "allot/model/system.hpp"

namespace bench {

/// Whether there is a command `cbc`.
bool has_cbc();

struct CbcAnswer {
  double seconds = 0;                           ///< CPU seconds of the command, reading the file included
  std::optional<allot::Assignment> assignment;  ///< proven optimal; absent when the limit came first
};

/// For systems of single ps servers without floors and depths. Works in the folder. `limit`: CPU seconds.
CbcAnswer solve_with_cbc(const allot::System& system, const std::filesystem::path& folder, double limit);

}  // namespace bench
