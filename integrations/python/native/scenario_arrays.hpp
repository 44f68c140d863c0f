// A scenario from arrays: a matrix of rates, counts, and a value per resource or task type.
#pragma once

#include <pybind11/pybind11.h>

#include "allot/model/scenario.hpp"

namespace allot::python {

namespace py = pybind11;

/// What a caller may say about the task types and the resources besides rates and counts: None, one value for
/// all, one each in their order, or a mapping or a pandas Series by name.
struct ArrayOptions {
  py::object tasks;
  py::object resources;
  py::object servers;
  py::object kinds;
  py::object disciplines;
  py::object min_depths;
  py::object powers;
  py::object idle_powers;
  py::object homes;
  py::object priorities;
  py::object floors;
  py::object name;
};

/// Invalid with every problem: of the options by their names, of their values in the terms of a scenario
/// file.
Scenario scenario_from_arrays(const py::object& rates, const py::object& counts, const ArrayOptions& options);

}  // namespace allot::python
