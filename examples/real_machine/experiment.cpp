#include "examples/real_machine/experiment.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "examples/real_machine/table.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;

std::string as_text(const Assignment& placement) {
  std::string out;
  for (const Count n : placement.values()) out += (out.empty() ? "" : " ") + std::to_string(n);
  return out;
}

LoopOptions loop_for(const Workload& workload, const ExperimentOptions& options) {
  LoopOptions loop;
  loop.counts = workload.counts;
  loop.priorities = workload.priorities;
  loop.warm_up_s = options.warm_up_s;
  loop.measure_s = options.measure_s;
  loop.seed = options.seed;
  return loop;
}

}  // namespace

void predict(const Machine& machine, const allot::System& system, const std::vector<Workload>& workloads,
             const ExperimentOptions& options) {
  Table table(options.folder, "predictions.csv", "workload,placement,counts,predicted,measured,error,little");
  std::mt19937_64 random(options.seed);
  std::vector<double> errors;
  for (std::size_t k = 0; k < options.placements; ++k) {
    const Workload& workload = workloads[k % workloads.size()];
    const allot::System busy = system.with_counts(workload.counts);
    const std::size_t turn = k / workloads.size();
    const char* const solvers[] = {"map", "best-fit"};
    const std::string origin = turn < std::size(solvers) ? solvers[turn] : "random";
    const Assignment placement = turn < std::size(solvers)
                                     ? solve(*allot::find_solver(origin), {busy}).assignment
                                     : random_placement(machine, workload, random);
    LoopOptions loop = loop_for(workload, options);
    loop.priorities.clear();
    loop.policy = "fixed";
    loop.policy_options.assignment = placement;
    loop.warm_up_s = std::min(0.5, options.warm_up_s);
    const LoopResult result = run_closed_loop(machine, loop);
    const double predicted = evaluate(busy, placement).throughput;
    const double error = predicted / result.throughput() - 1;
    errors.push_back(std::abs(error));
    table.row(workload.name, origin, as_text(placement), predicted, result.throughput(), error,
              result.little());
  }
  std::sort(errors.begin(), errors.end());
  std::printf("%zu placements: median error %.1f%%, worst %.1f%%\n", errors.size(),
              100 * errors[errors.size() / 2], 100 * errors.back());
}

void compare_policies(const Machine& machine, const allot::System& system,
                      const std::vector<Workload>& workloads, const ExperimentOptions& options) {
  Table optima(options.folder, "optima.csv", "workload,best,bound,outcome");
  for (const Workload& workload : workloads) {
    const allot::System busy = system.with_counts(workload.counts);
    allot::SolveOptions solving;
    solving.stop.deadline = allot::Clock::now() + std::chrono::seconds(5);
    const allot::Solution best = solve(*allot::find_solver("exact"), {busy}, solving);
    optima.row(workload.name, best.performance.throughput, best.upper_bound.value_or(0),
               to_string(best.outcome));
  }

  struct Entry {
    const Workload* workload;
    std::string policy;
    std::size_t repeat;
  };
  std::vector<Entry> entries;
  for (const Workload& workload : workloads) {
    for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
      for (const char* policy : {"best-fit", "random", "load-balance", "jsq", "min-completion-time",
                                 "round-robin", "map", "optimal"}) {
        entries.push_back({&workload, policy, repeat});
      }
      if (workload.priorities.empty()) continue;
      for (const char* policy : {"mis", "weighted"}) entries.push_back({&workload, policy, repeat});
    }
  }
  std::shuffle(entries.begin(), entries.end(), std::mt19937_64(options.seed));

  Table policies(options.folder, "policies.csv", "workload,policy,repeat,throughput,little,predicted,target");
  Table shares(options.folder, "shares.csv", "workload,policy,repeat,type,asked,got");
  for (const Entry& entry : entries) {
    LoopOptions loop = loop_for(*entry.workload, options);
    loop.policy = entry.policy;
    loop.seed = options.seed + entry.repeat;
    const LoopResult result = run_closed_loop(machine, loop);
    policies.row(entry.workload->name, entry.policy, entry.repeat, result.throughput(), result.little(),
                 result.plan->predicted ? result.plan->predicted->throughput : 0,
                 result.plan->target ? as_text(*result.plan->target) : "");
    double asked = 0;
    for (const double priority : entry.workload->priorities) asked += priority;
    for (std::size_t i = 0; i < entry.workload->priorities.size(); ++i) {
      shares.row(entry.workload->name, entry.policy, entry.repeat, machine.types[i],
                 entry.workload->priorities[i] / asked, result.throughput(i) / result.throughput());
    }
  }
}

void trace_policies(const Machine& machine, const Workload& workload,
                    const std::vector<std::string>& policies, const ExperimentOptions& options) {
  Table table(options.folder, "gantt.csv", "policy,type,resource,server,start,end");
  for (const std::string& policy : policies) {
    LoopOptions loop = loop_for(workload, options);
    loop.priorities.clear();
    loop.policy = policy;
    loop.measure_s = 1;
    for (const Run& run : run_closed_loop(machine, loop).runs) {
      table.row(policy, machine.types[run.type], machine.stations[run.station].resource.name, run.server,
                run.start, run.end);
    }
  }
}

}  // namespace real_machine
