// What whole tasks can reach. The program of planned service counts fractions of tasks, but a task holds all
// of what it needs or is not in service: two tasks that each take 41 of 80 GB are never in service together.
#pragma once

#include <optional>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/solve/solution.hpp"

namespace allot::detail {

/// The most value per second that whole tasks can reach; `plain` is the bound for fractions of tasks. Empty
/// if no whole tasks meet the limits.
///
/// At any moment the tasks in service are a packing: whole numbers that fit into what is held. So their means
/// are a mix of packings, and the best mix is the solution of a linear program with one column per packing.
/// Columns are made when needed, each by a search for the packing that is worth most at the prices of the
/// last program. If that takes too many steps, the bound is that of `packing_bound_of_rows`.
/// `shares` receives the means in service of such a mix, by pair; it stays empty if none was found.
std::optional<double> packing_bound(const Problem& problem, double plain, StopPoll& poll,
                                    std::vector<double>* shares = nullptr);

/// A bound from rows that hold for every packing: for each held capacity r and k = 1..6,
/// sum of u_k(a_ijr / C_r) x_ij <= 1, where u_k(y) = y if (k + 1) y is whole, else floor((k + 1) y) / k.
std::optional<double> packing_bound_of_rows(const Problem& problem, double plain, StopPoll& poll);

}  // namespace allot::detail
