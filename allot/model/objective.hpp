// What is optimised: one table, from which options, solvers and results take names and properties.
#pragma once

#include <span>
#include <string_view>

#include "allot/model/system.hpp"

namespace allot {

enum class Objective {
  kThroughput,    ///< the most value per second (paper Eq. 4-5 where every completion counts 1)
  kPriority,      ///< completions in the desired shares (paper Eq. 6-7)
  kMaxMin,        ///< the most for the type with least, relative to its weight; then for the next
  kProportional,  ///< the largest weighted sum of the logarithms of completions
  kEnergy,        ///< the least power that keeps most of the value
};

struct ObjectiveInfo {
  Objective objective;
  std::string_view name;
  std::string_view summary;
  bool needs_shares = false;
  /// Only for planned service.
  bool is_planned = false;
  /// Whether live work can aim for it.
  bool is_for_live_work = true;
  /// If the objective is linear in the completions: the weight of a completion. Else null.
  double (*weight)(const System&, TaskType) = nullptr;
};

/// All of them, in the order of the enumeration.
std::span<const ObjectiveInfo> objectives() noexcept;
const ObjectiveInfo& info(Objective objective) noexcept;
std::string_view to_string(Objective objective) noexcept;

/// Whether it maximises a sum of weights times completions.
inline bool is_linear(Objective objective) noexcept { return info(objective).weight != nullptr; }

}  // namespace allot
