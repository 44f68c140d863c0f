// What is optimised: one table, from which options, solvers and results take names and properties.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "allot/model/system.hpp"

namespace allot {

enum class Objective {
  kThroughput,    ///< the most value per second (paper Eq. 4-5 where every completion counts 1)
  kPriority,      ///< completions in the desired shares (paper Eq. 6-7)
  kMaxMin,        ///< the most for the type that has least, relative to its weight; then for the next
  kProportional,  ///< the largest sum of weighted logarithms of what each type completes
  kEnergy,        ///< the least power that still gives most of the value
};

struct ObjectiveInfo {
  Objective objective;
  std::string_view name;
  std::string_view summary;
  bool needs_shares = false;
  /// Only planned service can be asked for it.
  bool is_planned = false;
  /// Of an objective that is linear in what the types complete: what a completion counts. Else null.
  double (*weight)(const System&, TaskType) = nullptr;
};

/// All of them, in the order of the enumeration.
std::span<const ObjectiveInfo> objectives() noexcept;
const ObjectiveInfo& info(Objective objective) noexcept;
std::string_view to_string(Objective objective) noexcept;
std::optional<Objective> parse_objective_name(std::string_view name) noexcept;

/// Whether it is to maximise a sum of weights times completions.
inline bool is_linear(Objective objective) noexcept { return info(objective).weight != nullptr; }

}  // namespace allot
