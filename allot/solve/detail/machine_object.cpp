#include "allot/solve/detail/machine_object.hpp"

#include <utility>

namespace allot::detail {

Json machine_object(const System& system, bool is_planned) {
  Json::Array resources;
  for (const Resource& resource : system.resources()) {
    resources.push_back(
        Json::object({{"name", resource.name},
                      {"servers", resource.servers},
                      {"discipline", resource.discipline == Discipline::kFcfs ? "fcfs" : "ps"},
                      {"min_depth", resource.min_depth}}));
  }
  Json::Array tasks;
  for (const TaskType i : system.types()) {
    const TaskClass& task = system.task(i);
    Json& entry = tasks.emplace_back();
    entry.add("name", task.name);
    entry.add("count", system.count(i));
    if (!is_planned && system.floor(i) > 0) entry.add("floor", system.floor(i));
    if (system.worth(i) != 1) entry.add("worth", system.worth(i));
    if (task.priority) entry.add("priority", *task.priority);
    if (is_planned && task.floor.value_or(0) > 0) entry.add("floor", *task.floor);
    if (is_planned && task.max_response) entry.add("max_response", *task.max_response);
  }
  Json object;
  object.add("resources", std::move(resources));
  object.add("tasks", std::move(tasks));
  object.add("rates", Json::matrix(system.rates().values(), system.resource_count()));
  return object;
}

}  // namespace allot::detail
