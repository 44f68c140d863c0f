#include "allot/analyze/analysis_json.hpp"

#include "allot/format/json.hpp"

namespace allot {

std::string analysis_json(const System& system, std::string_view policy, const Analysis& analysis) {
  const bool any = system.population() > 0;
  Json object;
  object.add("policy", policy);
  object.add("note", analysis.note.empty() ? Json() : Json(analysis.note));
  object.add("tasks", Json::names(system.tasks()));
  object.add("resources", Json::names(system.resources()));
  object.add("population", system.population());
  object.add("states", analysis.states);
  object.add("classes", analysis.classes);
  object.add("throughput", analysis.throughput);
  object.add("lowest_throughput", analysis.lowest_throughput);
  object.add("highest_throughput", analysis.highest_throughput);
  object.add("throughput_by_task", analysis.throughput_by_task);
  object.add("throughput_by_resource", analysis.throughput_by_resource);
  object.add("response_time", any ? Json(analysis.response_time) : Json());
  object.add("response_time_by_task", analysis.response_time_by_task);
  object.add("occupancy", Json::matrix(analysis.occupancy, system.resource_count()));
  object.add("best_state_probability", any ? Json(analysis.best_state_probability) : Json());
  object.add("best_state_throughput", analysis.best_state_throughput);
  object.add("best_state_approximate", analysis.best_state_approximate);
  object.add("optimal_control_throughput", analysis.optimal_control_throughput);
  return object.text();
}

}  // namespace allot
