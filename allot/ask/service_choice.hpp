// Even sharing or planned service: what was asked for, or what is meant where nothing was said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allot/ask/option.hpp"
#include "allot/model/objective.hpp"
#include "allot/model/scenario.hpp"

namespace allot {

/// How a machine is shared: evenly among the tasks that wait at each resource, or as a plan says.
enum class Service { kEven, kPlanned };

struct ServiceChoice {
  std::optional<Service> wanted;  ///< absent: even, unless only planned service can answer
  std::string note;               ///< where planned service was chosen, why

  Option option();
  /// Whether planned service is meant. Throws InvalidModel for what cannot be: even sharing of what it cannot
  /// take, and counts that change over time.
  bool is_planned(const Scenario& scenario, Objective objective, std::string_view question);
};

}  // namespace allot
