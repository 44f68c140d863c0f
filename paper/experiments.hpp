// The experiments of `allot reproduce`: all of the paper's evaluation, and our own on its claims.
#pragma once

#include <span>
#include <string_view>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// All experiments, in the order of the list in paper/CMakeLists.txt, which is the order of the report.
/// Thread-safe.
std::span<const Experiment> builtin_experiments();

/// With fewer runs a mean is undecided: they may have missed rare cases.
inline constexpr std::size_t kEnough = 30;

/// Null if there is no experiment of that name.
const Experiment* find_experiment(std::string_view name);

}  // namespace allot
