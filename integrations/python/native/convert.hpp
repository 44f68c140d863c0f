// Values between Python and the library: trees, arrays, choices, and the exception for what is wrong.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/io/diagnostic.hpp"
#include "allot/io/document.hpp"
#include "allot/model/assignment.hpp"
#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

using ScenarioPointer = std::shared_ptr<Scenario>;

/// Raises allot.InvalidInput, a ValueError that carries all diagnostics.
[[noreturn]] void raise_invalid(const std::vector<Diagnostic>& diagnostics);
[[noreturn]] void raise_invalid(std::string place, std::string message);

/// What was read, or InvalidInput.
template <typename Value>
Value value_or_raise(ReadResult<Value> result) {
  if (!result) raise_invalid(result.diagnostics());
  return std::move(result).value();
}

/// A node of a document that is still to be made.
Node make_node(Node::Content content);

/// A tree of dicts, lists, tuples, arrays, strings and numbers as a document. InvalidInput for anything else.
Document to_document(py::handle value);
/// The same as a part of one.
Node to_node(py::handle value, std::size_t depth = 0);

/// The text of one of the library's JSON writers, as Python's own json module reads it.
py::object from_json(const std::string& text);

/// New arrays, the caller's to change. An absent number is NaN.
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

/// One of a few words; InvalidInput, naming the option, for any other.
template <typename Value>
Value choice(const char* option, std::string_view word,
             std::initializer_list<std::pair<std::string_view, Value>> choices) {
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == word) return value;
    known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  raise_invalid(option, "must be one of " + known + ", is '" + std::string(word) + "'");
}

/// A whole number from `least` to `most`; InvalidInput, naming the option, otherwise.
std::uint64_t whole(const char* option, py::handle value, std::uint64_t least, std::uint64_t most);

/// A deadline from a number of seconds (> 0) or None.
std::optional<Clock::time_point> deadline_after(const std::optional<double>& seconds);

/// InvalidInput where the work varies over time, which `function` does not take.
void require_constant_work(const Scenario& scenario, const std::string& function);

}  // namespace allot::python
