// Which limits an answer misses, in the words of the scenario: internally, a max_response is a floor.
#pragma once

#include <span>
#include <string>

#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"

namespace allot::detail {

/// "the max_response of 'a' (0.2 s)" or "the floor of 'a' (30 tasks/s)": whichever asks for more.
std::string limit_name(const System& system, TaskType i);

/// The kinds of limits that the system has: "every minimum depth, every floor and every max_response".
std::string limits_in_words(const System& system);

/// "task type 'a' completes 2 tasks/s, below its floor of 3", for the first that misses its floor; empty if
/// none does.
std::string missed_floor(const System& system, std::span<const double> completions);

/// For a system without a feasible assignment: which limits cannot be met, by how much the nearest assignment
/// found misses one, and what may help.
std::string no_assignment_meets(const System& system, const Assignment& nearest);

}  // namespace allot::detail
