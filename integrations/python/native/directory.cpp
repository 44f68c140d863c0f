#include "integrations/python/native/directory.hpp"

#include <pybind11/stl.h>

#include <algorithm>

#include "integrations/python/native/values.hpp"

namespace allot::python {

void Directory::add(const std::string& name) {
  const py::str text(name);
  positions_[text] = names_.size();
  names_.push_back(text);
}

py::tuple Directory::names() const {
  py::tuple names(names_.size());
  for (std::size_t at = 0; at < names_.size(); ++at) names[at] = names_[at];
  return names;
}

std::size_t Directory::at(const char* option, py::handle value) const {
  if (!py::isinstance<py::str>(value)) return whole(option, value, 0, names_.size() - 1);
  PyObject* const found = PyDict_GetItemWithError(positions_.ptr(), value.ptr());
  if (found != nullptr) return PyLong_AsSize_t(found);
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  raise_invalid(option, "there is no " + shown(value));
}

std::optional<py::object> Directory::labelled(py::handle value) const {
  if (!is_series(value)) return python::labelled(value);
  for (const py::handle label : value.attr("index").attr("tolist")()) {
    if (positions_.contains(py::str(label))) return value.attr("items")();
  }
  return python::labelled(value);
}

std::vector<std::size_t> Directory::positions(const char* option, const py::object& labels) const {
  std::vector<std::size_t> result;
  for (const py::handle label : labels) {
    const py::str name(label);
    const std::size_t found = positions_.contains(name) ? at(option, name) : at(option, label);
    if (std::find(result.begin(), result.end(), found) != result.end())
      raise_invalid(option, shown(label) + " is there twice");
    result.push_back(found);
  }
  return result;
}

std::vector<std::pair<std::size_t, py::object>> Directory::values(const char* option,
                                                                  const py::object& values, bool all) const {
  std::vector<std::pair<std::size_t, py::object>> result;
  if (const std::optional<py::object> items = labelled(values)) {
    py::list labels;
    for (const py::handle item : *items) {
      auto [label, value] = py::cast<std::pair<py::object, py::object>>(item);
      labels.append(label);
      result.emplace_back(0, std::move(value));
    }
    const std::vector<std::size_t> found = positions(option, labels);
    for (std::size_t at = 0; at < found.size(); ++at) result[at].first = found[at];
  } else if (py::isinstance<py::iterable>(values) && !py::isinstance<py::str>(values)) {
    for (const py::handle value : values)
      result.emplace_back(result.size(), py::reinterpret_borrow<py::object>(value));
    all = true;
  } else {
    raise_invalid(option, "must be a sequence or a dict, is " + shown(values));
  }
  if (all && result.size() != names_.size()) {
    raise_invalid(option, "must have " + std::to_string(names_.size()) + " values, has " +
                              std::to_string(result.size()));
  }
  return result;
}

std::vector<std::string> names_from(const char* option, const py::object& value) {
  if (py::isinstance<py::str>(value) || !py::isinstance<py::iterable>(value))
    raise_invalid(option, "must be a list of names, is " + shown(value));
  std::vector<std::string> names;
  for (const py::handle name : value) {
    names.push_back(text(option, name));
    if (std::find(names.begin(), names.end() - 1, names.back()) != names.end() - 1)
      raise_invalid(option, shown(name) + " is there twice");
  }
  if (names.empty()) raise_invalid(option, "must name at least one");
  return names;
}

namespace {

Node zeros(std::size_t size) { return make_node(Node::Array(size, make_node(0.0))); }

/// The entries of a row, moved to their columns.
Node arranged(Node row, const std::vector<std::size_t>& columns, std::size_t size) {
  auto* const entries = std::get_if<Node::Array>(&row.content);
  if (entries == nullptr || entries->size() != columns.size()) return row;
  Node result = zeros(size);
  for (std::size_t at = 0; at < columns.size(); ++at)
    std::get<Node::Array>(result.content)[columns[at]] = std::move((*entries)[at]);
  return result;
}

Node row_from(const char* option, const py::object& value, const Directory& resources) {
  if (!resources.labelled(value)) return to_node(value, option);
  Node result = zeros(resources.size());
  for (const auto& [j, entry] : resources.values(option, value, false))
    std::get<Node::Array>(result.content)[j] = to_node(entry, option);
  return result;
}

}  // namespace

Node matrix_from(const char* option, const py::object& value, const Directory& tasks,
                 const Directory& resources) {
  Node::Array rows(tasks.size(), zeros(resources.size()));
  if (is_frame(value)) {
    const std::vector<std::size_t> types = tasks.positions(option, value.attr("index").attr("tolist")());
    const std::vector<std::size_t> columns =
        resources.positions(option, value.attr("columns").attr("tolist")());
    Node content = to_node(value.attr("to_numpy")(), option);
    auto& given = std::get<Node::Array>(content.content);
    for (std::size_t at = 0; at < given.size(); ++at)
      rows[types[at]] = arranged(std::move(given[at]), columns, resources.size());
    return make_node(std::move(rows));
  }
  if (tasks.labelled(value)) {
    for (const auto& [i, row] : tasks.values(option, value, false))
      rows[i] = row_from(option, row, resources);
    return make_node(std::move(rows));
  }
  const bool has_rows = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
  if (!has_rows) return to_node(value, option);
  rows.clear();
  for (const py::handle row : value)
    rows.push_back(row_from(option, py::reinterpret_borrow<py::object>(row), resources));
  return make_node(std::move(rows));
}

}  // namespace allot::python
