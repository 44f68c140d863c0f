// The bound of all plans from prices: weak duality on the rows of planned service, in rational numbers.
#pragma once

#include <gmpxx.h>

#include <string>

#include "allot/check/plan.hpp"

namespace allot::check::detail {

/// What a machine completes of a type with this many threads (negative: any number) and no other work.
mpq_class most_alone(const PlanMachine& machine, std::size_t type, std::int64_t threads);

/// The amount of a capacity.
mpq_class amount_of(const PlanMachine& machine, std::size_t capacity);

/// The servers of its resource that a task takes there.
mpq_class servers_taken(const PlanMachine& machine, std::size_t type, std::size_t resource);

/// How often a group visits a type in a round.
std::int64_t visits(const Group& group, std::size_t type);

/// The shares that the priorities ask for; they sum to 1.
std::vector<mpq_class> shares_of(const Machine& machine);

/// The weight of a type in fairness; 0: it takes no part.
mpq_class weight_of(const Task& task);

/// Value per second of the arrivals if all of them are carried.
mpq_class value_of_arrivals(const PlanMachine& machine);

mpq_class idle_power(const PlanMachine& machine);

/// What is wrong with the prices; empty if they prove the claim.
std::string problem_of_bound(const PlanCertificate& certificate);

}  // namespace allot::check::detail
