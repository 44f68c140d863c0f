// Scenario in Python: from arrays, dicts and files, and back.
#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <array>
#include <cstring>

#include "allot/base/error.hpp"
#include "allot/io/assignment_reader.hpp"
#include "allot/io/scenario_reader.hpp"
#include "allot/io/scenario_writer.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"

namespace allot::python {
namespace {

using Matrix = py::array_t<double, py::array::c_style | py::array::forcecast>;

constexpr const char* kMatrixWanted =
    "must be a matrix of numbers: a row per task type, a column per resource";

/// The columns of a table of resources or tasks: a key of the scenario file and a value for each entry.
struct Column {
  const char* key;
  const char* option;
  py::object values;
};

Matrix to_rates(const py::object& rates) {
  Matrix matrix = Matrix::ensure(rates);
  if (!matrix) PyErr_Clear();
  if (!matrix || matrix.ndim() != 2) raise_invalid("rates", kMatrixWanted);
  return matrix;
}

bool holds_integers(const py::array& array) { return array.dtype().kind() == 'i' && array.itemsize() <= 8; }

/// Names of their own where none are given: t0, t1, ... and r0, r1, ...
std::string default_name(char letter, std::size_t at) { return letter + std::to_string(at); }

/// The short way for the usual call. Nothing where
/// anything is unusual or wrong: then the long way finds every problem.
std::optional<System> plain_system(const Matrix& rates, const py::object& counts) {
  const auto whole = py::array_t<Count, py::array::c_style>::ensure(counts);
  if (!whole) {
    PyErr_Clear();
    return {};
  }
  if (!holds_integers(py::array::ensure(counts)) || whole.ndim() != 1 || whole.shape(0) != rates.shape(0))
    return {};
  const auto types = static_cast<std::size_t>(rates.shape(0));
  const auto resources = static_cast<std::size_t>(rates.shape(1));
  std::vector<Resource> devices(resources);
  for (std::size_t j = 0; j < resources; ++j) devices[j].name = default_name('r', j);
  std::vector<TaskClass> tasks(types);
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = default_name('t', i);
    tasks[i].count = whole.data()[i];
  }
  try {
    return System(std::move(devices), std::move(tasks),
                  Rates(types, resources, {rates.data(), rates.data() + types * resources}));
  } catch (const InvalidModel&) {
    return {};
  }
}

/// A value per entry: one for all, or a sequence of as many.
std::vector<Node> spread(const char* option, const py::object& values, std::size_t size) {
  Node node = to_node(values);
  auto* const array = std::get_if<Node::Array>(&node.content);
  if (array == nullptr) return std::vector<Node>(size, node);
  if (array->size() != size) {
    raise_invalid(option,
                  "must have " + std::to_string(size) + " values, has " + std::to_string(array->size()));
  }
  return std::move(*array);
}

Node text_node(std::string text) {
  Node node;
  node.content = std::move(text);
  return node;
}

/// A list of tables, as a scenario file has them. Entries that are None are left out.
Node::Array tables(char letter, std::size_t size, std::span<const Column> columns) {
  Node::Array entries(size);
  for (Node& entry : entries) entry.content = Node::Table{};
  for (const Column& column : columns) {
    const bool is_name = std::strcmp(column.key, "name") == 0;
    if (column.values.is_none() && !is_name) continue;
    std::vector<Node> values(size);
    if (!column.values.is_none()) {
      values = spread(column.option, column.values, size);
    } else {
      for (std::size_t at = 0; at < size; ++at) values[at] = text_node(default_name(letter, at));
    }
    for (std::size_t at = 0; at < size; ++at) {
      if (values[at].get<Node::Null>() != nullptr) continue;
      std::get<Node::Table>(entries[at].content).push_back({column.key, std::move(values[at])});
    }
  }
  return entries;
}

std::string name_of(const Node& table) {
  const Node* const name = table.find("name");
  const auto* const text = name != nullptr ? name->get<std::string>() : nullptr;
  return text != nullptr ? *text : std::string();
}

/// Homes may be given by index.
void name_homes(Node::Array& tasks, const Node::Array& resources) {
  for (Node& task : tasks) {
    for (Entry& entry : std::get<Node::Table>(task.content)) {
      const auto* const at = entry.value.get<std::int64_t>();
      if (entry.key != "home" || at == nullptr || *at < 0) continue;
      const auto j = static_cast<std::size_t>(*at);
      if (j < resources.size()) entry.value = text_node(name_of(resources[j]));
    }
  }
}

Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, py::object tasks,
                              py::object resources, const py::object& servers, const py::object& kinds,
                              const py::object& disciplines, const py::object& min_depths,
                              const py::object& powers, const py::object& idle_powers,
                              const py::object& homes, const py::object& priorities, const py::object& floors,
                              const std::string& name) {
  if (tasks.is_none() && resources.is_none() && py::hasattr(rates, "columns") &&
      py::hasattr(rates, "index")) {
    // A pandas frame brings its names along.
    tasks = rates.attr("index").attr("tolist")();
    resources = rates.attr("columns").attr("tolist")();
  }
  const Matrix matrix = to_rates(rates);
  bool is_plain = name.empty();
  for (const py::object* option :
       {static_cast<const py::object*>(&tasks), static_cast<const py::object*>(&resources), &servers, &kinds,
        &disciplines, &min_depths, &powers, &idle_powers, &homes, &priorities, &floors}) {
    is_plain = is_plain && option->is_none();
  }
  if (is_plain) {
    if (std::optional<System> system = plain_system(matrix, counts))
      return {"", std::move(*system), {}, {}, {}};
  }

  const auto width = static_cast<std::size_t>(matrix.shape(1));
  const auto height = static_cast<std::size_t>(matrix.shape(0));
  const std::array<Column, 7> resource_columns = {{{"name", "resources", resources},
                                                   {"kind", "kinds", kinds},
                                                   {"servers", "servers", servers},
                                                   {"discipline", "disciplines", disciplines},
                                                   {"min_depth", "min_depths", min_depths},
                                                   {"power", "powers", powers},
                                                   {"idle_power", "idle_powers", idle_powers}}};
  const std::array<Column, 5> task_columns = {{{"name", "tasks", tasks},
                                               {"count", "counts", counts},
                                               {"home", "homes", homes},
                                               {"priority", "priorities", priorities},
                                               {"floor", "floors", floors}}};
  Node::Array devices = tables('r', width, resource_columns);
  Node::Array types = tables('t', height, task_columns);
  name_homes(types, devices);
  for (std::size_t i = 0; i < height; ++i) {
    Node::Table row;
    for (std::size_t j = 0; j < width; ++j) {
      Node rate;
      rate.content = matrix.at(i, j);
      row.push_back({name_of(devices[j]), std::move(rate)});
    }
    Node node;
    node.content = std::move(row);
    std::get<Node::Table>(types[i].content).push_back({"rates", std::move(node)});
  }
  Node::Table root;
  if (!name.empty()) root.push_back({"name", text_node(name)});
  Node node;
  node.content = std::move(devices);
  root.push_back({"resources", std::move(node)});
  node.content = std::move(types);
  root.push_back({"tasks", std::move(node)});
  node.content = std::move(root);
  const Document document(FileFormat::kJson, "", std::move(node));
  return value_or_raise(read_scenario_node(document, document.root()));
}

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
  scenario.def(
      "with_rate",
      [](const Scenario& self, const py::object& task, const py::object& resource, double rate) {
        const System& system = self.system;
        return with_system(
            self, system.with_rate(task_type(position("task", task, system.tasks())),
                                   resource_id(position("resource", resource, system.resources())), rate));
      },
      py::arg("task"), py::arg("resource"), py::arg("rate"),
      "A copy with one other rate; task and resource by name or index.");
  scenario.def(
      "with_servers",
      [](const Scenario& self, const py::object& resource, Count servers) {
        return with_system(
            self, self.system.with_servers(
                      resource_id(position("resource", resource, self.system.resources())), servers));
      },
      py::arg("resource"), py::arg("servers"), "A copy with another number of servers of a resource.");
  scenario.def(py::self == py::self);
  scenario.def(py::pickle(
      [](const Scenario& self) { return write_scenario(self, FileFormat::kJson); },
      [](const std::string& text) { return value_or_raise(read_scenario_text(text, FileFormat::kJson)); }));

  module.def("generate", &generate_scenario, py::arg("gps"), py::arg("sas"), py::arg("threads"),
             py::arg("rule"), py::arg("rates"), py::arg("priorities"), py::arg("powers"), py::arg("seed"));
}

}  // namespace allot::python
