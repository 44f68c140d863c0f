#include "integrations/python/native/simulation_results.hpp"

#include <pybind11/stl.h>

#include <limits>
#include <string>
#include <vector>

#include "allot/io/result_json.hpp"
#include "integrations/python/native/module.hpp"

namespace allot::python {
namespace {

/// Means and half-widths of one quantity, by task type or resource; NaN where there is none.
struct Estimates {
  std::vector<double> mean;
  std::vector<std::optional<double>> half_width;
};

Estimates estimates(const std::vector<Estimate>& values) {
  Estimates out;
  for (const Estimate& value : values) {
    out.mean.push_back(value.mean);
    out.half_width.push_back(value.half_width);
  }
  return out;
}

/// Response times of types that complete nothing are unknown, not 0.
Estimates response_times(const SimulationRun& run) {
  Estimates out = estimates(run.result.response_time_by_task);
  for (std::size_t i = 0; i < out.mean.size(); ++i) {
    if (run.result.throughput_by_task[i].mean > 0) continue;
    out.mean[i] = std::numeric_limits<double>::quiet_NaN();
    out.half_width[i].reset();
  }
  return out;
}

void bind_estimates(py::module_& module) {
  py::class_<Estimate> one(module, "Estimate", "A mean and the half-width of its 95% confidence interval.");
  in_package(one);
  one.def_readonly("mean", &Estimate::mean);
  one.def_readonly("half_width", &Estimate::half_width, "None with too few data.");
  one.def("__float__", [](const Estimate& self) { return self.mean; });
  py::class_<Estimates> many(
      module, "Estimates",
      "Means and half-widths of their 95% confidence intervals, as arrays; NaN where there is none.");
  in_package(many);
  many.def_property_readonly("mean", [](const Estimates& self) { return to_array(self.mean); });
  many.def_property_readonly("half_width", [](const Estimates& self) { return to_array(self.half_width); });
  many.def("__len__", [](const Estimates& self) { return self.mean.size(); });
}

void bind_simulation(py::module_& module) {
  py::class_<SimulationRun> bound(module, "Simulation",
                                  "What a policy did in simulation, with 95% confidence intervals.");
  in_package(bound);
  const auto property = [&](const char* name, auto get, const char* doc = "") {
    bound.def_property_readonly(
        name, [get](const SimulationRun& self) { return get(self); }, doc);
  };
  const auto field = [&](const char* name, auto member, const char* doc = "") {
    bound.def_property_readonly(
        name, [member](const SimulationRun& self) { return self.result.*member; }, doc);
  };
  const auto measured = [&](const char* name, double SimulationResult::*member, const char* doc) {
    bound.def_property_readonly(
        name,
        [member](const SimulationRun& self) -> std::optional<double> {
          if (!self.completes()) return {};
          return self.result.*member;
        },
        doc);
  };
  bound.def_property_readonly("scenario", [](const SimulationRun& self) { return self.scenario; });
  field("policy", &SimulationResult::policy);
  field("distribution", &SimulationResult::distribution);
  field("seed", &SimulationResult::seed);
  field("replications", &SimulationResult::replications);
  field("completions", &SimulationResult::completions, "Of each replication.");
  field("warmup", &SimulationResult::warmup, "Completions that were not counted.");
  field("partial", &SimulationResult::partial, "The time limit came first.");
  field("precise", &SimulationResult::precise, "The precision asked for was reached.");
  field("population", &SimulationResult::population, "Mean number of tasks in the system.");
  field("throughput", &SimulationResult::throughput, "Tasks per second.");
  property(
      "response_time",
      [](const SimulationRun& run) -> std::optional<Estimate> {
        if (!run.completes()) return {};
        return run.result.response_time;
      },
      "Seconds; None where nothing completed.");
  measured("p50", &SimulationResult::p50, "Median of the response time.");
  measured("p95", &SimulationResult::p95, "95th percentile of the response time.");
  measured("p99", &SimulationResult::p99, "99th percentile of the response time.");
  property("throughput_by_task",
           [](const SimulationRun& run) { return estimates(run.result.throughput_by_task); });
  property("throughput_by_resource",
           [](const SimulationRun& run) { return estimates(run.result.throughput_by_resource); });
  property("response_time_by_task", [](const SimulationRun& run) { return response_times(run); });
  property(
      "utilization", [](const SimulationRun& run) { return to_array(run.result.utilization); },
      "Mean busy servers / servers.");
  measured("energy_per_task", &SimulationResult::energy_per_task, "Joules.");
  measured("edp", &SimulationResult::edp, "Energy per task times mean response time.");
  field("little", &SimulationResult::little,
        "Throughput times response time, to be compared with population.");
  field("little_residual", &SimulationResult::little_residual);
  property("throughput_by_replication",
           [](const SimulationRun& run) { return to_array(run.result.throughput_by_replication); });
  field("notes", &SimulationResult::notes, "What a careful reader should know.");
  field("wall_seconds", &SimulationResult::wall_seconds);
  field("completions_per_second", &SimulationResult::completions_per_second);
  const auto text = [](const SimulationRun& self) {
    return simulation_json(self.scenario->system, self.result);
  };
  bound.def(
      "to_dict", [text](const SimulationRun& self) { return from_json(text(self)); },
      "What `allot simulate --json` prints, as Python's own json module reads it.");
  bound.def("to_json", text, "The text that `allot simulate --json` prints.");
}

void bind_comparison(py::module_& module) {
  py::class_<ComparisonRun> bound(
      module, "Comparison", "Several policies on the same random numbers, and which differences are real.");
  in_package(bound);
  bound.def_property_readonly("scenario", [](const ComparisonRun& self) { return self.scenario; });
  bound.def_property_readonly(
      "policies",
      [](const ComparisonRun& self) {
        std::vector<SimulationRun> runs;
        for (const SimulationResult& result : self.comparison.policies)
          runs.push_back({self.scenario, result});
        return runs;
      },
      "A Simulation for each policy, in the order given.");
  bound.def_property_readonly(
      "differences",
      [](const ComparisonRun& self) {
        const py::object kind = py::module_::import("allot._records").attr("Difference");
        py::list differences;
        for (const Difference& difference : self.comparison.differences)
          differences.append(kind(difference.policy, difference.against, py::cast(difference.throughput),
                                  difference.significant));
        return differences;
      },
      "A list of allot.Difference: policy, against, throughput (an Estimate), significant.");
  bound.def_property_readonly(
      "best_assignment_throughput",
      [](const ComparisonRun& self) -> std::optional<double> {
        if (!self.best) return {};
        return self.best->performance.throughput;
      },
      "Of the best constant assignment that was found, or None where the work varies.");
  bound.def_property_readonly("best_assignment_proven", [](const ComparisonRun& self) {
    return self.best && self.best->proven_optimal;
  });
  bound.def("__len__", [](const ComparisonRun& self) { return self.comparison.policies.size(); });
  bound.def(
      "__getitem__",
      [](const ComparisonRun& self, const std::string& policy) {
        for (const SimulationResult& result : self.comparison.policies) {
          if (result.policy == policy) return SimulationRun{self.scenario, result};
        }
        throw py::key_error(policy);
      },
      py::arg("policy"), "The Simulation of a policy.");
  const auto text = [](const ComparisonRun& self) {
    return comparison_json(self.scenario->system, self.comparison, self.best ? &*self.best : nullptr);
  };
  bound.def(
      "to_dict", [text](const ComparisonRun& self) { return from_json(text(self)); },
      "What `allot compare --json` prints, as Python's own json module reads it.");
  bound.def("to_json", text, "The text that `allot compare --json` prints.");
}

}  // namespace

void bind_simulation_results(py::module_& module) {
  bind_estimates(module);
  bind_simulation(module);
  bind_comparison(module);
}

}  // namespace allot::python
