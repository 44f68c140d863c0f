#include "integrations/python/native/convert.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "integrations/python/native/lifetime.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

/// Makes nodes and keeps track of the present place.
class TreeReader {
 public:
  explicit TreeReader(std::string root) : root_(std::move(root)) {}

  Node read(py::handle value) {
    if (path_.size() > kMaxNesting)
      raise_invalid(root_.empty() ? "$" : root_,
                    "is nested more than " + std::to_string(kMaxNesting) + " levels deep");
    PyObject* const object = value.ptr();
    if (value.is_none()) return make_node(Node::Null{});
    if (PyBool_Check(object)) return make_node(object == Py_True);
    if (PyLong_Check(object)) return read_int(object);
    if (PyFloat_Check(object)) return make_node(PyFloat_AS_DOUBLE(object));
    if (PyUnicode_Check(object)) return make_node(text(place().c_str(), value));
    if (PyList_Check(object) || PyTuple_Check(object)) return read_elements(value);
    if (const std::optional<py::object> items = labelled(value)) return read_table(*items);
    // NumPy arrays and numbers, and similar types.
    if (py::hasattr(value, "tolist")) {
      const py::object plain = value.attr("tolist")();
      if (!plain.is(value)) return read(plain);
    }
    const bool is_set = PyAnySet_Check(object) != 0 || PyBytes_Check(object);
    if (!is_set && py::hasattr(value, "__iter__") && py::hasattr(value, "__len__"))
      return read_elements(value);
    if (PyIndex_Check(object) != 0)
      return read_int(py::int_(py::reinterpret_borrow<py::object>(value)).ptr());
    if (py::hasattr(value, "__float__")) return make_node(number(place().c_str(), value));
    raise_invalid(place(), "may hold dicts, lists, arrays, strings and numbers, not " + type_name(value));
  }

 private:
  using Step = std::variant<std::string, std::size_t>;

  static Node read_int(PyObject* object) {
    int overflows = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflows);
    if (number == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (overflows == 0) return make_node(std::int64_t{number});
    // Outside of all ranges that the readers allow; they report it.
    const double about = PyLong_AsDouble(object);
    if (PyErr_Occurred() == nullptr) return make_node(about);
    PyErr_Clear();
    return make_node(std::numeric_limits<double>::infinity());
  }

  Node read_elements(py::handle values) {
    Node::Array array;
    for (const py::handle element : values) {
      path_.emplace_back(array.size());
      array.push_back(read(element));
      path_.pop_back();
    }
    return make_node(std::move(array));
  }

  Node read_table(const py::object& items) {
    Node::Table table;
    for (const py::handle item : items) {
      const auto [key, value] = py::cast<std::pair<py::object, py::object>>(item);
      if (!py::isinstance<py::str>(key))
        raise_invalid(place(), "a key must be a string, not " + type_name(key));
      std::string name = text(place().c_str(), key);
      path_.emplace_back(name);
      table.push_back({std::move(name), read(value)});
      path_.pop_back();
    }
    return make_node(std::move(table));
  }

  /// In the format of a Diagnostic.
  std::string place() const {
    std::string text = root_;
    for (const Step& step : path_) {
      if (const auto* const at = std::get_if<std::size_t>(&step)) {
        text += "[" + std::to_string(*at) + "]";
      } else {
        text += (text.empty() ? "" : ".") + std::get<std::string>(step);
      }
    }
    return text.empty() ? "$" : text;
  }

  std::string root_;
  std::vector<Step> path_;
};

}  // namespace

void raise_invalid(std::vector<Diagnostic> diagnostics) { throw Invalid(std::move(diagnostics)); }

void raise_invalid(std::string place, std::string message) {
  throw Invalid({Diagnostic{std::move(place), std::move(message)}});
}

void set_python_error(const Invalid& invalid) {
  py::list entries;
  for (const Diagnostic& diagnostic : invalid.diagnostics())
    entries.append(py::make_tuple(to_str(diagnostic.place), to_str(diagnostic.message)));
  const py::object kind = py::module_::import("allot._errors").attr("InvalidInput");
  PyErr_SetObject(kind.ptr(), kind(entries).ptr());
}

py::str to_str(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::string shown(py::handle value) {
  constexpr std::size_t kMost = 80;
  const py::object written = py::reinterpret_steal<py::object>(PyObject_ASCII(value.ptr()));
  if (!written) {
    PyErr_Clear();
    return "of type " + type_name(value);
  }
  // ASCII only if Python's own text cannot be UTF-8.
  const py::object natural = py::reinterpret_steal<py::object>(PyObject_Repr(value.ptr()));
  Py_ssize_t size = 0;
  const char* bytes = natural ? PyUnicode_AsUTF8AndSize(natural.ptr(), &size) : nullptr;
  if (bytes == nullptr) {
    PyErr_Clear();
    bytes = PyUnicode_AsUTF8AndSize(written.ptr(), &size);
  }
  std::string text(bytes, static_cast<std::size_t>(size));
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() <= kMost) return text;
  text.resize(kMost);
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0x80) != 0) text.pop_back();
  return text + "...";
}

Node make_node(Node::Content content) {
  Node node;
  node.content = std::move(content);
  return node;
}

Node to_node(py::handle value, const std::string& place) { return TreeReader(place).read(value); }

Document to_document(py::handle value) { return {FileFormat::kJson, "", to_node(value, "")}; }

bool is_mapping(py::handle value) {
  if (PyDict_Check(value.ptr())) return true;
  if (!py::hasattr(value, "keys") || !py::hasattr(value, "items")) return false;
  return py::isinstance(value, py::module_::import("collections.abc").attr("Mapping"));
}

bool is_frame(py::handle value) {
  return !is_plain_array(value) && py::hasattr(value, "columns") && py::hasattr(value, "index") &&
         py::hasattr(value, "to_numpy");
}

bool is_plain_array(py::handle value) {
  return Py_TYPE(value.ptr()) == py::detail::npy_api::get().PyArray_Type_;
}

bool is_series(py::handle value) {
  return !is_plain_array(value) && !is_mapping(value) && py::hasattr(value, "index") &&
         py::hasattr(value, "items") && py::hasattr(value, "to_numpy") && !py::hasattr(value, "columns");
}

std::optional<py::object> labelled(py::handle value) {
  if (is_mapping(value)) return value.attr("items")();
  if (!is_series(value)) return {};
  // Without labels of its own, a Series has the labels 0, 1, ...
  std::size_t at = 0;
  for (const py::handle label : value.attr("index").attr("tolist")()) {
    if (!PyLong_Check(label.ptr()) || !label.equal(py::int_(at))) return value.attr("items")();
    ++at;
  }
  return {};
}

py::object from_json(const std::string& text) {
  const NativeCall call;  // runs Python code
  return py::module_::import("json").attr("loads")(text);
}

py::array_t<double> to_array(std::span<const double> values) {
  return read_only(py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data()));
}

py::array_t<double> to_array(std::span<const std::optional<double>> values) {
  py::array_t<double> array(static_cast<py::ssize_t>(values.size()));
  double* out = array.mutable_data();
  for (const std::optional<double>& value : values)
    *out++ = value.value_or(std::numeric_limits<double>::quiet_NaN());
  return read_only(std::move(array));
}

py::array_t<Count> to_array(std::span<const Count> values) {
  return read_only(py::array_t<Count>(static_cast<py::ssize_t>(values.size()), values.data()));
}

py::array_t<double> to_matrix(std::span<const double> values, std::size_t columns) {
  return read_only(py::array_t<double>({values.size() / columns, columns}, values.data()));
}

py::array_t<Count> to_matrix(const Assignment& assignment) {
  return read_only(
      py::array_t<Count>({assignment.types(), assignment.resources()}, assignment.values().data()));
}

void require_constant_work(const Scenario& scenario, const std::string& function) {
  std::vector<Diagnostic> problems;
  const auto refuse = [&](const char* field, bool present) {
    if (present) {
      problems.push_back(
          {field, "'" + function + "' needs constant counts and does not support this; 'simulate' does"});
    }
  };
  refuse("threads", !scenario.threads.empty());
  refuse("population", !scenario.population.empty());
  refuse("arrivals", !scenario.arrivals.empty());
  if (!problems.empty()) raise_invalid(problems);
}

}  // namespace allot::python
