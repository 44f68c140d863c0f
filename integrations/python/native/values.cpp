#include "integrations/python/native/values.hpp"

#include <unistd.h>

#include <cmath>
#include <limits>
#include <optional>

namespace allot::python {
namespace {

/// A bool of Python or NumPy; both can be used as numbers, which is rarely intended.
bool is_bool(py::handle value) {
  return PyBool_Check(value.ptr()) || std::string_view(Py_TYPE(value.ptr())->tp_name) == "numpy.bool_";
}

/// The object as a whole number, if it is one.
std::optional<std::uint64_t> as_whole(py::handle value) {
  if (is_bool(value)) return {};
  if (PyFloat_Check(value.ptr())) {
    constexpr double kExact = 9007199254740992;  // 2^53: beyond, a double may stand for several whole numbers
    const double number = PyFloat_AS_DOUBLE(value.ptr());
    if (!(number >= 0 && number <= kExact) || number != std::floor(number)) return {};
    return static_cast<std::uint64_t>(number);
  }
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (number) {
    const std::uint64_t result = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() == nullptr) return result;
  }
  PyErr_Clear();
  return {};
}

}  // namespace

std::uint64_t whole(const char* option, py::handle value, std::uint64_t least, std::uint64_t most) {
  const std::optional<std::uint64_t> number = as_whole(value);
  if (number && *number >= least && *number <= most) return *number;
  raise_invalid(option, "must be a whole number from " + std::to_string(least) + " to " +
                            std::to_string(most) + ", is " + shown(value));
}

std::uint64_t seed_of(py::handle value) {
  return whole("seed", value, 0, std::numeric_limits<std::uint64_t>::max());
}

double number(const char* option, py::handle value) {
  if (!is_bool(value)) {
    const double result = PyFloat_AsDouble(value.ptr());
    if (PyErr_Occurred() == nullptr) return result;
    PyErr_Clear();
  }
  raise_invalid(option, "must be a number, is " + shown(value));
}

double number(const char* option, py::handle value, bool (*is_right)(double), const char* wanted) {
  const double result = number(option, value);
  if (!is_right(result)) raise_invalid(option, std::string(wanted) + ", is " + shown(value));
  return result;
}

bool flag(const char* option, py::handle value) {
  if (!is_bool(value)) raise_invalid(option, "must be True or False, is " + shown(value));
  return PyObject_IsTrue(value.ptr()) == 1;
}

std::string text(const char* option, py::handle value) {
  if (!py::isinstance<py::str>(value)) raise_invalid(option, "must be a string, is " + shown(value));
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes != nullptr) return {bytes, static_cast<std::size_t>(size)};
  PyErr_Clear();  // half of a character: a lone surrogate
  raise_invalid(option, "must be text that UTF-8 can hold, is " + shown(value));
}

bool is_path(py::handle value) {
  return py::isinstance<py::str>(value) || py::isinstance<py::bytes>(value) ||
         py::hasattr(value, "__fspath__");
}

std::string path(const char* option, py::handle value) {
  PyObject* encoded = nullptr;
  if (!is_path(value) || PyUnicode_FSConverter(value.ptr(), &encoded) == 0) {
    PyErr_Clear();
    raise_invalid(option, "must be the path of a file, is " + shown(value));
  }
  return py::reinterpret_steal<py::bytes>(encoded);
}

std::string readable_path(const char* option, py::handle value) {
  std::string file = path(option, value);
  if (file == "-" || ::access(file.c_str(), R_OK) == 0) return file;
  PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, value.ptr());
  throw py::error_already_set();
}

const py::object& function_or_none(const char* option, const py::object& value) {
  if (!value.is_none() && PyCallable_Check(value.ptr()) == 0)
    raise_invalid(option, "must be a function, is " + shown(value));
  return value;
}

}  // namespace allot::python
