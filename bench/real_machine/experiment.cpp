#include "bench/real_machine/experiment.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>

#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {
namespace {

using allot::Assignment;

LoopOptions loop_for(const Workload& workload, const ExperimentOptions& options) {
  LoopOptions loop;
  loop.counts = workload.counts;
  loop.priorities = workload.priorities;
  loop.warm_up_s = options.warm_up_s;
  loop.measure_s = options.measure_s;
  loop.seed = options.seed;
  return loop;
}

/// How much of its rates the latest run makes up.
constexpr double kFollow = 0.3;

void report_errors(const char* what, std::vector<double> errors) {
  for (double& error : errors) error = std::abs(error);
  std::sort(errors.begin(), errors.end());
  std::printf("%zu placements, %s: median error %.1f%%, worst %.1f%%\n", errors.size(), what,
              100 * errors[errors.size() / 2], 100 * errors.back());
}

}  // namespace

void predict(const Machine& machine, const allot::System& system, const std::vector<Workload>& workloads,
             const ExperimentOptions& options) {
  const std::size_t stations = machine.stations.size();
  std::string columns =
      "seconds,workload,placement,counts,predicted,measured,error,profiled,profiled_error,little";
  for (const Station& station : machine.stations) {
    columns += "," + station.resource.name + "_predicted," + station.resource.name + "_measured";
  }
  Table table(options.folder, "predictions.csv", columns.c_str());
  const auto begin = allot::Clock::now();
  std::mt19937_64 random(options.seed);
  std::vector<double> rates = system.rates().values();
  std::vector<double> errors;
  std::vector<double> profiled_errors;
  for (std::size_t k = 0; k < options.placements; ++k) {
    const Workload& workload = workloads[k % workloads.size()];
    const allot::System profiled = system.with_counts(workload.counts);
    const allot::System now(profiled.resources(), profiled.tasks(),
                            allot::Rates(machine.types.size(), stations, rates));
    const std::size_t turn = k / workloads.size();
    const char* const solvers[] = {"map", "best-fit"};
    const std::string origin = turn < std::size(solvers) ? solvers[turn] : "random";
    const Assignment placement = turn < std::size(solvers)
                                     ? solve(*allot::find_solver(origin), {profiled}).assignment
                                     : random_placement(machine, workload, random);
    LoopOptions loop = held(placement);
    loop.warm_up_s = std::min(0.5, options.warm_up_s);
    loop.measure_s = options.measure_s;
    loop.seed = options.seed;
    const LoopResult result = run_closed_loop(machine, loop);
    const allot::Performance predicted = evaluate(now, placement);
    const double from_profile = evaluate(profiled, placement).throughput;
    errors.push_back(predicted.throughput / result.throughput() - 1);
    profiled_errors.push_back(from_profile / result.throughput() - 1);
    std::string by_station;
    for (std::size_t j = 0; j < stations; ++j) {
      by_station += (j == 0 ? "" : ",") + std::to_string(predicted.throughput_by_resource[j]) + "," +
                    std::to_string(result.throughput_of_station(j));
    }
    table.row(std::chrono::duration<double>(allot::Clock::now() - begin).count(), workload.name, origin,
              as_text(placement), predicted.throughput, result.throughput(), errors.back(), from_profile,
              profiled_errors.back(), result.little(), by_station);
    // What a live scheduler would know by now.
    for (std::size_t pair = 0; pair < rates.size(); ++pair) {
      const auto seconds = result.mean_seconds(pair / stations, pair % stations);
      if (seconds) rates[pair] = 1 / ((1 - kFollow) / rates[pair] + kFollow * *seconds);
    }
  }
  report_errors("rates as they were before each run", errors);
  report_errors("rates of the profile", profiled_errors);
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
    Order order;
    std::size_t repeat;
  };
  std::vector<Entry> entries;
  for (const Workload& workload : workloads) {
    for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
      for (const char* policy : {"map", "optimal", "mis", "weighted"}) {
        entries.push_back({&workload, policy, Order::kService, repeat});
      }
      // Without a plan nobody would serve by one: as they come is how these are mostly run.
      for (const char* policy :
           {"best-fit", "random", "load-balance", "jsq", "min-completion-time", "round-robin"}) {
        for (const Order order : {Order::kService, Order::kArrival})
          entries.push_back({&workload, policy, order, repeat});
      }
    }
  }
  std::shuffle(entries.begin(), entries.end(), std::mt19937_64(options.seed));

  Table policies(options.folder, "policies.csv",
                 "workload,policy,order,repeat,throughput,little,predicted,target");
  Table shares(options.folder, "shares.csv", "workload,policy,order,repeat,type,asked,got");
  for (const Entry& entry : entries) {
    LoopOptions loop = loop_for(*entry.workload, options);
    loop.policy = entry.policy;
    loop.order = entry.order;
    const char* const order = to_string(entry.order);
    loop.seed = options.seed + entry.repeat;
    const LoopResult result = run_closed_loop(machine, loop);
    policies.row(entry.workload->name, entry.policy, order, entry.repeat, result.throughput(),
                 result.little(), result.plan->predicted ? result.plan->predicted->throughput : 0,
                 result.plan->target ? as_text(*result.plan->target) : "");
    double asked = 0;
    for (const double priority : entry.workload->priorities) asked += priority;
    for (std::size_t i = 0; i < entry.workload->priorities.size(); ++i) {
      shares.row(entry.workload->name, entry.policy, order, entry.repeat, machine.types[i],
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
