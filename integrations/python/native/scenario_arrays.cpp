#include "integrations/python/native/scenario_arrays.hpp"

#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/io/scenario_reader.hpp"
#include "integrations/python/native/convert.hpp"

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

/// The short way for the usual call, without a tree of nodes. Nothing where
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
      for (std::size_t at = 0; at < size; ++at) values[at] = make_node(default_name(letter, at));
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
      if (j < resources.size()) entry.value = make_node(name_of(resources[j]));
    }
  }
}

}  // namespace

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
  for (const py::object& option : {tasks, resources, servers, kinds, disciplines, min_depths, powers,
                                   idle_powers, homes, priorities, floors}) {
    is_plain = is_plain && option.is_none();
  }
  if (is_plain) {
    if (std::optional<System> system = plain_system(matrix, counts))
      return {"", std::move(*system), {}, {}, {}, {}};
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
    for (std::size_t j = 0; j < width; ++j) row.push_back({name_of(devices[j]), make_node(matrix.at(i, j))});
    std::get<Node::Table>(types[i].content).push_back({"rates", make_node(std::move(row))});
  }
  Node::Table root;
  if (!name.empty()) root.push_back({"name", make_node(name)});
  root.push_back({"resources", make_node(std::move(devices))});
  root.push_back({"tasks", make_node(std::move(types))});
  const Document document(FileFormat::kJson, "", make_node(std::move(root)));
  return value_or_raise(read_scenario_node(document, document.root()));
}

}  // namespace allot::python
