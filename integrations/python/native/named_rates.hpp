// Rates with labels: a pandas frame, or dicts by name.
#pragma once

#include <pybind11/pybind11.h>

namespace allot::python {

/// The matrix of what was given as rates. The names that it brings along go into `tasks` and `resources`,
/// where these are None; else it is arranged by them.
pybind11::object named_rates(const pybind11::object& rates, pybind11::object& tasks,
                             pybind11::object& resources);

}  // namespace allot::python
