#include "allot/analyze/analyze.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include "allot/analyze/detail/explore.hpp"
#include "allot/analyze/detail/markov.hpp"
#include "allot/base/error.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/best.hpp"

namespace allot {
namespace {

/// Values with a smaller relative difference count as equal.
constexpr double kSame = 1e-9;
/// Steps that the search for the best assignment may take: half a minute.
constexpr std::uint64_t kBestAssignmentSteps = 60'000'000;

/// Leaves out completions that lead back to the same state: they change nothing.
detail::Generator generator_of(const detail::Exploration& graph) {
  detail::Generator chain;
  for (std::uint32_t s = 0; s < graph.states.size(); ++s) {
    for (std::size_t e = graph.completion_begin[s]; e < graph.completion_begin[s + 1]; ++e) {
      for (std::size_t k = graph.choice_begin[e]; k < graph.choice_begin[e + 1]; ++k) {
        if (graph.choice_state[k] == s) continue;
        chain.target.push_back(graph.choice_state[k]);
        chain.rate.push_back(graph.completion_rate[e] * graph.choice_probability[k]);
      }
    }
    chain.begin.push_back(chain.target.size());
  }
  return chain;
}

/// The largest V(n) of any assignment. Floors and minimum depths are left out, since policies and states do
/// not have them.
Solution best_assignment(const System& system, const StopLimits& stop) {
  std::vector<Resource> resources = system.resources();
  for (Resource& resource : resources) resource.min_depth = 1;
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) task.floor.reset();
  SolveOptions options;
  options.stop = stop;
  options.stop.steps = std::min(stop.steps, kBestAssignmentSteps);
  return best_known(system.with_resources(std::move(resources)).with_tasks(std::move(tasks)), options);
}

/// V(n) of a state, from the formulas of the model.
double state_value(const System& system, const detail::Content& content) {
  const std::size_t resources = system.resource_count();
  if (system.has_needs()) {
    Assignment state(system.type_count(), resources);
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids())
        state(i, j) = content.by_type[index(i) * resources + index(j)];
    }
    return evaluate(system, state).value;
  }
  double value = 0;
  for (const ResourceId j : system.resource_ids()) {
    ColumnSums sums;
    for (const TaskType i : system.types()) {
      sums = sums.plus(system, i, j, content.by_type[index(i) * resources + index(j)]);
    }
    value += column_value(system.resource(j).discipline, system.resource(j).servers, sums);
  }
  return value;
}

/// Adds up the figures of the states of the closed classes. `best`: value of the best assignment, or absent.
void add_up(const detail::Network& network, const detail::Exploration& graph,
            const std::vector<detail::ClosedClass>& classes, const std::optional<double>& best,
            Analysis& analysis) {
  const System& system = network.system();
  analysis.classes = static_cast<std::uint32_t>(classes.size());
  detail::Content content = network.empty();
  std::vector<detail::Completion> completions;
  bool first = true;
  std::vector<double> by_task(system.type_count());
  std::vector<double> present(system.type_count());
  analysis.response_time_by_task.assign(system.type_count(), 0.0);
  for (const detail::ClosedClass& part : classes) {
    double part_throughput = 0;
    double part_value = 0;
    std::fill(by_task.begin(), by_task.end(), 0.0);
    std::fill(present.begin(), present.end(), 0.0);
    for (std::size_t m = 0; m < part.states.size(); ++m) {
      const double weight = part.chance * part.stationary[m];
      network.unpack(graph.states[part.states[m]], content);
      network.completions(content, completions);
      for (const detail::Completion& completion : completions) {
        const detail::TaskClassInChain& task_class = network.classes()[completion.task_class];
        const TaskType i = task_class.type;
        part_throughput += part.stationary[m] * completion.rate;
        part_value += part.stationary[m] * completion.rate * task_class.worth;
        by_task[index(i)] += part.stationary[m] * completion.rate;
        analysis.throughput_by_task[index(i)] += weight * completion.rate;
        analysis.throughput_by_resource[index(completion.resource)] += weight * completion.rate;
      }
      for (std::size_t at = 0; at < content.by_type.size(); ++at) {
        analysis.occupancy[at] += weight * static_cast<double>(content.by_type[at]);
        present[at / system.resource_count()] +=
            part.stationary[m] * static_cast<double>(content.by_type[at]);
      }
      if (best && std::abs(state_value(system, content) - *best) <= kSame * *best) {
        analysis.best_state_probability += weight;
      }
    }
    analysis.throughput += part.chance * part_throughput;
    analysis.value += part.chance * part_value;
    // Little's law holds in each class, not between their means.
    if (part_throughput > 0) {
      analysis.response_time += part.chance * static_cast<double>(network.population()) / part_throughput;
    }
    for (std::size_t i = 0; i < by_task.size(); ++i) {
      std::optional<double>& response = analysis.response_time_by_task[i];
      if (!(by_task[i] > 0)) {
        response.reset();
      } else if (response) {
        *response += part.chance * present[i] / by_task[i];
      }
    }
    analysis.lowest_throughput =
        first ? part_throughput : std::min(analysis.lowest_throughput, part_throughput);
    analysis.highest_throughput =
        first ? part_throughput : std::max(analysis.highest_throughput, part_throughput);
    first = false;
  }
  analysis.best_state_probability = std::min(1.0, analysis.best_state_probability);
}

detail::ServiceWeights weights_of(const System& system, const Policy& policy, ShareReading reading) {
  const std::span<const double> shares = policy.time_shares();
  detail::ServiceWeights weights;
  if (shares.empty()) return weights;
  const Assignment& target = *policy.target();
  weights.by_task.assign(shares.size(), 0);
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const Count n = target.values()[at];
    if (n > 0) weights.by_task[at] = shares[at] / static_cast<double>(n);
  }
  if (reading == ShareReading::kExact) {
    weights.units.assign(system.resource_count(), 0);
    for (std::size_t at = 0; at < shares.size(); ++at)
      weights.units[at % system.resource_count()] += shares[at];
  }
  return weights;
}

/// Refuses policies that depend on more than the state of the chain.
void refuse_unknowable(const Policy& policy, std::string_view name) {
  if (policy.bind_late() != nullptr)
    throw InvalidModel("policy",
                       std::string(name) +
                           " depends on what was served before, so its exact chain would be infinite; "
                           "simulate it");
  if (!policy.looks_at_sizes()) return;
  throw InvalidModel(
      "policy", std::string(name) + " looks at task sizes, which the exact chain does not know; simulate it");
}

/// The chain of a policy in a network, with or without a best assignment to compare with.
Analysis analyze_network(const detail::Network& network, const Policy& policy, const AnalyzeOptions& options,
                         const std::optional<double>& best) {
  const System& system = network.system();
  Analysis analysis;
  analysis.throughput_by_task.assign(system.type_count(), 0);
  analysis.throughput_by_resource.assign(system.resource_count(), 0);
  analysis.occupancy.assign(system.type_count() * system.resource_count(), 0);
  analysis.response_time_by_task.assign(system.type_count(), std::nullopt);
  analysis.note = policy.note();
  StopPoll poll(options.stop);
  const detail::Placing placing = [&](TaskType i, const Situation& situation,
                                      std::span<const std::uint32_t> memory, std::vector<Choice>& out) {
    policy.choices(i, situation, memory, out);
  };
  const detail::Exploration graph = detail::explore(
      network, placing, {options.max_states, options.random_start, policy.memory_size(), options.progress},
      poll);
  analysis.states = graph.states.size();
  if (options.progress && !poll.stopped()) options.progress(analysis.states);
  if (!poll.stopped()) {
    const std::vector<detail::ClosedClass> classes = detail::long_run(generator_of(graph), graph.start, poll);
    if (!poll.stopped()) add_up(network, graph, classes, best, analysis);
  }
  analysis.stopped = poll.reason();
  return analysis;
}

}  // namespace

Analysis analyze(const System& system, const PolicyInfo& policy, const AnalyzeOptions& options,
                 const PolicyOptions& policy_options) {
  return analyze(system, NamedPolicy{std::string(policy.name), policy.make}, options, policy_options);
}

Analysis analyze(const System& system, const NamedPolicy& named, const AnalyzeOptions& options,
                 const PolicyOptions& policy_options) {
  require_even_sharing(system);
  const std::unique_ptr<Policy> policy = named.make(system, policy_options);
  refuse_unknowable(*policy, "'" + named.name + "'");
  std::vector<Count> counts;
  for (const TaskType i : system.types()) counts.push_back(system.count(i));
  policy->set_population(counts);
  const detail::Network network(system, detail::constant_classes(system),
                                weights_of(system, *policy, policy_options.shares));
  const Solution best = best_assignment(system, options.stop);
  Analysis analysis = analyze_network(network, *policy, options, best.performance.value);
  analysis.best_state_throughput = best.performance.throughput;
  analysis.best_state_value = best.performance.value;
  analysis.best_state_approximate = best.performance.approximate;
  if (options.optimal_control && analysis.stopped == StopReason::kNone) {
    const OptimalControl control = solve_optimal_control(system, options);
    if (control.stopped == StopReason::kBudget) {
      char text[160];
      std::snprintf(text, sizeof text,
                    "rates are so far apart that optimal control is only known to be between %.6g and %.6g "
                    "%s",
                    control.value, control.upper_bound,
                    system.has_worths() ? "of value per second" : "tasks/s");
      analysis.note += (analysis.note.empty() ? "" : "; ") + std::string(text);
    } else {
      analysis.stopped = control.stopped;
      if (control.stopped == StopReason::kNone) {
        analysis.optimal_control_throughput = control.throughput;
        analysis.optimal_control_value = control.value;
      }
    }
  }
  return analysis;
}

Analysis analyze(const System& system, std::span<const ThreadGroup> threads, const Policy& policy,
                 const AnalyzeOptions& options) {
  refuse_unknowable(policy, "the policy");
  if (!policy.time_shares().empty())
    throw InvalidModel("policy", "time shares need constant numbers of threads of each type");
  const detail::Network network(system, detail::changing_classes(system, threads));
  return analyze_network(network, policy, options, std::nullopt);
}

}  // namespace allot
