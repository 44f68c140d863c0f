// A scenario from arrays: a matrix of rates, counts, and a value per resource or task type.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

/// `given`: arguments for task types and resources besides rates and counts: names under `tasks` and
/// `resources`, a `name`, `capacities`, a `power_cap`, and the columns of the table of fields. A column is
/// None, one value for all, a sequence in order, or a mapping or a pandas Series by name. Invalid with all
/// problems: of columns by their names, of values in the terms of a scenario file. TypeError for other
/// keywords.
Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, const py::kwargs& given);

/// A copy with other values for everything in `given`: rates, counts, any column, or a part of a scenario
/// file such as `power_cap`. With names, only the named entries change; None removes their values. New names
/// under `tasks` and `resources` are in the old order.
Scenario scenario_with(const Scenario& scenario, const py::kwargs& given);

/// Its signature in the form that `inspect` reads.
std::string scenario_signature();

}  // namespace allot::python
