// The results of simulate and compare in Python.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

#include "allot/simulate/simulate.hpp"
#include "allot/simulate/trace.hpp"
#include "integrations/python/native/convert.hpp"

namespace allot::python {

struct SimulationRun {
  ScenarioPointer scenario;
  SimulationResult result;
  std::optional<std::vector<TraceEvent>> trace;  ///< if requested

  bool completes() const noexcept { return result.throughput.mean > 0; }
  /// False: the time limit came before anything was measured, so everything is unknown.
  bool measured() const noexcept { return !result.partial || !result.throughput_by_replication.empty(); }
};

struct ComparisonRun {
  ScenarioPointer scenario;
  Comparison comparison;
  std::optional<Solution> best;
  std::vector<std::string> missing;  ///< policies that were not simulated in time
};

/// Their contents besides the scenario, for the archive.
void fields(auto& archive, SimulationRun& r) { archive(r.result, r.trace); }
void fields(auto& archive, ComparisonRun& r) { archive(r.comparison, r.best, r.missing); }

void bind_simulation_results(py::module_& module);

}  // namespace allot::python
