// Scenario in Python: from arrays, dicts and files, and back.
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "allot/io/scenario_reader.hpp"
#include "allot/io/scenario_writer.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/scenario_arrays.hpp"

namespace allot::python {
namespace {

Scenario scenario_from_dict(const py::dict& dict) {
  const Document document = to_document(dict);
  return value_or_raise(read_scenario_node(document, document.root()));
}

Scenario scenario_from_text(const std::string& text, const std::string& format) {
  return value_or_raise(read_scenario_text(
      text,
      choice<FileFormat>("format", format, {{"toml", FileFormat::kToml}, {"json", FileFormat::kJson}})));
}

std::string path_of(const py::object& path) {
  return py::module_::import("os").attr("fspath")(path).cast<std::string>();
}

/// The index of a task type or a resource that is given by index or by name.
std::size_t position(const char* option, py::handle value, const auto& entries) {
  if (py::isinstance<py::str>(value)) {
    const auto name = value.cast<std::string>();
    for (std::size_t at = 0; at < entries.size(); ++at) {
      if (entries[at].name == name) return at;
    }
    raise_invalid(option, "there is no '" + name + "'");
  }
  return whole(option, value, 0, entries.size() - 1);
}

Scenario with_system(const Scenario& scenario, System system) {
  Scenario changed = scenario;
  changed.system = std::move(system);
  return changed;
}

Scenario with_rate(const Scenario& scenario, const py::object& task, const py::object& resource,
                   double rate) {
  const System& system = scenario.system;
  const TaskType i = task_type(position("task", task, system.tasks()));
  const ResourceId j = resource_id(position("resource", resource, system.resources()));
  Scenario changed = with_system(scenario, system.with_rate(i, j, rate));
  // What was measured was the rate before.
  std::erase_if(changed.measured,
                [&](const MeasuredRate& measured) { return measured.task == i && measured.resource == j; });
  return changed;
}

Scenario with_counts(const Scenario& scenario, const py::object& counts) {
  std::vector<Count> values;
  for (const py::handle value : py::reinterpret_borrow<py::object>(counts))
    values.push_back(static_cast<Count>(whole("counts", value, 0, kMaxCount)));
  if (values.size() != scenario.system.type_count())
    raise_invalid("counts", "must have one value per task type");
  return with_system(scenario, scenario.system.with_counts(values));
}

py::object optional_column(const std::vector<TaskClass>& tasks, std::optional<double> TaskClass::*member) {
  std::vector<std::optional<double>> values;
  bool any = false;
  for (const TaskClass& task : tasks) {
    values.push_back(task.*member);
    any = any || (task.*member).has_value();
  }
  return any ? py::object(to_array(values)) : py::none();
}

template <typename Value>
py::array_t<Value> column(const std::vector<Resource>& resources, Value Resource::*member) {
  std::vector<Value> values;
  for (const Resource& resource : resources) values.push_back(resource.*member);
  return to_array(values);
}

Scenario generate_scenario(std::size_t gps, std::size_t sas, Count threads, const std::string& rule,
                           std::pair<double, double> rates, bool priorities, bool powers,
                           std::uint64_t seed) {
  GenerateOptions options;
  options.general = gps;
  options.specialized = sas;
  options.threads = threads;
  options.rule = choice<AffinityRule>("rule", rule,
                                      {{"row", AffinityRule::kRow},
                                       {"column", AffinityRule::kColumn},
                                       {"ordered", AffinityRule::kOrdered},
                                       {"none", AffinityRule::kNone}});
  options.lowest_rate = rates.first;
  options.highest_rate = rates.second;
  options.priorities = priorities;
  options.powers = powers;
  options.seed = seed;
  return generate(options);
}

}  // namespace

void bind_scenario(py::module_& module) {
  py::class_<Scenario, ScenarioPointer> scenario(
      module, "Scenario",
      "A machine and its work: how fast each task type runs on each resource, and how many threads run "
      "it.\n\n"
      "rates: a matrix, a row per task type and a column per resource, in tasks per second; 0: cannot run "
      "there.\ncounts: threads of each type. Every other value is per resource or per task type, or one for "
      "all.\n\n"
      ">>> import allot\n"
      ">>> machine = allot.Scenario([[9.0, 2.0], [1.5, 6.0]], [6, 12], tasks=['sort', 'filter'],\n"
      "...                          resources=['cpu', 'gpu'], servers=[4, 1])\n"
      ">>> machine.population\n"
      "18\n"
      ">>> machine.rates[machine.tasks.index('sort')]\n"
      "array([9., 2.])\n\n"
      "What is wrong is told all at once, by an allot.InvalidInput, which is a ValueError:\n\n"
      ">>> allot.Scenario([[9.0, -2.0]], [1.5])\n"
      "Traceback (most recent call last):\n"
      "...\n"
      "allot.InvalidInput: tasks[0].count: 'count' must be a whole number from 0 to 1000000000, is 1.5\n"
      "tasks[0].rates.r1: the rate on 'r1' must be a finite number >= 0, is -2.0\n");
  in_package(scenario);
  const py::none none;
  scenario.def(py::init(&scenario_from_arrays), py::arg("rates"), py::arg("counts"), py::kw_only(),
               py::arg("tasks") = none, py::arg("resources") = none, py::arg("servers") = none,
               py::arg("kinds") = none, py::arg("disciplines") = none, py::arg("min_depths") = none,
               py::arg("powers") = none, py::arg("idle_powers") = none, py::arg("homes") = none,
               py::arg("priorities") = none, py::arg("floors") = none, py::arg("name") = "");
  scenario.def_static(
      "from_dict", &scenario_from_dict, py::arg("content"),
      "From the content of a scenario file: {'resources': [...], 'tasks': [...]}. Lists may be "
      "arrays.");
  scenario.def_static(
      "from_file", [](const py::object& path) { return value_or_raise(read_scenario(path_of(path))); },
      py::arg("path"), "From a .toml or .json file; '-' reads JSON from standard input.");
  scenario.def_static("from_text", &scenario_from_text, py::arg("text"), py::arg("format") = "toml",
                      "From the text of a scenario file; format: 'toml' or 'json'.");
  scenario.def(
      "to_dict", [](const Scenario& self) { return from_json(write_scenario(self, FileFormat::kJson)); },
      "The content of a scenario file, defaults left out: what `allot generate --json` prints.");
  scenario.def(
      "to_text",
      [](const Scenario& self, const std::string& format) {
        return write_scenario(
            self,
            choice<FileFormat>("format", format, {{"toml", FileFormat::kToml}, {"json", FileFormat::kJson}}));
      },
      py::arg("format") = "toml", "The text of a scenario file; format: 'toml' or 'json'.");

  scenario.def_readonly("name", &Scenario::name);
  const auto resource_property = [&](const char* name, auto get) {
    scenario.def_property_readonly(name,
                                   [get](const Scenario& self) { return get(self.system.resources()); });
  };
  const auto task_property = [&](const char* name, auto get) {
    scenario.def_property_readonly(name, [get](const Scenario& self) { return get(self.system.tasks()); });
  };
  scenario.def_property_readonly("rates", [](const Scenario& self) {
    return to_matrix(self.system.rates().values(), self.system.resource_count());
  });
  task_property("tasks", [](const auto& tasks) { return to_names(tasks); });
  task_property("counts", [](const std::vector<TaskClass>& tasks) {
    std::vector<Count> values;
    for (const TaskClass& task : tasks) values.push_back(task.count);
    return to_array(values);
  });
  task_property("floors", [](const auto& tasks) { return optional_column(tasks, &TaskClass::floor); });
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
      "Where each type is at home: as given, else the fastest resource.");
  scenario.def_property_readonly(
      "shares",
      [](const Scenario& self) -> py::object {
        if (self.system.shares().empty()) return py::none();
        return to_array(self.system.shares());
      },
      "The shares of the completions that the priorities ask for, or None.");
  resource_property("resources", [](const auto& resources) { return to_names(resources); });
  resource_property("servers", [](const auto& resources) { return column(resources, &Resource::servers); });
  resource_property("min_depths",
                    [](const auto& resources) { return column(resources, &Resource::min_depth); });
  resource_property("powers", [](const auto& resources) { return column(resources, &Resource::power); });
  resource_property("idle_powers",
                    [](const auto& resources) { return column(resources, &Resource::idle_power); });
  resource_property("kinds", [](const std::vector<Resource>& resources) {
    py::tuple words(resources.size());
    for (std::size_t j = 0; j < resources.size(); ++j)
      words[j] = py::str(resources[j].kind == Kind::kGeneral ? "gp" : "sa");
    return words;
  });
  resource_property("disciplines", [](const std::vector<Resource>& resources) {
    py::tuple words(resources.size());
    for (std::size_t j = 0; j < resources.size(); ++j)
      words[j] = py::str(resources[j].discipline == Discipline::kPs ? "ps" : "fcfs");
    return words;
  });
  scenario.def_property_readonly(
      "population", [](const Scenario& self) { return self.system.population(); }, "The number of threads.");
  scenario.def_property_readonly(
      "is_static", &Scenario::is_static,
      "Whether the counts alone describe the work, as all but simulations need it.");
  scenario.def_property_readonly(
      "notes", [](const Scenario& self) { return notes(self); }, "What is allowed but worth a word.");

  scenario.def(
      "throughput",
      [](const Scenario& self, const py::object& assignment) {
        return evaluate(self.system, pattern_from(assignment, self.system)).throughput;
      },
      py::arg("assignment"),
      "Completions per second of a state: tasks of each type (rows) at each resource (columns).\n\n"
      ">>> import allot\n"
      ">>> allot.Scenario([[8, 2], [2, 6]], [2, 2]).throughput([[2, 0], [0, 2]])\n"
      "14.0\n");
  scenario.def("with_counts", &with_counts, py::arg("counts"), "A copy with other numbers of threads.");
  scenario.def("with_rate", &with_rate, py::arg("task"), py::arg("resource"), py::arg("rate"),
               "A copy with one other rate; task and resource by name or index.");
  scenario.def(
      "with_servers",
      [](const Scenario& self, const py::object& resource, Count servers) {
        return with_system(
            self, self.system.with_servers(
                      resource_id(position("resource", resource, self.system.resources())), servers));
      },
      py::arg("resource"), py::arg("servers"), "A copy with another number of servers of a resource.");
  scenario.def(
      "__eq__", [](const Scenario& self, const Scenario& other) { return self == other; }, py::is_operator());
  scenario.def(py::pickle(
      [](const Scenario& self) { return write_scenario(self, FileFormat::kJson); },
      [](const std::string& text) { return value_or_raise(read_scenario_text(text, FileFormat::kJson)); }));

  module.def("generate", &generate_scenario, py::arg("gps"), py::arg("sas"), py::arg("threads"),
             py::arg("rule"), py::arg("rates"), py::arg("priorities"), py::arg("powers"), py::arg("seed"));
}

}  // namespace allot::python
