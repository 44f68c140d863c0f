// analyze: the exact chain of a policy, with its result.
#include "allot/analyze/analyze.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "allot/io/result_json.hpp"
#include "integrations/python/native/archive.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/python_policy.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

struct AnalysisResult {
  ScenarioPointer scenario;
  std::string policy;
  Analysis analysis;
};

void fields(auto& archive, AnalysisResult& r) { archive(r.policy, r.analysis); }

Analysis analyze_function(const ChosenPolicy& policy, const ScenarioPointer& scenario, AnalyzeOptions options,
                          const py::object& progress) {
  PythonHost host(policy.function, policy.name, scenario, false);
  options.stop.flag = &host.stop();
  if (!progress.is_none())
    options.progress = [&](std::uint64_t states) { host.guarded([&] { progress(states); }); };
  Analysis analysis = analyze(scenario->system, host.policy(), options);
  host.rethrow();
  return analysis;
}

Analysis analyze_builtin(const PolicyInfo& policy, const Scenario& scenario, AnalyzeOptions options,
                         const PolicyOptions& policy_options, const py::object& progress) {
  Attendant attendant;
  options.stop.flag = &attendant.stop();
  if (!progress.is_none()) {
    options.progress = [&](std::uint64_t states) {
      attendant.send([&progress, states] { progress(states); });
    };
  }
  return attendant.run([&] { return analyze(scenario.system, policy, options, policy_options); });
}

AnalysisResult analyze_scenario(const ScenarioPointer& scenario, const py::object& policy,
                                const py::object& optimal_control, const py::object& start,
                                const py::object& max_states, const py::object& assignment,
                                const py::object& probabilities, const py::object& shares,
                                const py::object& time_limit, const py::object& progress) {
  require_constant_work(*scenario, "analyze");
  AnalyzeOptions options;
  options.optimal_control = flag("optimal_control", optimal_control);
  options.random_start = choice<bool>("start", start, {{"random", true}, {"listed", false}});
  options.max_states = whole("max_states", max_states, 1, 100'000'000);
  options.stop.deadline = deadline_after(time_limit);
  function_or_none("progress", progress);
  const PolicyOptions told = policy_options(*scenario, assignment, probabilities, shares);
  const ChosenPolicy chosen = chosen_policy("policy", policy);
  if (chosen.builtin != nullptr && chosen.name == "fixed" && assignment.is_none())
    raise_invalid("assignment", "the policy 'fixed' needs one to hold");
  AnalysisResult result{scenario, chosen.name, {}};
  result.analysis = chosen.builtin == nullptr
                        ? analyze_function(chosen, scenario, options, progress)
                        : analyze_builtin(*chosen.builtin, *scenario, options, told, progress);
  if (result.analysis.stopped == StopReason::kTimeLimit) {
    PyErr_SetString(PyExc_TimeoutError,
                    "the time limit came first, and a chain that is not solved says nothing");
    throw py::error_already_set();
  }
  return result;
}

std::string analysis_text(const AnalysisResult& result) {
  return analysis_json(result.scenario->system, result.policy, result.analysis);
}

}  // namespace

void bind_analyze(py::module_& module) {
  py::class_<AnalysisResult> bound(module, "Analysis",
                                   "The long run of a policy, exactly: exponential sizes, small systems.\n\n"
                                   ">>> import allot\n"
                                   ">>> exact = allot.analyze(allot.Scenario([[8.0, 2.0]], [2]), 'jsq')\n"
                                   ">>> exact.throughput, exact.occupancy\n"
                                   "(10.0, array([[1., 1.]]))\n");
  in_package(bound);
  const auto property = [&](const char* name, auto get, const char* doc) {
    bound.def_property_readonly(
        name, [get](const AnalysisResult& self) { return get(self.analysis); }, doc);
  };
  const auto if_any = [&](const char* name, double Analysis::*member, const char* doc) {
    bound.def_property_readonly(
        name,
        [member](const AnalysisResult& self) -> std::optional<double> {
          if (self.scenario->system.population() == 0) return {};
          return self.analysis.*member;
        },
        doc);
  };
  bound.def_property_readonly(
      "scenario", [](const AnalysisResult& self) { return self.scenario; }, "What was analysed.");
  bound.def_readonly("policy", &AnalysisResult::policy, "The name of the policy.");
  property(
      "note", [](const Analysis& a) { return a.note; },
      "What the policy says about its target; mostly empty.");
  property(
      "states", [](const Analysis& a) { return a.states; },
      "The number of states that can be reached, the policy's memory included.");
  property(
      "classes", [](const Analysis& a) { return a.classes; },
      "Closed classes: sets of states never left once entered.");
  property(
      "throughput", [](const Analysis& a) { return a.throughput; }, "Tasks per second in the long run.");
  property(
      "lowest_throughput", [](const Analysis& a) { return a.lowest_throughput; }, "Of the closed classes.");
  property(
      "highest_throughput", [](const Analysis& a) { return a.highest_throughput; }, "Of the closed classes.");
  property(
      "throughput_by_task", [](const Analysis& a) { return to_array(a.throughput_by_task); },
      "Tasks per second of each type.");
  property(
      "throughput_by_resource", [](const Analysis& a) { return to_array(a.throughput_by_resource); },
      "Tasks per second of each resource.");
  if_any("response_time", &Analysis::response_time, "Seconds; None without threads.");
  bound.def_property_readonly(
      "occupancy",
      [](const AnalysisResult& self) {
        return to_matrix(self.analysis.occupancy, self.scenario->system.resource_count());
      },
      "Mean number of tasks of each type (rows) at each resource (columns).");
  if_any("best_state_probability", &Analysis::best_state_probability,
         "Of being in a state of the largest throughput.");
  property(
      "best_state_throughput", [](const Analysis& a) { return a.best_state_throughput; },
      "The largest throughput of a state.");
  property(
      "best_state_approximate", [](const Analysis& a) { return a.best_state_approximate; },
      "That throughput has no exact formula: tasks wait for several fcfs servers.");
  property(
      "optimal_control_throughput", [](const Analysis& a) { return a.optimal_control_throughput; },
      "The best that any policy could reach, where it was asked for; else None.");
  add_json(bound, "analyze", &analysis_text, &from_json);
  add_pickle(bound);

  module.def("analyze", &analyze_scenario, py::arg("scenario"), py::arg("policy"), py::arg("optimal_control"),
             py::arg("start"), py::arg("max_states"), py::arg("assignment"), py::arg("probabilities"),
             py::arg("shares"), py::arg("time_limit"), py::arg("progress"));
}

}  // namespace allot::python
