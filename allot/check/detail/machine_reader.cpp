#include "allot/check/detail/machine_reader.hpp"

namespace allot::check::detail {
namespace {

Resource read_resource(const Value& value) {
  Resource resource;
  resource.name = value["name"].text();
  resource.servers = value["servers"].whole(1, kMostTasks);
  resource.min_depth = value["min_depth"].whole(1, kMostTasks);
  const std::string discipline = value["discipline"].text();
  if (discipline != "ps" && discipline != "fcfs") value["discipline"].fail("must be 'ps' or 'fcfs'");
  resource.fcfs = discipline == "fcfs";
  return resource;
}

Task read_task(const Value& value) {
  Task task;
  task.name = value["name"].text();
  task.count = value["count"].whole(0, kMostTasks);
  if (value.has("floor")) task.floor = value["floor"].not_negative();
  if (value.has("worth")) task.worth = value["worth"].not_negative();
  if (value.has("priority")) task.priority = value["priority"].not_negative();
  return task;
}

}  // namespace

Machine read_machine(const Value& value) {
  Machine machine;
  machine.resources = value["resources"].list(read_resource);
  machine.tasks = value["tasks"].list(read_task);
  const auto rate = [](const Value& entry) {
    const double mu = entry.not_negative();
    if (mu != 0 && (mu < 1e-100 || mu > 1e100)) entry.fail("must be 0 or from 1e-100 to 1e100");
    return mu;
  };
  const std::size_t width = machine.resources.size();
  machine.rates =
      value["rates"].list([&](const Value& row) { return row.list(rate, width); }, machine.tasks.size());
  return machine;
}

}  // namespace allot::check::detail
