#include "integrations/python/native/scenario_arrays.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/words.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/model/fields.hpp"
#include "integrations/python/native/directory.hpp"
#include "integrations/python/native/named_rates.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

using Matrix = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// Problems are collected, so that all are reported together.
using Found = std::vector<Diagnostic>;

/// The result of `read`, or `otherwise` and one more problem.
template <typename Value, typename Read>
Value attempt(Found& found, Value otherwise, Read read) {
  try {
    return read();
  } catch (const Invalid& invalid) {
    found.insert(found.end(), invalid.diagnostics().begin(), invalid.diagnostics().end());
    return otherwise;
  }
}

/// The given rates. An array of numbers needs no nodes.
struct RateTable {
  std::size_t types = 0;
  std::size_t resources = 0;
  std::optional<std::vector<double>> numbers;  ///< row-major, if all are numbers
  Node::Array rows;                            ///< otherwise
};

/// The values of an array of whole or real numbers; absent for other arrays.
std::optional<Matrix> plain_numbers(py::handle value, py::ssize_t dimensions) {
  if (!is_plain_array(value)) return {};
  const auto array = py::reinterpret_borrow<py::array>(value);
  const char kind = array.dtype().kind();
  if ((kind != 'f' && kind != 'i' && kind != 'u') || array.ndim() != dimensions) return {};
  return Matrix::ensure(array);
}

std::optional<double> as_number(const Node& node) {
  if (const auto* const real = node.get<double>()) return *real;
  if (const auto* const whole = node.get<std::int64_t>()) return static_cast<double>(*whole);
  return {};
}

RateTable rates_of_rows(Node node) {
  constexpr const char* kWanted = "must be a matrix of numbers: a row per task type, a column per resource";
  auto* const rows = std::get_if<Node::Array>(&node.content);
  if (rows == nullptr) raise_invalid("rates", kWanted);
  RateTable table{rows->size(), 0, std::vector<double>(), std::move(*rows)};
  for (const Node& row : table.rows) {
    const auto* const entries = row.get<Node::Array>();
    if (entries == nullptr || (&row != table.rows.data() && entries->size() != table.resources))
      raise_invalid("rates", kWanted);
    table.resources = entries->size();
    for (const Node& entry : *entries) {
      const std::optional<double> number = as_number(entry);
      if (!number) table.numbers.reset();
      if (table.numbers) table.numbers->push_back(*number);
    }
  }
  return table;
}

RateTable to_rates(const py::object& rates) {
  if (const std::optional<Matrix> matrix = plain_numbers(rates, 2)) {
    const auto types = static_cast<std::size_t>(matrix->shape(0));
    const auto resources = static_cast<std::size_t>(matrix->shape(1));
    return {types, resources, std::vector<double>(matrix->data(), matrix->data() + types * resources), {}};
  }
  return rates_of_rows(to_node(rates, "rates"));
}

/// Whole numbers, one per type; absent if any is not whole.
std::optional<std::vector<Count>> plain_counts(const py::object& counts, std::size_t size) {
  std::vector<Count> values;
  if (is_plain_array(counts)) {
    const auto array = py::reinterpret_borrow<py::array>(counts);
    if (array.dtype().kind() != 'i' || array.ndim() != 1) return {};
    const auto whole = py::array_t<Count, py::array::c_style | py::array::forcecast>::ensure(array);
    values.assign(whole.data(), whole.data() + whole.size());
  } else if (PyList_Check(counts.ptr()) || PyTuple_Check(counts.ptr())) {
    for (const py::handle count : counts) {
      if (!PyLong_CheckExact(count.ptr())) return {};
      const Count value = PyLong_AsLongLong(count.ptr());
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return {};
      }
      values.push_back(value);
    }
  } else {
    return {};
  }
  if (values.size() != size) return {};
  return values;
}

/// Generated names if none are given: t0, t1, ... and r0, r1, ...
std::string default_name(char letter, std::size_t at) { return letter + std::to_string(at); }

/// The fast path for usual calls, without a tree of nodes. Absent if anything is unusual or wrong: then the
/// general path finds all problems.
std::optional<System> plain_system(const RateTable& rates, const py::object& counts) {
  if (!rates.numbers) return {};
  const std::optional<std::vector<Count>> whole = plain_counts(counts, rates.types);
  if (!whole) return {};
  std::vector<Resource> devices(rates.resources);
  for (std::size_t j = 0; j < devices.size(); ++j) devices[j].name = default_name('r', j);
  std::vector<TaskClass> tasks(rates.types);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].name = default_name('t', i);
    tasks[i].count = (*whole)[i];
  }
  try {
    return System(std::move(devices), std::move(tasks), Rates(rates.types, rates.resources, *rates.numbers));
  } catch (const InvalidModel&) {
    return {};
  }
}

/// One name each: as given, or generated.
std::vector<Node> to_names(const char* option, const py::object& names, char letter, std::size_t size) {
  std::vector<Node> result;
  for (std::size_t at = 0; at < size; ++at) result.push_back(make_node(default_name(letter, at)));
  if (names.is_none()) return result;
  Node node = to_node(names, option);
  auto* const given = std::get_if<Node::Array>(&node.content);
  if (given == nullptr) raise_invalid(option, "must be a list of names, is " + shown(names));
  if (given->size() != size) {
    raise_invalid(option,
                  "must have " + std::to_string(size) + " values, has " + std::to_string(given->size()));
  }
  for (std::size_t at = 0; at < size; ++at) {
    if ((*given)[at].get<Node::Null>() == nullptr) result[at] = std::move((*given)[at]);
  }
  return result;
}

/// A column of a table of resources or tasks: a key of the scenario file, and a value for each entry.
struct Column {
  std::string_view key;
  const char* option;
  py::object values;
};

/// The given columns of a table; counts are a separate argument.
template <typename Owner>
std::vector<Column> columns_of(std::span<const Field<Owner>> fields, const py::object& counts,
                               const py::kwargs& given) {
  std::vector<Column> columns;
  for (const Field<Owner>& field : fields) {
    if (field.column.empty()) continue;
    const char* const option = field.column.data();
    const bool is_given = field.key != "count" && given.contains(option);
    columns.push_back({field.key, option,
                       field.key == "count" ? counts
                       : is_given           ? py::object(given[option])
                                            : py::none()});
  }
  return columns;
}

py::object given_or_none(const py::kwargs& given, const char* option) {
  return given.contains(option) ? py::object(given[option]) : py::none();
}

/// All keywords except the counts.
std::vector<std::string_view> keywords() {
  std::vector<std::string_view> words = {"tasks", "resources"};
  for (const auto& field : resource_fields()) words.push_back(field.column);
  for (const auto& field : task_fields()) words.push_back(field.key == "count" ? "" : field.column);
  std::erase(words, "");
  words.emplace_back("capacities");
  words.emplace_back("power_cap");
  return words;
}

[[noreturn]] void unexpected(const std::string& function, const std::string& word,
                             std::span<const std::string_view> known) {
  throw py::type_error(function + " got an unexpected keyword argument '" + word + "'." +
                       did_you_mean(word, known));
}

void check_keywords(const py::kwargs& given) {
  const std::vector<std::string_view> known = keywords();
  for (const auto& [key, value] : given) {
    const auto word = py::cast<std::string>(key);
    if (word == "name" || std::find(known.begin(), known.end(), word) != known.end()) continue;
    unexpected("Scenario()", word, known);
  }
}

/// A value per entry, from one value for all, a sequence, or values by name.
std::vector<Node> spread(const char* option, const py::object& values, const Directory& directory) {
  if (directory.labelled(values)) {
    std::vector<Node> nodes(directory.size());
    for (const auto& [at, value] : directory.values(option, values, false))
      nodes[at] = to_node(value, option);
    return nodes;
  }
  Node node = to_node(values, option);
  auto* const array = std::get_if<Node::Array>(&node.content);
  if (array == nullptr) return std::vector<Node>(directory.size(), node);
  if (array->size() != directory.size()) {
    raise_invalid(option, "must have " + std::to_string(directory.size()) + " values, has " +
                              std::to_string(array->size()));
  }
  return std::move(*array);
}

std::string name_of(const Node& name) {
  const auto* const text = name.get<std::string>();
  return text != nullptr ? *text : std::string();
}

/// A list of tables in the format of a scenario file. Entries that are None are left out.
Node::Array tables(const std::vector<Node>& names, std::span<const Column> columns, Found& found) {
  Directory directory;
  Node::Array entries;
  for (const Node& name : names) {
    directory.add(name_of(name));
    entries.push_back(make_node(Node::Table{Entry{"name", name}}));
  }
  for (const Column& column : columns) {
    if (column.values.is_none()) continue;
    // A required entry always gets a value, so that its problem is reported only once.
    const bool is_needed = column.key == "count";
    std::vector<Node> values =
        attempt(found, std::vector<Node>(names.size(), is_needed ? make_node(std::int64_t{1}) : Node()),
                [&] { return spread(column.option, column.values, directory); });
    for (std::size_t at = 0; at < names.size(); ++at) {
      if (values[at].get<Node::Null>() != nullptr) continue;
      std::get<Node::Table>(entries[at].content).push_back({std::string(column.key), std::move(values[at])});
    }
  }
  return entries;
}

/// Tables in the format of a file, or by name: an amount, or a table with further keys.
Node to_capacities(const py::object& given) {
  Node node = to_node(given, "capacities");
  auto* const by_name = std::get_if<Node::Table>(&node.content);
  if (by_name == nullptr) return node;
  Node::Array entries;
  for (Entry& capacity : *by_name) {
    Node::Table entry{Entry{"name", make_node(capacity.key)}};
    if (auto* const said = std::get_if<Node::Table>(&capacity.value.content)) {
      for (Entry& field : *said) entry.push_back(std::move(field));
    } else {
      entry.push_back({"amount", std::move(capacity.value)});
    }
    entries.push_back(make_node(std::move(entry)));
  }
  return make_node(std::move(entries));
}

/// Converts homes from indexes to names.
void name_homes(Node::Array& tasks, const std::vector<Node>& resources) {
  for (Node& task : tasks) {
    for (Entry& entry : std::get<Node::Table>(task.content)) {
      const auto* const at = entry.value.get<std::int64_t>();
      if (entry.key != "home" || at == nullptr || *at < 0) continue;
      const auto j = static_cast<std::size_t>(*at);
      if (j < resources.size()) entry.value = resources[j];
    }
  }
}

// ---- copies

Node::Table& table_of(Node& node) { return std::get<Node::Table>(node.content); }

/// Removes a key, or sets its value.
void set_entry(Node::Table& table, std::string_view key, Node value) {
  std::erase_if(table, [&](const Entry& entry) { return entry.key == key; });
  if (value.get<Node::Null>() == nullptr) table.push_back({std::string(key), std::move(value)});
}

Node::Array& list_of(Node::Table& root, std::string_view key) {
  const auto found =
      std::find_if(root.begin(), root.end(), [&](const Entry& entry) { return entry.key == key; });
  return std::get<Node::Array>(found->value.content);
}

/// Renames the entries in their order.
template <typename Named>
std::vector<Named> renamed(const char* option, std::vector<Named> entries, const py::kwargs& given) {
  if (!given.contains(option)) return entries;
  const std::vector<std::string> names = names_from(option, given[option]);
  if (names.size() != entries.size())
    raise_invalid(option, "must have " + std::to_string(entries.size()) + " values, has " +
                              std::to_string(names.size()));
  for (std::size_t at = 0; at < names.size(); ++at) entries[at].name = names[at];
  return entries;
}

/// Sets the given columns of a list of tables.
void set_columns(Node::Array& entries, std::span<const Column> columns, const py::kwargs& given,
                 const Directory& directory, Found& found) {
  for (const Column& column : columns) {
    if (!given.contains(column.option)) continue;
    attempt(found, 0, [&] {
      const py::object values = given[column.option];
      const bool by_name = !values.is_none() && directory.labelled(values).has_value();
      std::vector<Node> nodes = spread(column.option, values, directory);
      std::vector<bool> is_named(directory.size(), !by_name);
      if (by_name) {
        for (const auto& [at, value] : directory.values(column.option, values, false)) is_named[at] = true;
      }
      for (std::size_t at = 0; at < entries.size(); ++at) {
        if (is_named[at]) set_entry(table_of(entries[at]), column.key, std::move(nodes[at]));
      }
      return 0;
    });
  }
}

/// Sets other rates. Measurements refer to the old rates, so they are removed, and so are needs on resources
/// that cannot run the type.
void set_rates(Node::Table& root, const py::object& given, const Directory& types, const Directory& devices) {
  const Node matrix = matrix_from("rates", given, types, devices);
  const RateTable table = rates_of_rows(matrix);
  if (table.types != types.size() || table.resources != devices.size())
    raise_invalid("rates", "must be a matrix of numbers, " + std::to_string(types.size()) +
                               " task types by " + std::to_string(devices.size()) + " resources");
  set_entry(root, "measured", Node());
  for (std::size_t i = 0; i < types.size(); ++i) {
    Node::Table& task = table_of(list_of(root, "tasks")[i]);
    Node::Table row;
    for (std::size_t j = 0; j < devices.size(); ++j)
      row.push_back({std::string(devices.name(j)), (*table.rows[i].get<Node::Array>())[j]});
    for (Entry& entry : task) {
      if (entry.key != "needs") continue;
      std::erase_if(table_of(entry.value), [&](const Entry& need) {
        return std::any_of(row.begin(), row.end(), [&](const Entry& rate) {
          return rate.key == need.key && as_number(rate.value) == 0.0;
        });
      });
    }
    set_entry(task, "rates", make_node(std::move(row)));
  }
}

}  // namespace

Scenario scenario_with(const Scenario& scenario, const py::kwargs& given) {
  const std::vector<std::string_view> columns = keywords();
  const std::vector<std::string_view> parts = keys_of(scenario_fields());
  Scenario changed = scenario;
  changed.system = changed.system.with_tasks(renamed("tasks", changed.system.tasks(), given));
  changed.system = changed.system.with_resources(renamed("resources", changed.system.resources(), given));
  const Directory types(changed.system.tasks());
  const Directory devices(changed.system.resources());
  Node root =
      value_or_raise(parse_document(write_scenario(changed, FileFormat::kJson), FileFormat::kJson)).root();
  Found found;
  if (given.contains("rates"))
    attempt(found, 0, [&] { return set_rates(table_of(root), given["rates"], types, devices), 0; });
  const py::object counts = given_or_none(given, "counts");
  set_columns(list_of(table_of(root), "resources"), columns_of(resource_fields(), counts, given), given,
              devices, found);
  Node::Array& tasks = list_of(table_of(root), "tasks");
  set_columns(tasks, columns_of(task_fields(), counts, given), given, types, found);
  name_homes(tasks, attempt(found, std::vector<Node>(),
                            [&] { return to_names("resources", devices.names(), 'r', devices.size()); }));
  for (const auto& [key, value] : given) {
    const auto word = py::cast<std::string>(key);
    if (word == "rates" || word == "counts" ||
        (word != "capacities" && word != "power_cap" &&
         std::find(columns.begin(), columns.end(), word) != columns.end()))
      continue;
    if (std::find(parts.begin(), parts.end(), word) == parts.end()) unexpected("replace()", word, keywords());
    const auto given_value = py::reinterpret_borrow<py::object>(value);
    set_entry(table_of(root), word, attempt(found, Node(), [&] {
                return word == "capacities" ? to_capacities(given_value) : to_node(given_value, word);
              }));
  }
  const Document document(FileFormat::kJson, "", std::move(root));
  ReadResult<Scenario> result = read_scenario_node(document, document.root());
  if (found.empty()) return value_or_raise(std::move(result));
  if (!result) found.insert(found.end(), result.diagnostics().begin(), result.diagnostics().end());
  raise_invalid(std::move(found));
}

std::string scenario_signature() {
  std::string signature = "__init__(self, rates, counts, *";
  for (const std::string_view word : keywords()) signature += ", " + std::string(word) + "=None";
  return signature + ", name='')";
}

Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, const py::kwargs& given) {
  check_keywords(given);
  py::object tasks = given_or_none(given, "tasks");
  py::object resources = given_or_none(given, "resources");
  const RateTable table = to_rates(named_rates(rates, tasks, resources));
  const std::vector<Column> resource_columns = columns_of(resource_fields(), counts, given);
  const std::vector<Column> task_columns = columns_of(task_fields(), counts, given);
  Found found;
  const std::string name = attempt(found, std::string(), [&] {
    return given.contains("name") ? text("name", given["name"]) : std::string();
  });
  const auto is_absent = [](const Column& column) {
    return column.key == "count" || column.values.is_none();
  };
  const py::object capacities = given_or_none(given, "capacities");
  const py::object power_cap = given_or_none(given, "power_cap");
  const bool is_plain = tasks.is_none() && capacities.is_none() && power_cap.is_none() &&
                        resources.is_none() && name.empty() && found.empty() &&
                        std::all_of(resource_columns.begin(), resource_columns.end(), is_absent) &&
                        std::all_of(task_columns.begin(), task_columns.end(), is_absent);
  if (is_plain) {
    if (std::optional<System> system = plain_system(table, counts))
      return {"", std::move(*system), {}, {}, {}, {}};
  }

  const py::none none;
  const std::vector<Node> device_names =
      attempt(found, to_names("resources", none, 'r', table.resources),
              [&] { return to_names("resources", resources, 'r', table.resources); });
  const std::vector<Node> type_names = attempt(found, to_names("tasks", none, 't', table.types),
                                               [&] { return to_names("tasks", tasks, 't', table.types); });
  Node::Array devices = tables(device_names, resource_columns, found);
  Node::Array types = tables(type_names, task_columns, found);
  name_homes(types, device_names);
  for (std::size_t i = 0; i < table.types; ++i) {
    Node::Table row;
    for (std::size_t j = 0; j < table.resources; ++j) {
      row.push_back({name_of(device_names[j]),
                     table.numbers
                         ? make_node(PairSpan(*table.numbers, table.resources)(task_type(i), resource_id(j)))
                         : (*table.rows[i].get<Node::Array>())[j]});
    }
    std::get<Node::Table>(types[i].content).push_back({"rates", make_node(std::move(row))});
  }
  Node::Table root;
  if (!name.empty()) root.push_back({"name", make_node(name)});
  if (!power_cap.is_none())
    root.push_back({"power_cap", attempt(found, Node(), [&] { return to_node(power_cap, "power_cap"); })});
  root.push_back({"resources", make_node(std::move(devices))});
  if (!capacities.is_none())
    root.push_back(
        {"capacities", attempt(found, make_node(Node::Array()), [&] { return to_capacities(capacities); })});
  root.push_back({"tasks", make_node(std::move(types))});
  const Document document(FileFormat::kJson, "", make_node(std::move(root)));
  ReadResult<Scenario> result = read_scenario_node(document, document.root());
  if (found.empty()) return value_or_raise(std::move(result));
  if (!result) found.insert(found.end(), result.diagnostics().begin(), result.diagnostics().end());
  raise_invalid(std::move(found));
}

}  // namespace allot::python
