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
#include "integrations/python/native/result_fields.hpp"
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
  const ChosenPolicy chosen = set_policy_options(question, scenario, keywords);
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
    PyErr_SetString(PyExc_TimeoutError, "the time limit expired before the chain was solved");
    throw py::error_already_set();
  }
  return py::cast(AnalysisResult{scenario, chosen.name, std::move(question.analysis)});
}

void bind_analyze(py::module_& module) {
  py::class_<AnalysisResult> bound(
      module, "Analysis",
      "The exact long-run behaviour of a policy, for exponential sizes and small systems.\n\n"
      ">>> import allot\n"
      ">>> exact = allot.analyze(allot.Scenario([[8.0, 2.0]], [2]), 'jsq')\n"
      ">>> exact.throughput, exact.occupancy\n"
      "(10.0, array([[1., 1.]]))\n");
  in_package(bound);
  bound.def_property_readonly(
      "scenario", [](const AnalysisResult& self) { return self.scenario; }, "The scenario.");
  bound.def_readonly("policy", &AnalysisResult::policy, "The name of the policy.");
  add_attributes(bound, analysis_fields(), &AnalysisResult::analysis);
  add_json(bound, "analyze", &analysis_text, &from_json);
  add_pickle(bound);
}

}  // namespace allot::python
