// Trees and arrays between Python and the library, and the exception for invalid input.
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

/// Becomes allot.InvalidInput in Python, a ValueError with all diagnostics.
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
/// Sets the current Python exception; for the translator.
void set_python_error(const Invalid& invalid);

/// The value, or Invalid.
template <typename Value>
Value value_or_raise(ReadResult<Value> result) {
  if (!result) raise_invalid(result.diagnostics());
  return std::move(result).value();
}

/// A value in a message: as Python prints it, shortened if it is long.
std::string shown(py::handle value);
/// The text of a library string, whatever its bytes.
py::str to_str(std::string_view text);

/// A node of a document in progress.
Node make_node(Node::Content content);

/// A tree of mappings, sequences, arrays, strings and numbers as a document. A masked entry of an array
/// becomes null, a labelled pandas Series a table. Invalid for anything else, with its place.
Document to_document(py::handle value);
/// The same as a part of a document; `place` names it in problems.
Node to_node(py::handle value, const std::string& place);

/// Pairs of label and value of a mapping or a labelled pandas Series; absent for everything else.
std::optional<py::object> labelled(py::handle value);
bool is_mapping(py::handle value);
/// A pandas Series, or an object with its attributes.
bool is_series(py::handle value);
/// A pandas frame, or an object with its attributes.
bool is_frame(py::handle value);
/// A NumPy array itself, not a subclass, which may have another meaning.
bool is_plain_array(py::handle value);

/// The text of one of the library's JSON writers, parsed by Python's json module.
py::object from_json(const std::string& text);

/// Results are copies: they are read-only, so that nobody expects a change to have an effect.
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

/// A Python index, which may count from the end.
template <typename Value>
const Value& element(const std::vector<Value>& values, py::handle index) {
  const Py_ssize_t given = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
  if (given == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  const auto size = static_cast<Py_ssize_t>(values.size());
  const Py_ssize_t at = given < 0 ? given + size : given;
  if (at < 0 || at >= size) throw py::index_error("there are " + std::to_string(size));
  return values[static_cast<std::size_t>(at)];
}

/// Throws Invalid if the work varies over time, which `function` does not support.
void require_constant_work(const Scenario& scenario, const std::string& function);

}  // namespace allot::python
