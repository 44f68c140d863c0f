// The choice between even sharing and planned service.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "allot/ask/option.hpp"
#include "allot/model/objective.hpp"
#include "allot/model/scenario.hpp"

namespace allot {

/// How a machine is shared: evenly among the tasks that wait at each resource, or according to a plan.
enum class Service { kEven, kPlanned };

struct ServiceChoice {
  std::optional<Service> wanted;  ///< absent: even, unless only planned service can answer
  std::string note;               ///< why planned service was chosen, if it was

  Option option();
  /// Whether service is planned. Throws InvalidModel for even sharing of a scenario that it does not support,
  /// and for counts that change over time.
  bool is_planned(const Scenario& scenario, Objective objective, std::string_view question);
};

}  // namespace allot
