// What simulate and compare return to Python.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "allot/simulate/simulate.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

struct SimulationRun {
  ScenarioPointer scenario;
  SimulationResult result;

  bool completes() const noexcept { return result.throughput.mean > 0; }
};

struct ComparisonRun {
  ScenarioPointer scenario;
  Comparison comparison;
  std::optional<Solution> best;
};

void bind_simulation_results(py::module_& module);

}  // namespace allot::python
