// simulate and compare; policies may be Python functions.
#include "allot/simulate/simulate.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/io/trace_csv.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/python_policy.hpp"
#include "integrations/python/native/simulation_results.hpp"
#include "integrations/python/native/values.hpp"

namespace allot::python {
namespace {

constexpr std::uint64_t kMostCompletions = 1'000'000'000'000;

/// The options that both functions take, in Python's values.
struct Request {
  ScenarioPointer scenario;
  std::unique_ptr<const Distribution> sizes;
  SimulateOptions options;
  py::object progress;
  std::string trace_path;
};

Request make_request(const ScenarioPointer& scenario, const py::object& distribution,
                     const py::object& completions, const py::object& warmup, const py::object& replications,
                     const py::object& precision, const py::object& max_replications, const py::object& start,
                     const py::object& seed, const py::object& threads, const py::object& assignment,
                     const py::object& probabilities, const py::object& shares, const py::object& trace,
                     const py::object& time_limit, const py::object& progress) {
  constexpr std::uint64_t kMostReplications = 1'000'000;
  Request request{scenario,
                  make_distribution(text("distribution", distribution)),
                  {},
                  function_or_none("progress", progress),
                  trace.is_none() ? "" : path("trace", trace)};
  SimulateOptions& options = request.options;
  options.completions = whole("completions", completions, 1, kMostCompletions);
  const bool finds_warmup =
      warmup.is_none() || (py::isinstance<py::str>(warmup) && text("warmup", warmup) == "auto");
  if (!finds_warmup) options.warmup = whole("warmup", warmup, 0, kMostCompletions);
  options.replications =
      static_cast<std::uint32_t>(whole("replications", replications, 1, kMostReplications));
  options.precision = unless_none(precision, [](py::handle value) {
    return number(
        "precision", value, [](double part) { return part > 0 && part < 1; }, "must be between 0 and 1");
  });
  options.max_replications =
      static_cast<std::uint32_t>(whole("max_replications", max_replications, 1, kMostReplications));
  options.random_start = choice<bool>("start", start, {{"random", true}, {"listed", false}});
  options.seed = seed_of(seed);
  if (!threads.is_none()) options.threads = static_cast<unsigned>(whole("threads", threads, 1, 4096));
  options.policy = policy_options(*scenario, assignment, probabilities, shares);
  options.stop.deadline = deadline_after(time_limit);
  return request;
}

/// The file that events are written to, if one is wanted.
class TraceFile {
 public:
  TraceFile(const Request& request, bool with_policy) : path_(request.trace_path) {
    if (path_.empty()) return;
    errno = 0;
    file_.open(path_, std::ios::binary | std::ios::trunc);
    if (!file_) raise(errno);
    csv_.emplace(file_, request.scenario->system, with_policy);
  }
  TraceSink* sink() noexcept { return csv_ ? &*csv_ : nullptr; }
  void close() {
    if (!csv_) return;
    csv_->flush();
    errno = 0;
    file_.close();
    if (csv_->error() != 0 || !file_) raise(csv_->error() != 0 ? csv_->error() : errno);
  }

 private:
  [[noreturn]] void raise(int error) const {
    errno = error != 0 ? error : EIO;
    PyErr_SetFromErrnoWithFilename(PyExc_OSError, path_.c_str());
    throw py::error_already_set();
  }

  std::string path_;
  std::ofstream file_;
  std::optional<TraceCsv> csv_;
};

/// The part of the whole work that one policy is.
struct Part {
  std::size_t at = 0;
  std::size_t of = 1;
  double share(double done) const noexcept {
    return (static_cast<double>(at) + done) / static_cast<double>(of);
  }
};

SimulationResult simulate_function(const ChosenPolicy& policy, const Request& request,
                                   SimulateOptions options, Part part) {
  PythonHost host(policy.function, policy.name, request.scenario);
  options.threads = 1;
  options.stop.flag = &host.stop();
  if (!request.progress.is_none())
    options.progress = [&](double done) { host.guarded([&] { request.progress(part.share(done)); }); };
  SimulationResult result = simulate(*request.scenario, host.policy(), *request.sizes, options);
  host.rethrow();
  return result;
}

SimulationResult simulate_builtin(const PolicyInfo& policy, const Request& request, SimulateOptions options,
                                  Part part) {
  Attendant attendant;
  options.stop.flag = &attendant.stop();
  if (!request.progress.is_none()) {
    options.progress = [&](double done) {
      attendant.send([&request, share = part.share(done)] { request.progress(share); });
    };
  }
  return attendant.run([&] { return simulate(*request.scenario, policy, *request.sizes, options); });
}

SimulationResult simulate_any(const ChosenPolicy& policy, const Request& request,
                              const SimulateOptions& options, Part part = {}) {
  if (policy.builtin != nullptr) return simulate_builtin(*policy.builtin, request, options, part);
  return simulate_function(policy, request, options, part);
}

/// What `fixed` and `random` are told must not be told to others.
void check_told(const std::vector<ChosenPolicy>& policies, const py::object& assignment,
                const py::object& probabilities) {
  const auto has = [&](std::string_view name) {
    return std::any_of(policies.begin(), policies.end(), [&](const ChosenPolicy& policy) {
      return policy.builtin != nullptr && policy.name == name;
    });
  };
  if (has("fixed") && assignment.is_none())
    raise_invalid("assignment", "the policy 'fixed' needs one to hold");
  if (!has("fixed") && !assignment.is_none())
    raise_invalid("assignment", "only the policy 'fixed' holds a given one");
  if (!has("random") && !probabilities.is_none())
    raise_invalid("probabilities", "only the policy 'random' places by given ones");
}

SimulationRun simulate_scenario(const ScenarioPointer& scenario, const py::object& policy,
                                const py::object& distribution, const py::object& completions,
                                const py::object& warmup, const py::object& replications,
                                const py::object& precision, const py::object& max_replications,
                                const py::object& start, const py::object& seed, const py::object& threads,
                                const py::object& assignment, const py::object& probabilities,
                                const py::object& shares, const py::object& trace,
                                const py::object& time_limit, const py::object& progress) {
  const ChosenPolicy chosen = chosen_policy("policy", policy);
  check_told({chosen}, assignment, probabilities);
  const Request request =
      make_request(scenario, distribution, completions, warmup, replications, precision, max_replications,
                   start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress);
  TraceFile file(request, false);
  SimulateOptions options = request.options;
  options.trace = file.sink();
  SimulationRun run{scenario, simulate_any(chosen, request, options)};
  file.close();
  return run;
}

/// All that suit the scenario, where none are named.
std::vector<ChosenPolicy> suitable(const Scenario& scenario, const PolicyOptions& options) {
  std::vector<ChosenPolicy> policies;
  for (const PolicyInfo* const policy : suitable_policies(scenario.system, options))
    policies.push_back({std::string(policy->name), policy, py::none()});
  return policies;
}

ComparisonRun compare_scenario(const ScenarioPointer& scenario, const py::object& wanted,
                               const py::object& distribution, const py::object& completions,
                               const py::object& warmup, const py::object& replications,
                               const py::object& precision, const py::object& max_replications,
                               const py::object& start, const py::object& seed, const py::object& threads,
                               const py::object& assignment, const py::object& probabilities,
                               const py::object& shares, const py::object& trace,
                               const py::object& time_limit, const py::object& progress) {
  std::vector<ChosenPolicy> policies;
  if (!wanted.is_none()) {
    policies = chosen_policies(wanted);
    check_told(policies, assignment, probabilities);
  }
  const Request request =
      make_request(scenario, distribution, completions, warmup, replications, precision, max_replications,
                   start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress);
  if (wanted.is_none()) policies = suitable(*scenario, request.options.policy);
  TraceFile file(request, true);
  SimulateOptions options = request.options;
  options.trace = file.sink();
  ComparisonRun run{scenario, {}, {}, {}};
  std::vector<SimulationResult>& results = run.comparison.policies;
  bool stopped = false;
  for (std::size_t at = 0; at < policies.size(); ++at) {
    if (!stopped) {
      SimulationResult result = simulate_any(policies[at], request, options, {at, policies.size()});
      stopped = result.partial;
      if (!stopped || result.replications > 0 || at == 0) {
        results.push_back(std::move(result));
        continue;
      }
    }
    run.missing.push_back(policies[at].name);
  }
  run.comparison.differences = differences_from_first(results);
  file.close();
  Attendant attendant;
  StopLimits stop = options.stop;
  stop.flag = &attendant.stop();
  run.best = attendant.run([&] { return reference_assignment(*scenario, stop); });
  return run;
}

template <typename Function>
void define(py::module_& module, const char* name, Function function, const char* whom) {
  module.def(name, function, py::arg("scenario"), py::arg(whom), py::arg("distribution"),
             py::arg("completions"), py::arg("warmup"), py::arg("replications"), py::arg("precision"),
             py::arg("max_replications"), py::arg("start"), py::arg("seed"), py::arg("threads"),
             py::arg("assignment"), py::arg("probabilities"), py::arg("shares"), py::arg("trace"),
             py::arg("time_limit"), py::arg("progress"));
}

}  // namespace

void bind_simulate(py::module_& module) {
  bind_policy_state(module);
  bind_simulation_results(module);
  define(module, "simulate", &simulate_scenario, "policy");
  define(module, "compare", &compare_scenario, "policies");
}

}  // namespace allot::python
