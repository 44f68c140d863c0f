// The answers of simulate and compare; policies may be Python functions.
#include "allot/ask/questions/simulate.hpp"

#include <pybind11/stl.h>

#include <string>
#include <system_error>
#include <vector>

#include "allot/simulate/trace_csv.hpp"
#include "integrations/python/native/asking.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/python_policy.hpp"
#include "integrations/python/native/simulation_results.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

/// The part of one policy in the whole work.
struct Part {
  std::size_t at = 0;
  std::size_t of = 1;
  double share(double done) const noexcept {
    return (static_cast<double>(at) + done) / static_cast<double>(of);
  }
};

/// Keeps every event in memory.
struct KeptTrace final : TraceSink {
  std::vector<TraceEvent> events;
  void event(const TraceEvent& event) override { events.push_back(event); }
};

/// Sets sizes that are given as numbers, or by their quantiles as in scipy.stats. Words are an ordinary
/// option.
void set_sizes(SimulationQuestion& question, py::dict& keywords) {
  constexpr int kQuantiles = 1 << 16;
  const py::object given = keywords["distribution"];
  if (py::isinstance<py::str>(given)) return;
  keywords.attr("pop")("distribution");
  const bool has_quantiles = py::hasattr(given, "ppf");
  py::object values = given;
  std::string name = "sizes of an array";
  if (has_quantiles) {
    const py::module_ numpy = py::module_::import("numpy");
    values = given.attr("ppf")((numpy.attr("arange")(kQuantiles) + py::float_(0.5)) / py::int_(kQuantiles));
    const py::object kind = py::getattr(given, "dist", given);
    name = text("distribution", py::str(py::getattr(kind, "name", py::type::of(given).attr("__name__"))));
  }
  std::vector<double> sizes;
  const Node node = to_node(values, "distribution");
  const auto* const entries = node.get<Node::Array>();
  if (entries == nullptr)
    raise_invalid("distribution",
                  "must be a name, an array of sizes, or have quantiles (ppf), is " + shown(given));
  for (const Node& entry : *entries) {
    const auto* const real = entry.get<double>();
    const auto* const whole = entry.get<std::int64_t>();
    if (real == nullptr && whole == nullptr)
      raise_invalid("distribution", "must be numbers, one for each size");
    sizes.push_back(real != nullptr ? *real : static_cast<double>(*whole));
  }
  question.sizes = sampled_distribution(std::move(name), std::move(sizes));
}

/// Runs a policy that is a function, with the caller's lock, on one thread.
SimulationResult simulate_function(const ChosenPolicy& policy, const ScenarioPointer& scenario,
                                   const Distribution& sizes, SimulateOptions options,
                                   const py::object& progress, Part part) {
  PythonHost host(policy.function, policy.name, scenario);
  options.threads = 1;
  options.stop.flag = &host.stop();
  if (!progress.is_none())
    options.progress = [&](double done) { host.guarded([&] { progress(part.share(done)); }); };
  SimulationResult result = simulate(*scenario, host.policy(), sizes, options);
  host.rethrow();
  return result;
}

SimulationResult simulate_builtin(const ChosenPolicy& policy, const ScenarioPointer& scenario,
                                  const Distribution& sizes, SimulateOptions options,
                                  const py::object& progress, Part part) {
  Attendant attendant;
  options.stop.flag = &attendant.stop();
  if (!progress.is_none()) {
    options.progress = [&](double done) {
      attendant.send([&progress, share = part.share(done)] { progress(share); });
    };
  }
  return attendant.run([&] { return simulate(*scenario, *policy.builtin, sizes, options); });
}

SimulationResult simulate_any(const ChosenPolicy& policy, const ScenarioPointer& scenario,
                              const Distribution& sizes, const SimulateOptions& options,
                              const py::object& progress, Part part = {}) {
  return (policy.builtin != nullptr ? simulate_builtin : simulate_function)(policy, scenario, sizes, options,
                                                                            progress, part);
}

/// All policies that suit the scenario, if none are named.
std::vector<ChosenPolicy> suitable(const Scenario& scenario, const PolicyOptions& options) {
  std::vector<ChosenPolicy> policies;
  for (const PolicyInfo* const policy : suitable_policies(scenario.system, options))
    policies.push_back({std::string(policy->name), policy, py::none()});
  return policies;
}

}  // namespace

py::object ask_simulate(const ScenarioPointer& scenario, const py::dict& given, const py::object& progress) {
  SimulateQuestion question;
  py::dict keywords = given.attr("copy")();
  set_sizes(question, keywords);
  KeptTrace kept;
  const bool keeps = PyBool_Check(given["trace"].ptr()) != 0;
  if (keeps) keywords.attr("pop")("trace");
  const ChosenPolicy chosen = set_policy_options(question, scenario, keywords);
  if (keeps && flag("trace", given["trace"])) question.how.trace = &kept;
  function_or_none("progress", progress);
  if (chosen.builtin != nullptr) {
    answer(question, progress);
  } else {
    PythonHost host(chosen.function, chosen.name, scenario);
    question.policy.own = host.policy();
    question.how.threads = 1;
    Attendance attendance;
    attendance.flag = &host.stop();
    if (!progress.is_none()) attendance.share = [&](double done) { host.guarded([&] { progress(done); }); };
    try {
      question.answer(attendance);
    } catch (const std::system_error& error) {
      raise_os_error(error);
    }
    host.rethrow();
  }
  SimulationRun run{scenario, std::move(question.result), {}};
  if (question.how.trace != nullptr) run.trace = std::move(kept.events);
  return py::cast(std::move(run));
}

/// Each function among the policies has its own host, so the policies run one after another here.
py::object ask_compare(const ScenarioPointer& scenario, const py::dict& given, const py::object& progress) {
  CompareQuestion question;
  py::dict keywords = given.attr("copy")();
  set_sizes(question, keywords);
  question.scenario = scenario;
  set_options(question, keywords, "policies");
  function_or_none("progress", progress);
  const py::object wanted = keywords["policies"];
  std::vector<ChosenPolicy> policies =
      wanted.is_none() ? suitable(*scenario, question.how.policy) : chosen_policies(wanted);
  if (!wanted.is_none()) {
    for (const ChosenPolicy& policy : policies) question.policies.push_back(policy.builtin);
    question.check_policies();
  }
  SimulateOptions options = question.how;
  options.stop = Attendance{}.limits(question.time_limit_s);
  ComparisonRun run{scenario, {}, {}, {}};
  std::vector<SimulationResult>& results = run.comparison.policies;
  try {
    TraceFile file(question.trace, scenario->system, true);
    options.trace = file.sink();
    bool stopped = false;
    for (std::size_t at = 0; at < policies.size(); ++at) {
      if (!stopped) {
        SimulationResult result =
            simulate_any(policies[at], scenario, *question.sizes, options, progress, {at, policies.size()});
        stopped = result.partial;
        if (!stopped || result.replications > 0 || at == 0) {
          results.push_back(std::move(result));
          continue;
        }
      }
      run.missing.push_back(policies[at].name);
    }
    file.close();
  } catch (const std::system_error& error) {
    raise_os_error(error);
  }
  run.comparison.differences = differences_from_first(results);
  Attendant attendant;
  StopLimits stop = options.stop;
  stop.flag = &attendant.stop();
  run.best = attendant.run([&] { return reference_assignment(*scenario, stop); });
  return py::cast(std::move(run));
}

void bind_simulate(py::module_& module) {
  bind_policy_state(module);
  bind_simulation_results(module);
}

}  // namespace allot::python
