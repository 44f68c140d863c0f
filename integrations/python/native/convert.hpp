// Trees and arrays between Python and the library, and the exception for what is wrong.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/model/assignment.hpp"
#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

using ScenarioPointer = std::shared_ptr<Scenario>;

/// What Python sees as allot.InvalidInput, a ValueError that carries all diagnostics.
class Invalid : public std::exception {
 public:
  explicit Invalid(std::vector<Diagnostic> diagnostics) : diagnostics_(std::move(diagnostics)) {}
  const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }
  const char* what() const noexcept override { return "invalid input"; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

[[noreturn]] void raise_invalid(std::vector<Diagnostic> diagnostics);
[[noreturn]] void raise_invalid(std::string place, std::string message);
/// Makes the Python exception the current one; for the translator.
void set_python_error(const Invalid& invalid);

/// What was read, or Invalid.
template <typename Value>
Value value_or_raise(ReadResult<Value> result) {
  if (!result) raise_invalid(result.diagnostics());
  return std::move(result).value();
}

/// A value in a message: as Python writes it, cut where it is long.
std::string shown(py::handle value);
/// The text of a library's string, whatever its bytes.
py::str to_str(std::string_view text);

/// A node of a document that is still to be made.
Node make_node(Node::Content content);

/// A tree of mappings, sequences, arrays, strings and numbers as a document. A masked entry of an array is a
/// null, a pandas Series with labels a table. Invalid for anything else, with its place.
Document to_document(py::handle value);
/// The same as a part of one; `place` names it in problems.
Node to_node(py::handle value, const std::string& place);

/// What has labels: pairs of label and value of a mapping or of a pandas Series; nothing for all others.
std::optional<py::object> labelled(py::handle value);
bool is_mapping(py::handle value);
/// A pandas Series, or what has its attributes.
bool is_series(py::handle value);
/// A pandas frame, or what has its attributes.
bool is_frame(py::handle value);
/// NumPy's array itself, not a subclass, which may mean more than its numbers.
bool is_plain_array(py::handle value);

/// The text of one of the library's JSON writers, as Python's own json module reads it.
py::object from_json(const std::string& text);

/// Nobody should take a copy for the thing itself: what is handed out cannot be written to.
template <typename Value>
py::array_t<Value> read_only(py::array_t<Value> array) {
  py::detail::array_proxy(array.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return array;
}

/// New arrays, read-only. An absent number is NaN.
py::array_t<double> to_array(std::span<const double> values);
py::array_t<double> to_array(std::span<const std::optional<double>> values);
py::array_t<Count> to_array(std::span<const Count> values);
py::array_t<double> to_matrix(std::span<const double> values, std::size_t columns);
py::array_t<Count> to_matrix(const Assignment& assignment);
py::tuple to_names(const auto& entries) {
  py::tuple names(entries.size());
  for (std::size_t at = 0; at < entries.size(); ++at) names[at] = py::str(entries[at].name);
  return names;
}

/// Python's index, which may count from the end.
template <typename Value>
const Value& element(const std::vector<Value>& values, py::handle index) {
  const Py_ssize_t given = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  const auto size = static_cast<Py_ssize_t>(values.size());
  const Py_ssize_t at = given < 0 ? given + size : given;
  if (at < 0 || at >= size) throw py::index_error("there are " + std::to_string(size));
  return values[static_cast<std::size_t>(at)];
}

/// Invalid where the work varies over time, which `function` does not take.
void require_constant_work(const Scenario& scenario, const std::string& function);

}  // namespace allot::python
