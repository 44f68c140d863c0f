// A scenario from arrays: a matrix of rates, counts, and a value per resource or task type.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

/// Every option but the first two may be None, one value for all, or one each. InvalidInput with every
/// problem, in the terms of a scenario file.
Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, py::object tasks,
                              py::object resources, const py::object& servers, const py::object& kinds,
                              const py::object& disciplines, const py::object& min_depths,
                              const py::object& powers, const py::object& idle_powers,
                              const py::object& homes, const py::object& priorities, const py::object& floors,
                              const std::string& name);

}  // namespace allot::python
