#include "integrations/python/native/directory.hpp"

#include "integrations/python/native/convert.hpp"

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
  raise_invalid(option, "there is no " + py::repr(value).cast<std::string>());
}

std::vector<std::pair<std::size_t, py::object>> Directory::values(const char* option,
                                                                  const py::object& values, bool all) const {
  std::vector<std::pair<std::size_t, py::object>> result;
  if (py::isinstance<py::dict>(values)) {
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(values))
      result.emplace_back(at(option, name), py::reinterpret_borrow<py::object>(value));
  } else if (py::isinstance<py::iterable>(values) && !py::isinstance<py::str>(values)) {
    for (const py::handle value : values)
      result.emplace_back(result.size(), py::reinterpret_borrow<py::object>(value));
    all = true;
  } else {
    raise_invalid(option, "must be a sequence or a dict");
  }
  if (all && result.size() != names_.size()) {
    raise_invalid(option, "must have " + std::to_string(names_.size()) + " values, has " +
                              std::to_string(result.size()));
  }
  return result;
}

double number(const char* option, py::handle value) {
  const double result = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    raise_invalid(option, "must be numbers, not " + py::repr(value).cast<std::string>());
  }
  return result;
}

}  // namespace allot::python
