// A scenario from arrays: a matrix of rates, counts, and a value per resource or task type.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

/// `given`: what a caller may say about the task types and the resources besides rates and counts: names
/// under `tasks` and `resources`, a `name`, `capacities`, a `power_cap`, and the columns of the table of
/// fields, each None, one value for all, one each in their order, or a mapping or a pandas Series by name.
/// Invalid with every problem: of the columns by their names, of their values in the terms of a scenario
/// file. TypeError for anything else.
Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, const py::kwargs& given);

/// A copy with other values for what is `given`: rates, counts, any column, or a part of a scenario file such
/// as `power_cap`. By name, only those named change; None takes them away. New names under `tasks` and
/// `resources` stand in the old order.
Scenario scenario_with(const Scenario& scenario, const py::kwargs& given);

/// Its signature, as `inspect` reads it.
std::string scenario_signature();

}  // namespace allot::python
