// The answers of solve, certify, pareto and whatif.
#include "allot/ask/questions/solve.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/ask/questions/pareto.hpp"
#include "allot/ask/questions/whatif.hpp"
#include "allot/solve/solution_json.hpp"
#include "integrations/python/native/archive.hpp"
#include "integrations/python/native/asking.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/result_fields.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

struct SolveResult {
  ScenarioPointer scenario;
  Solution solution;
  std::optional<std::vector<Placement>> explanation;

  const System& system() const noexcept { return scenario->system; }
};

struct ParetoResult {
  ScenarioPointer scenario;
  ParetoFrontier frontier;
  std::optional<Solution> weighted;
};

struct WhatIfResult {
  ScenarioPointer scenario;
  WhatIf what_if;
};

void fields(auto& archive, SolveResult& r) { archive(r.solution, r.explanation); }
void fields(auto& archive, ParetoResult& r) { archive(r.frontier, r.weighted); }
void fields(auto& archive, WhatIfResult& r) { archive(r.what_if); }

/// Whether a quick solver on a small system finishes before anybody could want to stop it. A thread for the
/// work would cost more than the work.
bool is_brief(const SolverInfo& solver, const System& system) {
  constexpr double kFewSteps = 1e6;
  return solver.is_quick &&
         static_cast<double>(system.population()) * static_cast<double>(system.rates().values().size()) <=
             kFewSteps;
}

SolveResult result_of(const ScenarioPointer& scenario, SolutionQuestion& question) {
  SolveResult result{scenario, std::move(question.solution), {}};
  if (question.explains) result.explanation = std::move(question.explanation);
  return result;
}

/// X_ij, row-major.
std::vector<double> throughput_by_pair(const SolveResult& result) {
  const std::vector<double>& shares = result.solution.time_shares;
  if (shares.empty()) return allot::throughput_by_pair(result.system(), result.solution.assignment);
  std::vector<double> values = result.system().rates().values();
  for (std::size_t at = 0; at < values.size(); ++at) values[at] *= shares[at];
  return values;
}

std::string solution_text(const SolveResult& result) {
  return solution_json(result.system(), result.solution, result.explanation ? &*result.explanation : nullptr);
}

std::string pareto_text(const ParetoResult& result) {
  return pareto_json(result.scenario->system, result.frontier, result.weighted ? &*result.weighted : nullptr);
}

std::string what_if_text(const WhatIfResult& result) {
  return what_if_json(result.scenario->system, result.what_if);
}

void bind_solution(py::module_& module) {
  py::class_<SolveResult> bound(module, "Solution",
                                "The answer of a solver.\n\n"
                                ">>> import allot\n"
                                ">>> answer = allot.solve(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4]))\n"
                                ">>> answer.assignment\n"
                                "array([[1, 3],\n"
                                "       [0, 4]])\n"
                                ">>> answer.throughput_by_resource.round(3)\n"
                                "array([8.   , 6.643])\n");
  in_package(bound);
  const auto property = [&](const char* name, auto get, const char* doc) {
    bound.def_property_readonly(
        name, [get](const SolveResult& self) { return get(self); }, doc);
  };
  property(
      "scenario", [](const SolveResult& r) { return r.scenario; }, "The scenario.");
  property(
      "throughput_by_pair",
      [](const SolveResult& r) { return to_matrix(throughput_by_pair(r), r.system().resource_count()); },
      "Completions per second of each type (rows) at each resource (columns).");
  property(
      "gap", [](const SolveResult& r) { return r.solution.gap(); }, "(bound - throughput) / bound, or None.");
  property(
      "capacity_use",
      [](const SolveResult& r) {
        py::list uses;
        for (const CapacityUse& use : r.solution.plan.capacities) {
          uses.append(py::dict(py::arg("name") = use.name, py::arg("amount") = use.amount,
                               py::arg("used") = use.used, py::arg("price") = use.price));
        }
        return uses;
      },
      "Planned service: for each capacity a dict of name, amount, used, and the price of one more unit.");
  add_attributes(bound, solution_fields(), &SolveResult::solution);
  add_json(bound, "solve", &solution_text, &from_json);
  add_pickle(bound);
}

/// One number of each point.
py::array_t<double> values(const ParetoResult& result, double ParetoPoint::*member) {
  std::vector<double> numbers;
  for (const ParetoPoint& point : result.frontier.points) numbers.push_back(point.*member);
  return to_array(numbers);
}

/// Attributes that only points of planned service have.
void bind_plans(py::class_<ParetoResult>& bound) {
  bound.def_property_readonly(
      "service", [](const ParetoResult& self) { return self.frontier.is_planned ? "planned" : "even"; },
      "'even' or 'planned'.");
  bound.def_property_readonly(
      "least_served",
      [](const ParetoResult& self) -> py::object {
        if (!self.frontier.is_planned) return py::none();
        return values(self, &ParetoPoint::least_served);
      },
      "Planned service: the completions, relative to the priority, of the type that has least, at each "
      "point; else None.");
  bound.def_property_readonly(
      "time_shares",
      [](const ParetoResult& self) -> py::object {
        if (!self.frontier.is_planned) return py::none();
        const System& system = self.scenario->system;
        py::array_t<double> array(
            {self.frontier.points.size(), system.type_count(), system.resource_count()});
        double* out = array.mutable_data();
        for (const ParetoPoint& point : self.frontier.points)
          out = std::copy(point.time_shares.begin(), point.time_shares.end(), out);
        return read_only(std::move(array));
      },
      "Planned service: units of each resource at work on each type, by point, task type and resource; else "
      "None.");
  bound.def_property_readonly(
      "rounds",
      [](const ParetoResult& self) -> py::object {
        if (!self.frontier.is_planned) return py::none();
        py::list points;
        for (const ParetoPoint& point : self.frontier.points) points.append(to_array(point.rounds));
        return points;
      },
      "Planned service: rounds per second of each group of threads, a list by point; else None.");
}

py::object point_of(const ParetoResult& result, const ParetoPoint& point) {
  return to_record("ParetoPoint", point_fields(), result.scenario->system, point);
}

py::list changes_of(const WhatIfResult& result) {
  return to_records("Change", change_fields(), result.scenario->system, result.what_if.changes);
}

void bind_pareto(py::module_& module) {
  py::class_<ParetoResult> bound(
      module, "Pareto",
      "The trade-off between value and priority error, from the fastest assignment or plan on.\n\n"
      ">>> import allot\n"
      ">>> frontier = allot.pareto(allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[1, 3]))\n"
      ">>> frontier.throughputs[0] == allot.certify(frontier.scenario).throughput\n"
      "True\n"
      ">>> bool(frontier.priority_errors[-1] == frontier.priority_errors.min())\n"
      "True\n");
  in_package(bound);
  bound.def_property_readonly(
      "scenario", [](const ParetoResult& self) { return self.scenario; }, "The scenario.");
  add_method(
      bound, "__len__(self, /)", [](const ParetoResult& self) { return self.frontier.points.size(); },
      "The number of points.");
  add_method(
      bound, "__getitem__(self, at, /)",
      [](const ParetoResult& self, const py::object& at) {
        return point_of(self, element(self.frontier.points, at));
      },
      "The allot.ParetoPoint at an index.", py::arg("at"));
  add_method(
      bound, "__iter__(self, /)",
      [](const ParetoResult& self) {
        py::list points;
        for (const ParetoPoint& point : self.frontier.points) points.append(point_of(self, point));
        return py::iter(points);
      },
      "An allot.ParetoPoint each.");
  bound.def_property_readonly(
      "outcome", [](const ParetoResult& self) { return to_string(self.frontier.outcome); },
      "'optimal', 'converged', 'time_limit', 'interrupted' or 'infeasible'.");
  bound.def_property_readonly(
      "exhaustive", [](const ParetoResult& self) { return self.frontier.exhaustive; },
      "Whether every state was examined: no point is missing except those beyond the requested number.");
  bound.def_property_readonly(
      "approximate", [](const ParetoResult& self) { return self.frontier.approximate; },
      "Whether some resource may be in a state whose throughput has no exact formula.");
  bound.def_property_readonly(
      "throughputs", [](const ParetoResult& self) { return values(self, &ParetoPoint::throughput); },
      "Tasks per second of each point; decreasing if all worths are 1.");
  bound.def_property_readonly(
      "values", [](const ParetoResult& self) { return values(self, &ParetoPoint::value); },
      "Value per second of each point, decreasing.");
  bound.def_property_readonly(
      "priority_errors",
      [](const ParetoResult& self) -> py::object {
        if (!self.frontier.has_priorities) return py::none();
        return values(self, &ParetoPoint::priority_error);
      },
      "The priority error of each point, decreasing; None without priorities.");
  bind_plans(bound);
  bound.def_property_readonly(
      "assignments",
      [](const ParetoResult& self) -> py::object {
        if (self.frontier.is_planned) return py::none();
        const System& system = self.scenario->system;
        py::array_t<Count> array({self.frontier.points.size(), system.type_count(), system.resource_count()});
        Count* out = array.mutable_data();
        for (const ParetoPoint& point : self.frontier.points)
          out = std::copy(point.assignment.values().begin(), point.assignment.values().end(), out);
        return read_only(std::move(array));
      },
      "By point, task type and resource; None for plans.");
  bound.def_property_readonly(
      "weighted",
      [](const ParetoResult& self) -> std::optional<SolveResult> {
        if (!self.weighted) return {};
        return SolveResult{self.scenario, *self.weighted, {}};
      },
      "The solution with weighted service; None if there was no time for it, and for plans.");
  add_json(bound, "pareto", &pareto_text, &from_json);
  add_pickle(bound);
}

void bind_what_if(py::module_& module) {
  py::class_<WhatIfResult> bound(
      module, "WhatIf",
      "What each change of the machine or its work would be worth, the largest gain first.\n\n"
      ">>> import allot\n"
      ">>> result = allot.whatif(allot.Scenario([[8.0, 2.0]], [4]))\n"
      ">>> [(c.change, c.resource, round(c.gain, 3)) for c in result.changes[:2]]\n"
      "[('server', 'r0', 0.8), ('server', 'r1', 0.2)]\n");
  in_package(bound);
  bound.def_property_readonly(
      "scenario", [](const WhatIfResult& self) { return self.scenario; }, "The scenario.");
  bound.def_property_readonly(
      "outcome", [](const WhatIfResult& self) { return to_string(self.what_if.outcome); },
      "'converged'; 'time_limit' or 'interrupted' if changes are missing.");
  bound.def_property_readonly(
      "base",
      [](const WhatIfResult& self) {
        return SolveResult{self.scenario, self.what_if.base, {}};
      },
      "The solution without any change.");
  add_method(
      bound, "__len__(self, /)", [](const WhatIfResult& self) { return self.what_if.changes.size(); },
      "The number of changes.");
  add_method(
      bound, "__getitem__(self, at, /)",
      [](const WhatIfResult& self, const py::object& at) {
        return to_record("Change", change_fields(), self.scenario->system, element(self.what_if.changes, at));
      },
      "The allot.Change at an index.", py::arg("at"));
  add_method(
      bound, "__iter__(self, /)", [](const WhatIfResult& self) { return py::iter(changes_of(self)); },
      "An allot.Change each.");
  bound.def_property_readonly("changes", &changes_of, "A list of allot.Change.");
  add_json(bound, "whatif", &what_if_text, &from_json);
  add_pickle(bound);
}

}  // namespace

py::object ask_solve(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress) {
  SolveQuestion question;
  question.scenario = scenario;
  set_options(question, keywords);
  if (progress.is_none() && is_brief(*question.chosen().first, scenario->system)) {
    const Unlocked released;
    question.answer({});
  } else {
    if (PyCallable_Check(progress.ptr()) != 0) progress(py::none(), py::none());
    answer(question, progress);
  }
  return py::cast(result_of(scenario, question));
}

py::object ask_certify(const ScenarioPointer& scenario, const py::dict& keywords,
                       const py::object& progress) {
  CertifyQuestion question;
  question.scenario = scenario;
  set_options(question, keywords);
  if (PyCallable_Check(progress.ptr()) != 0) progress(py::none(), py::none());
  answer(question, progress);
  return py::cast(result_of(scenario, question));
}

py::object ask_pareto(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress) {
  ParetoQuestion question;
  question.scenario = scenario;
  set_options(question, keywords);
  answer(question, progress);
  return py::cast(ParetoResult{scenario, std::move(question.frontier), std::move(question.weighted)});
}

py::object ask_whatif(const ScenarioPointer& scenario, const py::dict& keywords, const py::object& progress) {
  WhatIfQuestion question;
  question.scenario = scenario;
  set_options(question, keywords);
  answer(question, progress);
  return py::cast(WhatIfResult{scenario, std::move(question.what_if)});
}

void bind_solve(py::module_& module) {
  bind_solution(module);
  bind_pareto(module);
  bind_what_if(module);
}

}  // namespace allot::python
