// analyze: the exact chain of a policy, with its result.
#include "allot/analyze/analyze.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "allot/io/result_json.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/python_policy.hpp"

namespace allot::python {
namespace {

struct AnalysisResult {
  ScenarioPointer scenario;
  std::string policy;
  Analysis analysis;
};

Analysis analyze_function(const py::object& function, const ScenarioPointer& scenario,
                          AnalyzeOptions options) {
  PythonHost host(function, scenario, false);
  options.stop.flag = &host.stop();
  Analysis analysis = analyze(scenario->system, host.policy(), options);
  host.rethrow();
  return analysis;
}

Analysis analyze_builtin(const PolicyInfo& policy, const Scenario& scenario, AnalyzeOptions options,
                         const PolicyOptions& policy_options) {
  Attendant attendant;
  options.stop.flag = &attendant.stop();
  return attendant.run([&] { return analyze(scenario.system, policy, options, policy_options); });
}

AnalysisResult analyze_scenario(const ScenarioPointer& scenario, const py::object& policy,
                                bool optimal_control, const std::string& start, const py::object& max_states,
                                const py::object& assignment, const py::object& probabilities,
                                const std::string& shares, std::optional<double> time_limit) {
  require_constant_work(*scenario, "analyze");
  AnalyzeOptions options;
  options.optimal_control = optimal_control;
  options.random_start = choice<bool>("start", start, {{"random", true}, {"listed", false}});
  options.max_states = whole("max_states", max_states, 1, 100'000'000);
  options.stop.deadline = deadline_after(time_limit);
  const PolicyOptions told = policy_options(*scenario, assignment, probabilities, shares);
  AnalysisResult result{scenario, "", {}};
  if (PyCallable_Check(policy.ptr()) != 0) {
    result.policy = policy_name(policy);
    result.analysis = analyze_function(policy, scenario, options);
  } else {
    result.policy = policy.cast<std::string>();
    const PolicyInfo* const info = find_policy(result.policy);
    if (info == nullptr) raise_invalid("policy", "there is no '" + result.policy + "'");
    if (info->name == "fixed" && assignment.is_none())
      raise_invalid("assignment", "the policy 'fixed' needs one to hold");
    result.analysis = analyze_builtin(*info, *scenario, options, told);
  }
  if (result.analysis.stopped == StopReason::kTimeLimit) {
    PyErr_SetString(PyExc_TimeoutError,
                    "the time limit came first, and a chain that is not solved says nothing");
    throw py::error_already_set();
  }
  return result;
}

std::string text(const AnalysisResult& result) {
  return analysis_json(result.scenario->system, result.policy, result.analysis);
}

}  // namespace

void bind_analyze(py::module_& module) {
  py::class_<AnalysisResult> bound(module, "Analysis",
                                   "The long run of a policy, exactly: exponential sizes, small systems.");
  in_package(bound);
  const auto property = [&](const char* name, auto get, const char* doc = "") {
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
  bound.def_property_readonly("scenario", [](const AnalysisResult& self) { return self.scenario; });
  bound.def_readonly("policy", &AnalysisResult::policy);
  property("note", [](const Analysis& a) { return a.note; });
  property("states", [](const Analysis& a) { return a.states; });
  property(
      "classes", [](const Analysis& a) { return a.classes; },
      "Closed classes: sets of states never left once entered.");
  property(
      "throughput", [](const Analysis& a) { return a.throughput; }, "Tasks per second in the long run.");
  property(
      "lowest_throughput", [](const Analysis& a) { return a.lowest_throughput; }, "Of the closed classes.");
  property(
      "highest_throughput", [](const Analysis& a) { return a.highest_throughput; }, "Of the closed classes.");
  property("throughput_by_task", [](const Analysis& a) { return to_array(a.throughput_by_task); });
  property("throughput_by_resource", [](const Analysis& a) { return to_array(a.throughput_by_resource); });
  if_any("response_time", &Analysis::response_time, "Seconds; None without threads.");
  bound.def_property_readonly(
      "occupancy",
      [](const AnalysisResult& self) {
        return to_matrix(self.analysis.occupancy, self.scenario->system.resource_count());
      },
      "Mean number of tasks of each type (rows) at each resource (columns).");
  if_any("best_state_probability", &Analysis::best_state_probability,
         "Of being in a state of the largest throughput.");
  property("best_state_throughput", [](const Analysis& a) { return a.best_state_throughput; });
  property("best_state_approximate", [](const Analysis& a) { return a.best_state_approximate; });
  property(
      "optimal_control_throughput", [](const Analysis& a) { return a.optimal_control_throughput; },
      "The best that any policy could reach, where it was asked for; else None.");
  bound.def(
      "to_dict", [](const AnalysisResult& self) { return from_json(text(self)); },
      "What `allot analyze --json` prints, as Python's own json module reads it.");
  bound.def("to_json", &text, "The text that `allot analyze --json` prints.");

  module.def("analyze", &analyze_scenario, py::arg("scenario"), py::arg("policy"), py::arg("optimal_control"),
             py::arg("start"), py::arg("max_states"), py::arg("assignment"), py::arg("probabilities"),
             py::arg("shares"), py::arg("time_limit"));
}

}  // namespace allot::python
