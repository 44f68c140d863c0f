#include "integrations/python/native/simulation_results.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "allot/simulate/simulation_json.hpp"
#include "integrations/python/native/archive.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/result_fields.hpp"

namespace allot::python {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// Means and half-widths of one quantity, by task type or resource; NaN if unknown.
struct Estimates {
  std::vector<Estimate> values;
};

void fields(auto& archive, Estimates& e) { archive(e.values); }

Estimates estimates(const SimulationRun& run, const std::vector<Estimate>& values) {
  if (!run.measured()) return {std::vector<Estimate>(values.size(), Estimate{kUnknown, {}})};
  return {values};
}

/// Response times of types that complete nothing are unknown, not 0.
Estimates response_times(const SimulationRun& run) {
  Estimates out{run.result.response_time_by_task};
  for (std::size_t i = 0; i < out.values.size(); ++i) {
    if (!(run.result.throughput_by_task[i].mean > 0)) out.values[i] = {kUnknown, {}};
  }
  return out;
}

void bind_estimates(py::module_& module) {
  py::class_<Estimate> one(module, "Estimate",
                           "A mean and the half-width of its 95% confidence interval.\n\n"
                           ">>> import allot\n"
                           ">>> run = allot.simulate(allot.generate(), 'map', completions=1000)\n"
                           ">>> run.throughput.mean - run.throughput.half_width < float(run.throughput)\n"
                           "True\n");
  in_package(one);
  one.def_readonly("mean", &Estimate::mean, "The mean; NaN where nothing was measured.");
  one.def_readonly("half_width", &Estimate::half_width, "None with too few data.");
  add_method(
      one, "__float__(self, /)", [](const Estimate& self) { return self.mean; }, "The mean.");
  one.def(py::pickle([](const Estimate& self) { return py::make_tuple(self.mean, self.half_width); },
                     [](const py::tuple& state) {
                       return Estimate{state[0].cast<double>(), state[1].cast<std::optional<double>>()};
                     }));
  add_method(
      one, "__iter__(self, /)",
      [](const Estimate& self) { return py::iter(py::make_tuple(self.mean, self.half_width)); },
      "The mean and the half-width: mean, half_width = estimate.");
  py::class_<Estimates> many(
      module, "Estimates",
      "Means and half-widths of their 95% confidence intervals, as arrays; NaN where there is none.\n\n"
      "An index gives the Estimate of one task type or resource.\n\n"
      ">>> import allot\n"
      ">>> run = allot.simulate(allot.generate(), 'map', completions=1000)\n"
      ">>> run.throughput_by_task[-1].mean == run.throughput_by_task.mean[-1]\n"
      "True\n");
  in_package(many);
  many.def_property_readonly(
      "mean",
      [](const Estimates& self) {
        std::vector<double> means;
        for (const Estimate& value : self.values) means.push_back(value.mean);
        return to_array(means);
      },
      "The means.");
  many.def_property_readonly(
      "half_width",
      [](const Estimates& self) {
        std::vector<std::optional<double>> widths;
        for (const Estimate& value : self.values) widths.push_back(value.half_width);
        return to_array(widths);
      },
      "The half-widths; NaN with too few data.");
  add_method(
      many, "__len__(self, /)", [](const Estimates& self) { return self.values.size(); },
      "How many there are.");
  add_method(
      many, "__getitem__(self, at, /)",
      [](const Estimates& self, const py::object& at) { return element(self.values, at); },
      "The Estimate at an index.", py::arg("at"));
  add_method(
      many, "__iter__(self, /)", [](const Estimates& self) { return py::iter(py::cast(self.values)); },
      "An Estimate each.");
  many.def(py::pickle([](const Estimates& self) { return packed(self); },
                      [](const py::bytes& state) {
                        Estimates self;
                        unpack(state, self);
                        return self;
                      }));
  add_equality(many, [](const Estimates& self) { return self; });
}

/// The events as columns, in the order of the struct's members.
py::object trace_columns(const SimulationRun& run) {
  if (!run.trace) return py::none();
  const auto column = [&](auto get) {
    py::array_t<decltype(get(TraceEvent{}))> array(static_cast<py::ssize_t>(run.trace->size()));
    auto* out = array.mutable_data();
    for (const TraceEvent& event : *run.trace) *out++ = get(event);
    return read_only(std::move(array));
  };
  using Event = TraceEvent;
  return py::make_tuple(column([](const Event& e) { return static_cast<std::int64_t>(e.what); }),
                        column([](const Event& e) { return e.time; }),
                        column([](const Event& e) { return static_cast<std::int64_t>(e.task); }),
                        column([](const Event& e) { return static_cast<std::int64_t>(e.thread); }),
                        column([](const Event& e) { return static_cast<std::int64_t>(index(e.type)); }),
                        column([](const Event& e) { return static_cast<std::int64_t>(index(e.resource)); }),
                        column([](const Event& e) { return e.size; }),
                        column([](const Event& e) { return e.response; }));
}

void bind_simulation(py::module_& module) {
  py::class_<SimulationRun> bound(module, "Simulation",
                                  "Simulation results of a policy, with 95% confidence intervals.\n\n"
                                  ">>> import allot\n"
                                  ">>> run = allot.simulate(allot.generate(), 'jsq', completions=1000)\n"
                                  ">>> run.replications, run.completions, run.partial\n"
                                  "(10, 1000, False)\n"
                                  ">>> bool(run.p50 < run.response_time.mean < run.p99)\n"
                                  "True\n");
  in_package(bound);
  const auto property = [&](const char* name, auto get, const char* doc) {
    bound.def_property_readonly(
        name, [get](const SimulationRun& self) { return get(self); }, doc);
  };
  property(
      "scenario", [](const SimulationRun& run) { return run.scenario; }, "The scenario.");
  add_attributes(bound, simulation_fields(), &SimulationRun::result);
  property(
      "throughput",
      [](const SimulationRun& run) {
        return run.measured() ? run.result.throughput : Estimate{kUnknown, {}};
      },
      "Tasks per second; NaN where the time limit came before anything was measured.");
  property(
      "value",
      [](const SimulationRun& run) {
        return run.measured() ? run.result.value : Estimate{kUnknown, {}};
      },
      "Value per second: worth times throughput, summed; with threads of several stages worth times rounds.");
  property(
      "rounds",
      [](const SimulationRun& run) -> std::optional<Estimates> {
        if (run.result.rounds.empty()) return {};
        return estimates(run, run.result.rounds);
      },
      "Rounds per second of each group of threads; None without such groups.");
  property(
      "response_time",
      [](const SimulationRun& run) -> std::optional<Estimate> {
        if (!run.completes()) return {};
        return run.result.response_time;
      },
      "Seconds; None if nothing completed.");
  property(
      "throughput_by_task",
      [](const SimulationRun& run) { return estimates(run, run.result.throughput_by_task); },
      "Tasks per second of each type.");
  property(
      "throughput_by_resource",
      [](const SimulationRun& run) { return estimates(run, run.result.throughput_by_resource); },
      "Tasks per second of each resource.");
  property(
      "response_time_by_task", [](const SimulationRun& run) { return response_times(run); },
      "Seconds, for each type; NaN if nothing completed.");
  property(
      "utilization",
      [](const SimulationRun& run) {
        if (run.measured()) return to_array(run.result.utilization);
        return to_array(std::vector<double>(run.result.utilization.size(), kUnknown));
      },
      "Mean busy servers / servers.");
  bound.def_property_readonly("_trace", &trace_columns);
  const auto text = [](const SimulationRun& self) {
    return simulation_json(self.scenario->system, self.result);
  };
  add_json(bound, "simulate", text, &from_json);
  add_pickle(bound);
}

SimulationRun run_of(const ComparisonRun& self, const py::object& policy) {
  const std::vector<SimulationResult>& results = self.comparison.policies;
  if (!py::isinstance<py::str>(policy)) return {self.scenario, element(results, policy)};
  for (const SimulationResult& result : results) {
    if (policy.equal(to_str(result.policy))) return {self.scenario, result};
  }
  PyErr_SetObject(PyExc_KeyError, policy.ptr());
  throw py::error_already_set();
}

std::vector<SimulationRun> runs_of(const ComparisonRun& self) {
  std::vector<SimulationRun> runs;
  for (const SimulationResult& result : self.comparison.policies) runs.push_back({self.scenario, result});
  return runs;
}

bool is_partial(const ComparisonRun& self) {
  return !self.missing.empty() || self.comparison.policies.back().partial;
}

/// Notes for the comparison as a whole.
std::vector<std::string> notes_of(const ComparisonRun& self) {
  std::vector<std::string> notes;
  if (self.comparison.policies.back().partial)
    notes.push_back("the time limit expired: '" + self.comparison.policies.back().policy + "' is incomplete");
  std::string names;
  for (const std::string& name : self.missing) names += (names.empty() ? "'" : ", '") + name + "'";
  if (!names.empty()) notes.push_back("the time limit expired: " + names + " did not get a turn");
  return notes;
}

void bind_comparison(py::module_& module) {
  py::class_<ComparisonRun> bound(
      module, "Comparison",
      "Several policies with the same random numbers, and which differences are significant.\n\n"
      "An index or a name gives the Simulation of one, a loop those of all, `in` asks for a name.\n\n"
      ">>> import allot\n"
      ">>> both = allot.compare(allot.generate(), ['map', 'jsq'], completions=1000)\n"
      ">>> [run.policy for run in both], 'jsq' in both, both[0].policy\n"
      "(['map', 'jsq'], True, 'map')\n"
      ">>> both['jsq'].throughput.mean < both['map'].throughput.mean\n"
      "True\n");
  in_package(bound);
  bound.def_property_readonly(
      "scenario", [](const ComparisonRun& self) { return self.scenario; }, "The scenario.");
  bound.def_property_readonly("policies", &runs_of, "A Simulation for each policy, in the order given.");
  bound.def_property_readonly(
      "differences",
      [](const ComparisonRun& self) {
        return to_records("Difference", difference_fields(), self.scenario->system,
                          self.comparison.differences);
      },
      "A list of allot.Difference.");
  bound.def_property_readonly(
      "best_assignment_throughput",
      [](const ComparisonRun& self) -> std::optional<double> {
        if (!self.best) return {};
        return self.best->performance.throughput;
      },
      "Of the best constant assignment that was found, or None where the work varies.");
  bound.def_property_readonly(
      "best_assignment_value",
      [](const ComparisonRun& self) -> std::optional<double> {
        if (!self.best) return {};
        return self.best->performance.value;
      },
      "Of the same: the most value per second, or None.");
  bound.def_property_readonly(
      "best_assignment_proven",
      [](const ComparisonRun& self) { return self.best && self.best->proven_optimal; },
      "Whether it is proven that no constant assignment has more value.");
  bound.def_property_readonly("partial", &is_partial,
                              "The time limit expired: a policy is incomplete, or some are missing.");
  bound.def_property_readonly(
      "missing", [](const ComparisonRun& self) { return py::tuple(py::cast(self.missing)); },
      "The names of the policies that were not simulated before the time limit.");
  bound.def_property_readonly("notes", &notes_of, "Caveats; each Simulation also has its own notes.");
  add_method(
      bound, "__len__(self, /)", [](const ComparisonRun& self) { return self.comparison.policies.size(); },
      "The number of policies.");
  add_method(bound, "__getitem__(self, policy, /)", &run_of, "The Simulation of a policy, by name or index.",
             py::arg("policy"));
  add_method(
      bound, "__iter__(self, /)", [](const ComparisonRun& self) { return py::iter(py::cast(runs_of(self))); },
      "A Simulation for each policy.");
  add_method(
      bound, "__contains__(self, policy, /)",
      [](const ComparisonRun& self, const py::object& policy) {
        const std::vector<SimulationResult>& results = self.comparison.policies;
        return std::any_of(results.begin(), results.end(), [&](const SimulationResult& result) {
          return policy.equal(to_str(result.policy));
        });
      },
      "Whether there is a policy of that name.", py::arg("policy"));
  const auto text = [](const ComparisonRun& self) {
    return comparison_json(self.scenario->system, self.comparison, self.best ? &*self.best : nullptr);
  };
  add_json(bound, "compare", text, &from_json);
  add_pickle(bound);
}

}  // namespace

void bind_simulation_results(py::module_& module) {
  bind_estimates(module);
  bind_simulation(module);
  bind_comparison(module);
}

}  // namespace allot::python
