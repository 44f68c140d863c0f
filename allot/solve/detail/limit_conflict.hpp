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
  /// What the last of them could be while the others are met, in its own unit; absent: unknown.
  std::optional<double> reach;
};

/// The conflicts of an infeasible program; no two share a limit. Without all of these limits the program is
/// feasible, unless the poll has said stop. Afterwards the program has only the limits of the first conflict.
std::vector<LimitConflict> find_conflicts(ServiceProgram& service, StopPoll& poll);

/// "the floor of 'a' (6 tasks/s) and the power_cap (90 W)".
std::string names_of(const ServiceProgram& service, const LimitConflict& conflict);

/// "at most 5.2 tasks/s", rounded to the safe side; empty if the reach is unknown.
std::string reach_in_words(const LimitConflict& conflict);

}  // namespace allot::detail
