// Which limits of a plan exclude each other, and what could be reached instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/solve/detail/service_program.hpp"

namespace allot::detail {

/// Limits that cannot be met together; without any one of them, the others can.
struct LimitConflict {
  std::vector<ServiceProgram::Limit> limits;
  /// What the last of them could be while the others are met, in its own unit; absent: not known.
  std::optional<double> reach;
};

/// Conflicts of a program that is infeasible; no two have a limit in common. Without all of these limits it
/// is feasible, unless the poll has said stop. Afterwards the program has the limits of the first conflict
/// alone.
std::vector<LimitConflict> find_conflicts(ServiceProgram& service, StopPoll& poll);

/// "the floor of 'a' (6 tasks/s) and the power_cap (90 W)".
std::string names_of(const ServiceProgram& service, const LimitConflict& conflict);

/// "at most 5.2 tasks/s", on the safe side; empty where the reach is not known.
std::string reach_in_words(const LimitConflict& conflict);

}  // namespace allot::detail
