#include "integrations/python/native/convert.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "allot/base/stop.hpp"

namespace allot::python {
namespace {

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

std::int64_t to_int64(py::handle value, bool& overflows) {
  int direction = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &direction);
  if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  overflows = direction != 0;
  return number;
}

}  // namespace

void raise_invalid(const std::vector<Diagnostic>& diagnostics) {
  py::list entries;
  for (const Diagnostic& diagnostic : diagnostics) {
    entries.append(py::make_tuple(diagnostic.place, diagnostic.message));
  }
  const py::object kind = py::module_::import("allot._errors").attr("InvalidInput");
  PyErr_SetObject(kind.ptr(), kind(entries).ptr());
  throw py::error_already_set();
}

void raise_invalid(std::string place, std::string message) {
  raise_invalid({Diagnostic{std::move(place), std::move(message)}});
}

Node make_node(Node::Content content) {
  Node node;
  node.content = std::move(content);
  return node;
}

Node to_node(py::handle value, std::size_t depth) {
  if (depth > kMaxNesting)
    raise_invalid("$", "is nested more than " + std::to_string(kMaxNesting) + " levels deep");
  if (value.is_none()) return make_node(Node::Null{});
  if (py::isinstance<py::bool_>(value)) return make_node(value.cast<bool>());
  if (py::isinstance<py::int_>(value)) {
    bool overflows = false;
    const std::int64_t number = to_int64(value, overflows);
    // Out of every range that the readers allow, and told so by them.
    return overflows ? make_node(value.cast<double>()) : make_node(number);
  }
  if (py::isinstance<py::float_>(value)) return make_node(value.cast<double>());
  if (py::isinstance<py::str>(value)) return make_node(value.cast<std::string>());
  if (py::isinstance<py::dict>(value)) {
    Node::Table table;
    for (const auto& [key, element] : py::reinterpret_borrow<py::dict>(value)) {
      if (!py::isinstance<py::str>(key)) raise_invalid("$", "a key must be a string, not " + type_name(key));
      table.push_back({key.cast<std::string>(), to_node(element, depth + 1)});
    }
    return make_node(std::move(table));
  }
  if (py::isinstance<py::list>(value) || py::isinstance<py::tuple>(value)) {
    Node::Array array;
    for (const py::handle element : py::reinterpret_borrow<py::sequence>(value))
      array.push_back(to_node(element, depth + 1));
    return make_node(std::move(array));
  }
  // NumPy's arrays and numbers, and those of its kin.
  if (py::hasattr(value, "tolist")) return to_node(value.attr("tolist")(), depth + 1);
  raise_invalid("$", "may hold dicts, lists, arrays, strings and numbers, not " + type_name(value));
}

Document to_document(py::handle value) { return {FileFormat::kJson, "", to_node(value)}; }

py::object from_json(const std::string& text) { return py::module_::import("json").attr("loads")(text); }

py::array_t<double> to_array(std::span<const double> values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array_t<double> to_array(std::span<const std::optional<double>> values) {
  py::array_t<double> array(static_cast<py::ssize_t>(values.size()));
  double* out = array.mutable_data();
  for (const std::optional<double>& value : values)
    *out++ = value.value_or(std::numeric_limits<double>::quiet_NaN());
  return array;
}

py::array_t<Count> to_array(std::span<const Count> values) {
  return py::array_t<Count>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::array_t<double> to_matrix(std::span<const double> values, std::size_t columns) {
  return py::array_t<double>({values.size() / columns, columns}, values.data());
}

py::array_t<Count> to_matrix(const Assignment& assignment) {
  return py::array_t<Count>({assignment.types(), assignment.resources()}, assignment.values().data());
}

std::uint64_t whole(const char* option, py::handle value, std::uint64_t least, std::uint64_t most) {
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) {
    PyErr_Clear();
  } else {
    const std::uint64_t result = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
    } else if (result >= least && result <= most) {
      return result;
    }
  }
  raise_invalid(option, "must be a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", is " + py::repr(value).cast<std::string>());
}

std::optional<Clock::time_point> deadline_after(const std::optional<double>& seconds) {
  constexpr double kForever = 1e9;  // seconds; more would overflow the clock
  if (!seconds) return {};
  if (!(*seconds > 0)) raise_invalid("time_limit", "must be above 0 seconds, is " + std::to_string(*seconds));
  if (*seconds >= kForever) return {};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds));
}

void require_constant_work(const Scenario& scenario, const std::string& function) {
  std::vector<Diagnostic> problems;
  const auto refuse = [&](const char* field, bool present) {
    if (present) {
      problems.push_back(
          {field, "'" + function + "' needs constant counts and does not take this; 'simulate' does"});
    }
  };
  refuse("threads", !scenario.threads.empty());
  refuse("population", !scenario.population.empty());
  refuse("arrivals", !scenario.arrivals.empty());
  if (!problems.empty()) raise_invalid(problems);
}

}  // namespace allot::python
