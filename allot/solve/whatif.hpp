// What a change of the machine or its work would be worth.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

struct Change {
  /// One more server, one more unit of another capacity, one more thread, a pair 10% faster.
  enum class What { kServer, kCapacity, kThread, kRate };
  What what = What::kServer;
  std::optional<TaskType> task;        ///< for kThread and kRate
  std::optional<ResourceId> resource;  ///< for kServer and kRate
  double throughput = 0;               ///< of the best answer found after the change
  double value = 0;                    ///< of the same answer
  double gain = 0;                     ///< in value, relative to the base
  bool approximate = false;            ///< the changed state has no exact formula
  std::optional<CapacityId> capacity;  ///< for kServer and kCapacity
  /// Planned service, for a capacity: at most what more of it adds to the objective, per unit.
  std::optional<double> price;
  /// Planned service, if tasks have needs: the gain in the most that whole tasks can reach. `gain` may be due
  /// to fractions of tasks.
  std::optional<double> whole_gain;
};

struct WhatIf {
  Solution base;
  std::vector<Change> changes;            ///< largest gain first; ties in the order server, capacity, thread,
                                          ///< rate, then by index
  Outcome outcome = Outcome::kConverged;  ///< time_limit or interrupted: `changes` holds those tried so far
};

/// "server", "capacity", "thread" or "rate".
std::string_view to_string(Change::What what) noexcept;

/// How much faster a kRate change makes a pair.
inline constexpr double kFasterPair = 1.1;

/// Computes the best known answer (best.hpp) for the system as it is and with each change, starting from the
/// base's answer and from its own starts. With many changes, each gets fewer steps.
WhatIf what_if(const System& system, const SolveOptions& options = {});

/// The same for planned service, with a new plan for each change. If there are only arrivals, gains are in
/// the load that can be carried.
WhatIf what_if_planned(const Problem& problem, const SolveOptions& options = {});

}  // namespace allot
