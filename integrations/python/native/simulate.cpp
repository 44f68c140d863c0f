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
#include <vector>

#include "allot/io/trace_csv.hpp"
#include "integrations/python/native/attend.hpp"
#include "integrations/python/native/convert.hpp"
#include "integrations/python/native/module.hpp"
#include "integrations/python/native/policy_options.hpp"
#include "integrations/python/native/python_policy.hpp"
#include "integrations/python/native/simulation_results.hpp"

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

Request make_request(const ScenarioPointer& scenario, const std::string& distribution,
                     const py::object& completions, const py::object& warmup, const py::object& replications,
                     std::optional<double> precision, const py::object& max_replications,
                     const std::string& start, std::uint64_t seed, const py::object& threads,
                     const py::object& assignment, const py::object& probabilities, const std::string& shares,
                     const std::string& trace, std::optional<double> time_limit, const py::object& progress) {
  Request request{scenario, make_distribution(distribution), {}, progress, trace};
  SimulateOptions& options = request.options;
  options.completions = whole("completions", completions, 1, kMostCompletions);
  if (!warmup.is_none()) options.warmup = whole("warmup", warmup, 0, kMostCompletions);
  options.replications = static_cast<std::uint32_t>(whole("replications", replications, 1, 1'000'000));
  options.precision = precision;
  if (precision && !(*precision > 0 && *precision < 1)) raise_invalid("precision", "must be between 0 and 1");
  options.max_replications =
      static_cast<std::uint32_t>(whole("max_replications", max_replications, 1, 1'000'000));
  options.random_start = choice<bool>("start", start, {{"random", true}, {"listed", false}});
  options.seed = seed;
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

bool is_function(const py::object& policy) { return PyCallable_Check(policy.ptr()) != 0; }

const PolicyInfo& find_policy_or_raise(const std::string& name) {
  if (const PolicyInfo* policy = find_policy(name)) return *policy;
  std::string names;
  for (const PolicyInfo* known : builtin_policies())
    names += (names.empty() ? "'" : ", '") + std::string(known->name) + "'";
  raise_invalid("policy", "there is no '" + name + "'; there are " + names + ", and functions of your own");
}

/// The part of the whole work that one policy is.
struct Part {
  std::size_t at = 0;
  std::size_t of = 1;
  double share(double done) const noexcept {
    return (static_cast<double>(at) + done) / static_cast<double>(of);
  }
};

SimulationResult simulate_function(const py::object& function, const Request& request,
                                   SimulateOptions options, Part part) {
  PythonHost host(function, request.scenario);
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

SimulationResult simulate_any(const py::object& policy, const Request& request,
                              const SimulateOptions& options, Part part = {}) {
  if (is_function(policy)) return simulate_function(policy, request, options, part);
  return simulate_builtin(find_policy_or_raise(policy.cast<std::string>()), request, options, part);
}

/// What `fixed` and `random` are told must not be told to others.
void check_policies(const std::vector<py::object>& policies, const py::object& assignment,
                    const py::object& probabilities) {
  bool fixed = false;
  bool random = false;
  std::vector<std::string> seen;
  for (const py::object& policy : policies) {
    const bool own = is_function(policy);
    if (!own && !py::isinstance<py::str>(policy)) {
      throw py::type_error("a policy is a name or a function of the state and the task type, not " +
                           py::repr(policy).cast<std::string>());
    }
    const std::string name =
        own ? policy_name(policy) : std::string(find_policy_or_raise(policy.cast<std::string>()).name);
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      raise_invalid("policies", "'" + name + "' is there twice");
    seen.push_back(name);
    fixed = fixed || (!own && name == "fixed");
    random = random || (!own && name == "random");
  }
  if (fixed && assignment.is_none()) raise_invalid("assignment", "the policy 'fixed' needs one to hold");
  if (!fixed && !assignment.is_none())
    raise_invalid("assignment", "only the policy 'fixed' holds a given one");
  if (!random && !probabilities.is_none())
    raise_invalid("probabilities", "only the policy 'random' places by given ones");
}

SimulationRun simulate_scenario(const ScenarioPointer& scenario, const py::object& policy,
                                const std::string& distribution, const py::object& completions,
                                const py::object& warmup, const py::object& replications,
                                std::optional<double> precision, const py::object& max_replications,
                                const std::string& start, std::uint64_t seed, const py::object& threads,
                                const py::object& assignment, const py::object& probabilities,
                                const std::string& shares, const std::string& trace,
                                std::optional<double> time_limit, const py::object& progress) {
  check_policies({policy}, assignment, probabilities);
  const Request request =
      make_request(scenario, distribution, completions, warmup, replications, precision, max_replications,
                   start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress);
  TraceFile file(request, false);
  SimulateOptions options = request.options;
  options.trace = file.sink();
  SimulationRun run{scenario, simulate_any(policy, request, options)};
  file.close();
  return run;
}

ComparisonRun compare_scenario(const ScenarioPointer& scenario,
                               const std::optional<std::vector<py::object>>& wanted,
                               const std::string& distribution, const py::object& completions,
                               const py::object& warmup, const py::object& replications,
                               std::optional<double> precision, const py::object& max_replications,
                               const std::string& start, std::uint64_t seed, const py::object& threads,
                               const py::object& assignment, const py::object& probabilities,
                               const std::string& shares, const std::string& trace,
                               std::optional<double> time_limit, const py::object& progress) {
  if (wanted) check_policies(*wanted, assignment, probabilities);
  if (wanted && wanted->empty()) raise_invalid("policies", "needs at least one");
  const Request request =
      make_request(scenario, distribution, completions, warmup, replications, precision, max_replications,
                   start, seed, threads, assignment, probabilities, shares, trace, time_limit, progress);
  std::vector<py::object> policies;
  if (wanted) {
    policies = *wanted;
  } else {
    for (const PolicyInfo* policy : suitable_policies(scenario->system, request.options.policy))
      policies.push_back(py::str(std::string(policy->name)));
  }
  TraceFile file(request, true);
  SimulateOptions options = request.options;
  options.trace = file.sink();
  ComparisonRun run{scenario, {}, {}};
  std::vector<SimulationResult>& results = run.comparison.policies;
  for (std::size_t at = 0; at < policies.size(); ++at) {
    SimulationResult result = simulate_any(policies[at], request, options, {at, policies.size()});
    const bool stopped = result.partial;
    if (!stopped || result.replications > 0 || at == 0) results.push_back(std::move(result));
    if (stopped) break;
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
