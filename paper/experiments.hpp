// The experiments of `allot reproduce`: every one of the paper's evaluation, and our own on its claims.
#pragma once

#include <span>
#include <string_view>

#include "allot/sweep/experiment.hpp"

namespace allot {

/// All of them, in the order of the list in paper/CMakeLists.txt, which is that of the report. Thread-safe.
std::span<const Experiment> builtin_experiments();

/// A mean over fewer runs settles nothing: so few need not have met the rare ones.
inline constexpr std::size_t kEnough = 30;

/// Null when there is no experiment of that name.
const Experiment* find_experiment(std::string_view name);

}  // namespace allot
