// Rates with labels: a pandas frame, or dicts by name.
#pragma once

#include <pybind11/pybind11.h>

namespace allot::python {

/// The matrix of the given rates. Its labels are stored in `tasks` and `resources` if these are None;
/// otherwise it is arranged by them.
pybind11::object named_rates(const pybind11::object& rates, pybind11::object& tasks,
                             pybind11::object& resources);

}  // namespace allot::python
