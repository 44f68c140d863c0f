#include "allot/ask/service_choice.hpp"

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"

namespace allot {

Option ServiceChoice::option() {
  return word_option("service", wanted, {"even", "planned"},
                     "even: tasks at a resource share it evenly (default); planned: each free server takes "
                     "what the plan says")
      .unless_said("'planned' if there are threads, arrivals or a power_cap, or if the objective needs it");
}

bool ServiceChoice::is_planned(const Scenario& scenario, Objective objective, std::string_view question) {
  std::string why;
  if (!scenario.threads.empty()) why = "[[threads]] run several task types";
  if (!scenario.arrivals.empty()) why = "[[arrivals]] come from outside";
  if (scenario.power_cap) why = "there is a power_cap";
  if (info(objective).is_planned)
    why = "the objective " + quote::name(to_string(objective)) + " is for planned service";
  if (!scenario.population.empty()) {
    throw InvalidModel("population",
                       "'" + std::string(question) +
                           "' does not support [[population]], because its counts change over time; "
                           "'simulate' does");
  }
  if (wanted == Service::kEven && !why.empty())
    throw InvalidModel("service", "'even' is not possible: " + why + "; use 'planned'");
  if (wanted) return wanted == Service::kPlanned;
  if (!why.empty()) note = "planned service, because " + why;
  return !why.empty();
}

}  // namespace allot
