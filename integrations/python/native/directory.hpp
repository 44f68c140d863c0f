// Task types or resources by name or by index, as given by Python callers.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// Names in a fixed order; more may be added. Use it with the interpreter lock.
class Directory {
 public:
  Directory() = default;
  /// The names of the entries.
  explicit Directory(const auto& entries) {
    for (const auto& entry : entries) add(entry.name);
  }
  void add(const std::string& name);

  std::size_t size() const noexcept { return names_.size(); }
  const py::str& name(std::size_t at) const noexcept { return names_[at]; }
  py::tuple names() const;

  /// The index for a name or an index. Invalid, naming the option, for anything else.
  std::size_t at(const char* option, py::handle value) const;

  /// A value for each name from a sequence of the same length, or for some of them from a mapping or a pandas
  /// Series; with `all`, it must contain all names. Invalid, naming the option, otherwise.
  std::vector<std::pair<std::size_t, py::object>> values(const char* option, const py::object& values,
                                                         bool all) const;

  /// Pairs of label and value of a labelled object. A pandas Series with labels from 0 is a sequence, unless
  /// these numbers are names here.
  std::optional<py::object> labelled(py::handle value) const;

  /// The position of each label here. A label that is not a string is used as its text, otherwise as an
  /// index. Invalid for one that is missing here, or is given twice.
  std::vector<std::size_t> positions(const char* option, const py::object& labels) const;

 private:
  std::vector<py::str> names_;
  py::dict positions_;
};

/// Names of task types or resources: a sequence of different strings, at least one.
std::vector<std::string> names_from(const char* option, const py::object& value);

/// A matrix with a row per task type and a column per resource, as a list of rows. A pandas frame, a mapping,
/// and a labelled row are arranged by their labels, with 0 for missing entries.
Node matrix_from(const char* option, const py::object& value, const Directory& tasks,
                 const Directory& resources);

}  // namespace allot::python
