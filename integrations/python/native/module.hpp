// The parts that the native module is made of, one file each.
#pragma once

#include <pybind11/pybind11.h>

namespace allot::python {

void bind_scenario(pybind11::module_& module);
void bind_solve(pybind11::module_& module);
void bind_simulate(pybind11::module_& module);
void bind_analyze(pybind11::module_& module);
void bind_dispatch(pybind11::module_& module);
void bind_service_order(pybind11::module_& module);

/// A class is known to users by the package, not by the native module inside it.
template <typename Class>
Class& in_package(Class& bound) {
  bound.attr("__module__") = "allot";
  return bound;
}

}  // namespace allot::python
