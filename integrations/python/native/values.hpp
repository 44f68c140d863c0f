// Checks single values from a caller: numbers, words, paths, functions. Every error, also a wrong type, is an
// InvalidInput that names the option.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// A whole number from `least` to `most`. A float with a whole value is accepted, a bool is not.
std::uint64_t whole(const char* option, py::handle value, std::uint64_t least, std::uint64_t most);
/// A seed: from 0 to the largest number.
std::uint64_t seed_of(py::handle value);

/// A number; NaN and infinities are accepted.
double number(const char* option, py::handle value);
/// A number for which `is_right` is true; `wanted` describes it, as in "must be from 0 to 1".
double number(const char* option, py::handle value, bool (*is_right)(double), const char* wanted);

/// True or False, also NumPy's.
bool flag(const char* option, py::handle value);

/// A string, in UTF-8.
std::string text(const char* option, py::handle value);
/// The path of a file, in the encoding of the file system: a string, bytes or an os.PathLike.
std::string path(const char* option, py::handle value);
bool is_path(py::handle value);
/// The same for a file to read. Raises FileNotFoundError or PermissionError if it cannot be opened; '-' is
/// accepted.
std::string readable_path(const char* option, py::handle value);

/// A function, or None.
const py::object& function_or_none(const char* option, const py::object& value);

/// One of a few words.
template <typename Value>
Value choice(const char* option, py::handle value,
             std::initializer_list<std::pair<std::string_view, Value>> choices) {
  std::string known;
  for (const auto& [name, meant] : choices) {
    if (py::isinstance<py::str>(value) && text(option, value) == name) return meant;
    known += (known.empty() ? "'" : ", '") + std::string(name) + "'";
  }
  raise_invalid(option, "must be one of " + known + ", is " + shown(value));
}

}  // namespace allot::python
