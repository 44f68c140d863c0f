// The options of policies, from Python's values.
#pragma once

#include <pybind11/pybind11.h>

#include <vector>

#include "allot/model/scenario.hpp"
#include "allot/policy/policy.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

/// An assignment from a matrix, a frame, a dict, a result that contains one, or a JSON file. It must place
/// all threads, each where it can run. Invalid, naming the option, otherwise.
Assignment assignment_from(const char* option, const py::object& value, const System& system);
/// The same for any number of placed threads.
Assignment pattern_from(const char* option, const py::object& value, const System& system);

/// The probability of each resource for each type, row-major, from the same kinds of values.
std::vector<double> probabilities_from(const char* option, const py::object& value, const System& system);

/// assignment: of `fixed`; probabilities: of `random`; shares: of `weighted`. None: not given.
PolicyOptions policy_options(const Scenario& scenario, const py::object& assignment,
                             const py::object& probabilities, py::handle shares);

ShareReading share_reading(py::handle word);

}  // namespace allot::python
