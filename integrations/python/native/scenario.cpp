// Scenario in Python: from arrays, dicts and files, and back.
#include <pybind11/stl.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/model/fields.hpp"
#include "allot/model/throughput.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/scenario_arrays.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

Scenario scenario_from_dict(const py::object& content) {
  if (!is_mapping(content)) raise_invalid("content", "must be a dict, is " + shown(content));
  const Document document = to_document(content);
  return value_or_raise(read_scenario_node(document, document.root()));
}

FileFormat format_of(py::handle word) {
  return choice<FileFormat>("format", word, {{"toml", FileFormat::kToml}, {"json", FileFormat::kJson}});
}

Scenario scenario_from_text(const py::object& content, const py::object& format) {
  return value_or_raise(read_scenario_text(text("text", content), format_of(format)));
}

Scenario with_system(const Scenario& scenario, System system) {
  Scenario changed = scenario;
  changed.system = std::move(system);
  return changed;
}

Scenario with_rate(const Scenario& scenario, const py::object& task, const py::object& resource,
                   const py::object& rate) {
  const System& system = scenario.system;
  const TaskType i = task_type(Directory(system.tasks()).at("task", task));
  const ResourceId j = resource_id(Directory(system.resources()).at("resource", resource));
  Scenario changed = with_system(scenario, system.with_rate(i, j, number("rate", rate)));
  // Measurements refer to the old rate.
  std::erase_if(changed.measured,
                [&](const MeasuredRate& measured) { return measured.task == i && measured.resource == j; });
  return changed;
}

Scenario with_counts(const Scenario& scenario, const py::object& counts) {
  std::vector<Count> values;
  for (const TaskType i : scenario.system.types()) values.push_back(scenario.system.count(i));
  for (const auto& [at, value] : Directory(scenario.system.tasks()).values("counts", counts, false))
    values[at] = static_cast<Count>(whole("counts", value, 0, kMaxCount));
  return with_system(scenario, scenario.system.with_counts(values));
}

Scenario with_servers(const Scenario& scenario, const py::object& resource, const py::object& servers) {
  const System& system = scenario.system;
  const ResourceId j = resource_id(Directory(system.resources()).at("resource", resource));
  return with_system(scenario,
                     system.with_servers(j, static_cast<Count>(whole("servers", servers, 1, kMaxCount))));
}

/// A capacity that does not stand for servers, by name or index.
CapacityId capacity_of(const System& system, const py::object& capacity) {
  if (py::isinstance<py::str>(capacity)) {
    const std::string name = text("capacity", capacity);
    for (const Resource& resource : system.resources()) {
      if (resource.name == name)
        raise_invalid("capacity",
                      "'" + name + "' is a resource: with_servers changes how many servers it has");
    }
  }
  const std::size_t at = Directory(system.capacities()).at("capacity", capacity);
  return capacity_id(system.resource_count() + at);
}

Scenario with_capacity(const Scenario& scenario, const py::object& capacity, const py::object& amount) {
  const System& system = scenario.system;
  return with_system(scenario, system.with_amount(capacity_of(system, capacity), number("amount", amount)));
}

/// In the format of the constructor: {task: {resource: {capacity: amount}}}.
py::dict needs_of(const Scenario& scenario) {
  const System& system = scenario.system;
  py::dict by_task;
  for (const TaskClass& task : system.tasks()) {
    if (task.needs.empty()) continue;
    py::dict by_resource;
    for (const Need& need : task.needs) {
      const py::str resource(system.resource(need.resource).name);
      if (!by_resource.contains(resource)) by_resource[resource] = py::dict();
      by_resource[resource][py::str(system.capacity_name(need.capacity))] = need.amount;
    }
    by_task[py::str(task.name)] = by_resource;
  }
  return by_task;
}

py::dict capacities_of(const Scenario& scenario) {
  py::dict by_name;
  for (const Capacity& capacity : scenario.system.capacities())
    by_name[py::str(capacity.name)] =
        py::dict(py::arg("amount") = capacity.amount, py::arg("shared") = capacity.shared);
  return by_name;
}

/// The values of all entries, as Python objects.
template <typename Owner>
py::object column(const std::vector<Owner>& entries, const Field<Owner>& field) {
  return std::visit(
      [&](auto member) -> py::object {
        if constexpr (!std::is_same_v<decltype(member), Special>) {
          using Value = std::decay_t<decltype(std::declval<Owner>().*member)>;
          std::vector<Value> values;
          for (const Owner& entry : entries) values.push_back(entry.*member);
          if constexpr (std::is_same_v<Value, Count> || std::is_same_v<Value, double>) {
            return to_array(std::span<const Value>(values));
          } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
            const bool any =
                std::any_of(values.begin(), values.end(), [](const Value& v) { return v.has_value(); });
            return any ? py::object(to_array(std::span<const Value>(values))) : py::none();
          } else if constexpr (std::is_same_v<Value, Kind> || std::is_same_v<Value, Discipline>) {
            py::tuple words(values.size());
            for (std::size_t at = 0; at < values.size(); ++at)
              words[at] = py::str(std::string(field.words[static_cast<std::size_t>(values[at])]));
            return words;
          }
        }
        return py::none();
      },
      field.member);
}

/// A property for each column, except for those defined separately.
template <typename Owner, typename Class>
void add_columns(Class& scenario, std::span<const Field<Owner>> fields,
                 const std::vector<Owner>& (System::*entries)() const noexcept) {
  for (const Field<Owner>& field : fields) {
    if (field.column.empty() || field.key == "home" || field.key == "needs") continue;
    std::string doc(field.help);
    doc.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(doc.front())));
    const bool is_optional = std::holds_alternative<std::optional<double> Owner::*>(field.member);
    doc += is_optional ? ". NaN where there is none; None without any." : ".";
    scenario.def_property_readonly(
        field.column.data(),
        [&field, entries](const Scenario& self) { return column((self.system.*entries)(), field); },
        doc.c_str());
  }
}

using ScenarioClass = py::class_<Scenario, ScenarioPointer>;

/// Conversions from and to files.
void add_texts(ScenarioClass& scenario) {
  scenario.def_static("from_dict", &scenario_from_dict, py::arg("content"),
                      signed_doc("from_dict(content)",
                                 "From the content of a scenario file: {'resources': [...], 'tasks': [...]}. "
                                 "Lists may be arrays.\n\n"
                                 ">>> import allot\n"
                                 ">>> allot.Scenario.from_dict({'resources': [{'name': 'cpu'}], 'tasks': "
                                 "[{'name': 'sort', 'count': 2,\n"
                                 "...                            'rates': {'cpu': 3.0}}]}).population\n"
                                 "2\n")
                          .c_str());
  scenario.def_static(
      "from_file",
      [](const py::object& file) { return value_or_raise(read_scenario(readable_path("path", file))); },
      py::arg("path"),
      signed_doc(
          "from_file(path)",
          "From a .toml or .json file; '-' reads JSON from standard input. FileNotFoundError, or another\n"
          "OSError, where it cannot be opened.")
          .c_str());
  scenario.def_static("from_text", &scenario_from_text, py::arg("text"), py::arg("format") = "toml",
                      signed_doc("from_text(text, format='toml')",
                                 "From the text of a scenario file; format: 'toml' or 'json'.")
                          .c_str());
  add_method(
      scenario, "to_dict(self)",
      [](const Scenario& self) { return from_json(write_scenario(self, FileFormat::kJson)); },
      "The content of a scenario file, defaults left out: what `allot generate --json` prints.");
  add_method(
      scenario, "to_text(self, format='toml')",
      [](const Scenario& self, const py::object& format) { return write_scenario(self, format_of(format)); },
      "The text of a scenario file; format: 'toml' or 'json'.", py::arg("format") = "toml");
}

/// Its contents.
void add_values(ScenarioClass& scenario) {
  scenario.def_readonly("name", &Scenario::name, "The name; may be empty.");
  scenario.def_property_readonly(
      "rates",
      [](const Scenario& self) {
        return to_matrix(self.system.rates().values(), self.system.resource_count());
      },
      "Tasks per second of each type (rows) on one server of each resource (columns); 0: cannot run there.");
  scenario.def_property_readonly(
      "tasks", [](const Scenario& self) { return to_names(self.system.tasks()); },
      "The names of the task types.");
  add_columns(scenario, task_fields(), &System::tasks);
  add_columns(scenario, resource_fields(), &System::resources);
  scenario.def_property_readonly(
      "homes",
      [](const Scenario& self) {
        py::tuple names(self.system.type_count());
        for (const TaskType i : self.system.types()) {
          const auto home = self.system.home(i);
          names[index(i)] = home ? py::object(py::str(self.system.resource(*home).name)) : py::none();
        }
        return names;
      },
      "The home of each type: as given, otherwise its fastest resource.");
  scenario.def_property_readonly("needs", &needs_of,
                                 "What tasks take of capacities, besides one server of the resource where "
                                 "they run: {task: {resource: {capacity: amount}}}.");
  scenario.def_property_readonly(
      "capacities", &capacities_of,
      "What tasks use besides the servers of resources: {name: {'amount': ..., 'shared': ...}}.");
  scenario.def_readonly("power_cap", &Scenario::power_cap,
                        "The most power that the whole machine may draw on average, in watts, or None.");
  scenario.def_property_readonly(
      "shares",
      [](const Scenario& self) -> py::object {
        if (self.system.shares().empty()) return py::none();
        return to_array(self.system.shares());
      },
      "The shares of the completions that the priorities ask for, or None.");
  scenario.def_property_readonly(
      "resources", [](const Scenario& self) { return to_names(self.system.resources()); },
      "The names of the resources.");
  scenario.def_property_readonly(
      "population", [](const Scenario& self) { return self.system.population(); }, "The number of threads.");
  scenario.def_property_readonly(
      "is_static", &Scenario::is_static,
      "Whether the counts alone describe the work, as all functions except simulations require.");
  scenario.def_property_readonly(
      "notes", [](const Scenario& self) { return notes(self); }, "Notes about allowed but unusual values.");
}

/// Its throughput in a state, and changed copies.
void add_copies(ScenarioClass& scenario) {
  add_method(
      scenario, "throughput(self, assignment)",
      [](const Scenario& self, const py::object& assignment) {
        return evaluate(self.system, pattern_from("assignment", assignment, self.system)).throughput;
      },
      "Completions per second of a state: tasks of each type (rows) at each resource (columns). A "
      "result that\nholds one, its frame or its file will do.\n\n"
      ">>> import allot\n"
      ">>> allot.Scenario([[8, 2], [2, 6]], [2, 2]).throughput([[2, 0], [0, 2]])\n"
      "14.0\n",
      py::arg("assignment"));
  add_method(scenario, "replace(self, **changes)", &scenario_with,
             "A copy with other values: `rates`, `counts`, every other argument of the constructor, and the "
             "parts of a\nscenario file: name, power_cap, threads, population, arrivals, measured. By "
             "name, only those named change;\nNone takes values away. `tasks` and `resources` give new "
             "names in the old order.\n\n"
             ">>> import allot\n"
             ">>> box = allot.Scenario([[8, 2], [2, 6]], [2, 2], priorities=[1, 3])\n"
             ">>> box.replace(worths={'t1': 5}, servers=[4, 1], priorities=None).worths\n"
             "array([1., 5.])\n");
  add_method(scenario, "with_counts(self, counts)", &with_counts,
             "A copy with other numbers of threads: one for each type, or a dict of those that "
             "change.\n\n"
             ">>> import allot\n"
             ">>> allot.Scenario([[8, 2], [2, 6]], [2, 2]).with_counts({'t1': 5}).counts\n"
             "array([2, 5])\n",
             py::arg("counts"));
  add_method(scenario, "with_rate(self, task, resource, rate)", &with_rate,
             "A copy with one other rate; task and resource by name or index.", py::arg("task"),
             py::arg("resource"), py::arg("rate"));
  add_method(scenario, "with_servers(self, resource, servers)", &with_servers,
             "A copy with another number of servers of a resource, by name or index.", py::arg("resource"),
             py::arg("servers"));
  add_method(scenario, "with_capacity(self, capacity, amount)", &with_capacity,
             "A copy with another amount of a capacity, by name or index.", py::arg("capacity"),
             py::arg("amount"));
  add_method(
      scenario, "__eq__(self, other, /)",
      [](const Scenario& self, const Scenario& other) { return self == other; },
      "Whether all contents are equal.", py::is_operator());
  scenario.def(py::pickle(
      [](const Scenario& self) { return write_scenario(self, FileFormat::kJson); },
      [](const std::string& text) { return value_or_raise(read_scenario_text(text, FileFormat::kJson)); }));
}

}  // namespace

void bind_scenario(py::module_& module) {
  ScenarioClass scenario(
      module, "Scenario",
      "A machine and its work: how fast each task type runs on each resource, and how many threads run "
      "it.\n\n"
      "rates: a matrix, a row per task type and a column per resource, in tasks per second; 0: cannot run "
      "there.\ncounts: threads of each type. Every other value is per resource or per task type: one for "
      "all, "
      "one each, or a dict\nor a pandas Series by name. A pandas frame of rates brings its names along.\n\n"
      ">>> import allot\n"
      ">>> machine = allot.Scenario([[9.0, 2.0], [1.5, 6.0]], [6, 12], tasks=['sort', 'filter'],\n"
      "...                          resources=['cpu', 'gpu'], servers=[4, 1])\n"
      ">>> machine.population\n"
      "18\n"
      ">>> machine.rates[machine.tasks.index('sort')]\n"
      "array([9., 2.])\n\n"
      "Tasks that need several things: needs says what a task takes of capacities while it is in service; "
      "the "
      "name of a\nresource stands for its servers. Capacities are held, or shared by all who draw on "
      "them.\n\n"
      ">>> box = allot.Scenario([[0.0, 40.0], [5.0, 0.0]], [4, 8], tasks=['train', 'parse'],\n"
      "...                      resources=['cpu', 'gpu'], servers=[4, 2],\n"
      "...                      needs={'train': {'gpu': {'cpu': 1, 'bus': 0.8}}},\n"
      "...                      capacities={'bus': {'amount': 1.0, 'shared': True}})\n"
      ">>> round(allot.solve(box, service='planned').throughput, 6)\n"
      "63.75\n"
      ">>> box.needs['train']\n"
      "{'gpu': {'cpu': 1.0, 'bus': 0.8}}\n\n"
      "What is wrong is told all at once, by an allot.InvalidInput, which is a ValueError:\n\n"
      ">>> allot.Scenario([[9.0, -2.0]], [1.5])\n"
      "Traceback (most recent call last):\n"
      "...\n"
      "allot.InvalidInput: tasks[0].count: 'count' must be a whole number from 0 to 1000000000, is 1.5\n"
      "tasks[0].rates.r1: the rate on 'r1' must be a finite number >= 0, is -2.0\n");
  in_package(scenario);
  scenario.def(py::init(&scenario_from_arrays), py::arg("rates"), py::arg("counts"),
               signed_doc(scenario_signature().c_str(), "From arrays; see the class.").c_str());
  add_texts(scenario);
  add_values(scenario);
  add_copies(scenario);
}

}  // namespace allot::python
