// Task types or resources by name and by index, as Python's callers give them.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace allot::python {

namespace py = pybind11;

/// Names in a fixed order; more may come. To be used with the interpreter lock.
class Directory {
 public:
  void add(const std::string& name);

  std::size_t size() const noexcept { return names_.size(); }
  const py::str& name(std::size_t at) const noexcept { return names_[at]; }
  py::tuple names() const;

  /// The index that is meant by a name or an index. InvalidInput, naming the option, for any other.
  std::size_t at(const char* option, py::handle value) const;

  /// A value for each name from a sequence of as many, or for some of them from a dict; with `all`, it must
  /// have all names. InvalidInput, naming the option, otherwise.
  std::vector<std::pair<std::size_t, py::object>> values(const char* option, const py::object& values,
                                                         bool all) const;

 private:
  std::vector<py::str> names_;
  py::dict positions_;
};

/// A number, or InvalidInput, naming the option.
double number(const char* option, py::handle value);

}  // namespace allot::python
