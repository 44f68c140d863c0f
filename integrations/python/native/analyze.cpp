// analyze: the exact chain of a policy, with its result.
#include "allot/ask/questions/analyze.hpp"

#include <pybind11/stl.h>

#include <optional>
#include <string>

#include "allot/analyze/analysis_json.hpp"
#include "integrations/python/native/archive.hpp"
#include "integrations/python/native/asking.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
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

std::string analysis_text(const AnalysisResult& result) {
  return analysis_json(result.scenario->system, result.policy, result.analysis);
}

}  // namespace

py::object ask_analyze(const ScenarioPointer& scenario, const py::dict& keywords,
                       const py::object& progress) {
  AnalyzeQuestion question;
  question.scenario = scenario;
  set_options(question, keywords, "policy");
  const ChosenPolicy chosen = chosen_policy("policy", keywords["policy"]);
  question.policy.builtin = chosen.builtin;
  if (chosen.builtin != nullptr) {
    answer(question, progress);
  } else {
    PythonHost host(chosen.function, chosen.name, scenario, false);
    question.policy.own = host.policy();
    Attendance attendance;
    attendance.flag = &host.stop();
    if (!function_or_none("progress", progress).is_none())
      attendance.states = [&](std::uint64_t states) { host.guarded([&] { progress(states); }); };
    question.answer(attendance);
    host.rethrow();
  }
  if (question.analysis.stopped == StopReason::kTimeLimit) {
    PyErr_SetString(PyExc_TimeoutError,
                    "the time limit came first, and a chain that is not solved says nothing");
    throw py::error_already_set();
  }
  return py::cast(AnalysisResult{scenario, chosen.name, std::move(question.analysis)});
}

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
}

}  // namespace allot::python
