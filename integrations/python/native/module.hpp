// The parts of the native module, one file each, and helpers for its classes.
#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <utility>

namespace allot::python {

void bind_scenario(pybind11::module_& module);
void bind_ask(pybind11::module_& module);
void bind_solve(pybind11::module_& module);
void bind_simulate(pybind11::module_& module);
void bind_analyze(pybind11::module_& module);
void bind_dispatch(pybind11::module_& module);
void bind_executor(pybind11::module_& module);
void bind_service_order(pybind11::module_& module);

/// Refuses memory for an object that is made without its constructor: pybind11 would accept any bytes.
[[noreturn]] void* refuse_memory(std::size_t size);

/// Makes a class appear in the package, not in the native module, and prevents uninitialised objects of it.
template <typename Class>
Class& in_package(Class& bound) {
  bound.attr("__module__") = "allot";
  pybind11::detail::get_type_info(reinterpret_cast<PyTypeObject*>(bound.ptr()))->operator_new =
      &refuse_memory;
  return bound;
}

/// The documentation of a function, with its signature in the form that `inspect` reads: "f(self, x=1)".
inline std::string signed_doc(const char* signature, const char* text) {
  return std::string(signature) + "\n--\n\n" + text;
}

/// Adds a method by its signature, "f(self, x=1)".
template <typename Class, typename Function, typename... Extra>
void add_method(Class& bound, const std::string& signature, Function&& function, const std::string& doc,
                const Extra&... extra) {
  bound.def(signature.substr(0, signature.find('(')).c_str(), std::forward<Function>(function), extra...,
            signed_doc(signature.c_str(), doc.c_str()).c_str());
}

/// `to_dict` and `to_json` from the writer of the command `allot NAME`.
template <typename Class, typename Text>
void add_json(Class& bound, const char* command, Text text, pybind11::object (*parsed)(const std::string&)) {
  using Result = typename Class::type;
  const std::string what = "`allot " + std::string(command) + " --json` prints";
  add_method(
      bound, "to_dict(self)", [text, parsed](const Result& self) { return parsed(text(self)); },
      "What " + what + ", as Python's own json module reads it.");
  add_method(
      bound, "to_json(self)", [text](const Result& self) { return text(self); },
      "The text that " + what + ".");
}

}  // namespace allot::python
