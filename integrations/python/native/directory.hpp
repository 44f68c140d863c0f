// Task types or resources by name and by index, as Python's callers give them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// Names in a fixed order; more may come. To be used with the interpreter lock.
class Directory {
 public:
  Directory() = default;
  /// Of things that have a name each.
  explicit Directory(const auto& entries) {
    for (const auto& entry : entries) add(entry.name);
  }
  void add(const std::string& name);

  std::size_t size() const noexcept { return names_.size(); }
  const py::str& name(std::size_t at) const noexcept { return names_[at]; }
  py::tuple names() const;

  /// The index that is meant by a name or an index. Invalid, naming the option, for any other.
  std::size_t at(const char* option, py::handle value) const;

  /// A value for each name from a sequence of as many, or for some of them from what has labels: a mapping or
  /// a pandas Series; with `all`, it must have all names. Invalid, naming the option, otherwise.
  std::vector<std::pair<std::size_t, py::object>> values(const char* option, const py::object& values,
                                                         bool all) const;

  /// Pairs of label and value of what has labels. A pandas Series that counts from 0 is a sequence, unless
  /// these numbers are names here.
  std::optional<py::object> labelled(py::handle value) const;

  /// Where each of some labels stands here. A label that is no string is meant as its text, or else as an
  /// index. Invalid for one that is not here, or is there twice.
  std::vector<std::size_t> positions(const char* option, const py::object& labels) const;

 private:
  std::vector<py::str> names_;
  py::dict positions_;
};

/// Names of task types or resources: a sequence of strings, at least one, no name twice.
std::vector<std::string> names_from(const char* option, const py::object& value);

/// A matrix with a row per task type and a column per resource, as a list of rows. A pandas frame, a mapping
/// and a row that is one are taken by their labels, with 0 for what they do not have.
Node matrix_from(const char* option, const py::object& value, const Directory& tasks,
                 const Directory& resources);

}  // namespace allot::python
