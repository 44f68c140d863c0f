// What late binding makes of a plan: simulated planned service against its linear program, which no policy
// can exceed, on random machines; and what it is worth against even sharing and what others do.
//
// usage: bench_planned [SYSTEMS [COMPLETIONS [FILE.toml ...]]]    (default 200 systems, 20,000 completions a
// replication; the files are scenarios to have beside random machines)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solver.hpp"
#include "bench/planned/needs.hpp"

namespace {

using namespace allot;

constexpr std::uint32_t kReplications = 4;

/// Types with 1 to 16 threads on resources with 1 to 4 servers, worths from 0.1 to 10, rates over two
/// decades.
Scenario random_box(std::uint64_t seed) {
  RandomStream random(seed, 0xb0c);
  const std::size_t types = 2 + random.below(5);
  const std::size_t resources = 2 + random.below(4);
  std::vector<Resource> machine;
  for (std::size_t j = 0; j < resources; ++j) {
    Resource resource;
    resource.name = "r" + std::to_string(j + 1);
    resource.servers = 1 + static_cast<Count>(random.below(4));
    machine.push_back(resource);
  }
  std::vector<TaskClass> tasks;
  PerPair<double> rates(types, resources, 0.0);
  for (std::size_t i = 0; i < types; ++i) {
    TaskClass task;
    task.name = "t" + std::to_string(i + 1);
    task.count = 1 + static_cast<Count>(random.below(16));
    task.worth = random.uniform(0.1, 10);
    tasks.push_back(task);
    const double scale = std::pow(10.0, random.uniform(-1, 1));
    for (std::size_t j = 0; j < resources; ++j) {
      if (j == i % resources || random.below(4) != 0)
        rates(task_type(i), resource_id(j)) = scale * random.uniform(0.1, 1);
    }
  }
  return {"", System(std::move(machine), std::move(tasks), Rates(std::move(rates))), {}, {}, {}, {}, {}};
}

Scenario with_tasks(const Scenario& scenario, const std::function<void(TaskClass&, TaskType)>& change) {
  std::vector<TaskClass> tasks = scenario.system.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) change(tasks[i], task_type(i));
  Scenario changed = scenario;
  changed.system = scenario.system.with_tasks(std::move(tasks));
  return changed;
}

Scenario with_shares(const Scenario& scenario, std::uint64_t seed) {
  RandomStream random(seed, 0x5a);
  return with_tasks(scenario, [&](TaskClass& task, TaskType) { task.priority = random.uniform(0.05, 1); });
}

/// Every other type must get a part of what it could have alone.
Scenario with_floors(const Scenario& scenario, std::uint64_t seed) {
  RandomStream random(seed, 0xf1);
  const System& system = scenario.system;
  return with_tasks(scenario, [&](TaskClass& task, TaskType i) {
    double most = 0;
    for (const ResourceId j : system.resource_ids())
      most = std::max(
          most, system.rate(i, j) * static_cast<double>(std::min(task.count, system.resource(j).servers)));
    if (index(i) % 2 == 0)
      task.floor = random.uniform(0.05, 0.8) * most / static_cast<double>(system.type_count());
  });
}

/// A machine and jobs of 2 to 6 stages.
Scenario random_pipeline(std::uint64_t seed) {
  RandomStream random(seed, 0x9e);
  Scenario scenario = random_box(seed);
  const System& box = scenario.system;
  const std::size_t stages = 2 + random.below(5);
  std::vector<TaskClass> tasks;
  PerPair<double> rates(stages, box.resource_count(), 0.0);
  ThreadGroup jobs;
  double servers = 0;
  for (const Resource& resource : box.resources()) servers += static_cast<double>(resource.servers);
  for (std::size_t i = 0; i < stages; ++i) {
    TaskClass task;
    task.name = "s" + std::to_string(i + 1);
    task.count = 0;
    tasks.push_back(task);
    jobs.sequence.push_back(task_type(i));
    const double scale = std::pow(10.0, random.uniform(-0.5, 0.5));
    for (std::size_t j = 0; j < box.resource_count(); ++j) {
      if (j == i % box.resource_count() || random.below(3) != 0)
        rates(task_type(i), resource_id(j)) = scale * random.uniform(0.1, 1);
    }
  }
  jobs.count =
      std::max<Count>(1, static_cast<Count>(std::lround(servers * std::pow(2.0, random.uniform(0, 4)))));
  scenario.system = System(std::vector(box.resources()), std::move(tasks), Rates(std::move(rates)));
  scenario.threads = {jobs};
  return scenario;
}

SimulationResult run(const Scenario& scenario, const char* policy, const Distribution& sizes,
                     Objective objective, std::uint64_t completions) {
  SimulateOptions options;
  options.completions = completions;
  options.replications = kReplications;
  options.policy.objective = objective;
  return simulate(scenario, *find_policy(policy), sizes, options);
}

double value_of(const Scenario& scenario, const SimulationResult& result) {
  double value = 0;
  for (const TaskType i : scenario.system.types())
    value += scenario.system.worth(i) * result.throughput_by_task[index(i)].mean;
  return value;
}

/// What part of the objective was reached: of value, or of the level that all shares allow.
double part_reached(const Scenario& scenario, const SimulationResult& result, const Solution& plan) {
  if (plan.objective == Objective::kThroughput) return value_of(scenario, result) / plan.objective_value;
  double level = HUGE_VAL;
  for (const TaskType i : scenario.system.types()) {
    const double share = scenario.system.shares()[index(i)];
    if (share > 0) level = std::min(level, result.throughput_by_task[index(i)].mean / share);
  }
  return level / plan.objective_value;
}

void print_parts(const char* name, std::vector<double> parts) {
  std::sort(parts.begin(), parts.end());
  double mean = 0;
  for (const double part : parts) mean += part / static_cast<double>(parts.size());
  std::printf("  %-34s %5zu %9.2f%% %12.2f%% %8.2f%%\n", name, parts.size(), 100 * mean,
              100 * parts[parts.size() / 20], 100 * parts.front());
  std::fflush(stdout);
}

void late_binding(int systems, std::uint64_t completions) {
  struct Kind {
    const char* name;
    Objective objective;
    Scenario (*change)(const Scenario&, std::uint64_t);
  };
  const Kind kinds[] = {{"most value", Objective::kThroughput, nullptr},
                        {"shares", Objective::kPriority, with_shares},
                        {"most value above floors", Objective::kThroughput, with_floors}};
  std::printf("Part of the program that late binding reaches, simulated\n");
  std::printf("  %-34s %5s %10s %13s %9s\n", "", "runs", "mean", "19 of 20", "worst");
  for (const char* spec : {"exponential", "deterministic", "bounded-pareto"}) {
    const auto sizes = make_distribution(spec);
    for (const Kind& kind : kinds) {
      std::vector<double> parts;
      for (int seed = 1; seed <= systems; ++seed) {
        const auto number = static_cast<std::uint64_t>(seed);
        Scenario scenario = random_box(number);
        if (kind.change != nullptr) scenario = kind.change(scenario, number);
        const Solution plan = solve(*find_solver("planned"), planned_problem(scenario, kind.objective));
        if (plan.outcome == Outcome::kInfeasible) continue;
        const SimulationResult result = run(scenario, "planned", *sizes, kind.objective, completions);
        parts.push_back(part_reached(scenario, result, plan));
        if (std::getenv("ALLOT_BENCH_EACH") != nullptr)
          std::printf("%s %s %d %.4f\n", spec, kind.name, seed, parts.back());
      }
      print_parts((std::string(spec) + ": " + kind.name).c_str(), parts);
    }
  }
}

void stages(int systems, std::uint64_t completions) {
  std::printf("Jobs of 2 to 6 stages: part of the most rounds per second that each reaches, on average\n");
  std::printf("  %-18s %5s %10s %13s %9s %9s %9s %9s\n", "jobs a server", "runs", "planned", "19 of 20",
              "worst", "jsq", "mct", "rr");
  const auto sizes = make_distribution("exponential");
  struct Band {
    double from, to;
    std::vector<double> planned, jsq, mct, rr;
  };
  std::vector<Band> bands{
      {0, 2, {}, {}, {}, {}}, {2, 4, {}, {}, {}, {}}, {4, 8, {}, {}, {}, {}}, {8, 99, {}, {}, {}, {}}};
  for (int seed = 1; seed <= systems; ++seed) {
    const Scenario scenario = random_pipeline(static_cast<std::uint64_t>(seed));
    double servers = 0;
    for (const Resource& resource : scenario.system.resources())
      servers += static_cast<double>(resource.servers);
    const double jobs = static_cast<double>(scenario.threads[0].count) / servers;
    const Solution plan = solve(*find_solver("planned"), planned_problem(scenario, Objective::kThroughput));
    const auto part = [&](const char* policy) {
      const SimulationResult result = run(scenario, policy, *sizes, Objective::kThroughput, completions);
      return result.throughput_by_task[0].mean / plan.plan.rounds[0];
    };
    for (Band& band : bands) {
      if (jobs < band.from || jobs >= band.to) continue;
      band.planned.push_back(part("planned"));
      band.jsq.push_back(part("jsq"));
      band.mct.push_back(part("min-completion-time"));
      band.rr.push_back(part("round-robin"));
      if (std::getenv("ALLOT_BENCH_EACH") != nullptr)
        std::printf("stages %d jobs %.2f planned %.4f\n", seed, jobs, band.planned.back());
    }
  }
  const auto mean = [](const std::vector<double>& parts) {
    double sum = 0;
    for (const double part : parts) sum += part;
    return 100 * sum / static_cast<double>(std::max<std::size_t>(1, parts.size()));
  };
  for (Band& band : bands) {
    if (band.planned.empty()) continue;
    std::sort(band.planned.begin(), band.planned.end());
    std::printf("  %4.0f to %-10.0f %5zu %9.2f%% %12.2f%% %8.2f%% %8.2f%% %8.2f%% %8.2f%%\n", band.from,
                band.to, band.planned.size(), mean(band.planned),
                100 * band.planned[band.planned.size() / 20], 100 * band.planned.front(), mean(band.jsq),
                mean(band.mct), mean(band.rr));
  }
}

struct Rival {
  const char* name;
  const char* policy;
  bool knows_worth;
};
constexpr Rival kRivals[] = {
    {"planned service", "planned", true},           {"even sharing, best", "optimal", true},
    {"most tasks per second", "optimal", false},    {"earliest finish", "min-completion-time", false},
    {"first free by speed", "fastest-free", false}, {"shortest line", "jsq", false},
    {"round robin", "round-robin", false}};

/// Value as a part of what planned service can reach at most.
double part_of(const Rival& rival, const Scenario& scenario, double most, std::uint64_t completions) {
  Scenario told = scenario;
  if (!rival.knows_worth) told = with_tasks(scenario, [](TaskClass& task, TaskType) { task.worth = 1; });
  const auto sizes = make_distribution("exponential");
  return value_of(scenario, run(told, rival.policy, *sizes, Objective::kThroughput, completions)) / most;
}

void rivals(int systems, std::uint64_t completions, const std::vector<std::string>& files) {
  std::printf("Value, simulated, as a part of what no policy can exceed\n  %-24s", "");
  std::vector<Scenario> examples;
  for (const std::string& file : files) {
    const auto read = read_scenario(file);
    if (!read) {
      std::fprintf(stderr, "%s: cannot be read\n", file.c_str());
      std::exit(1);
    }
    examples.push_back(*read);
    std::printf(" %18s", file.substr(file.find_last_of('/') + 1).c_str());
  }
  std::printf(" %18s %9s\n", "random boxes", "worst");
  for (const Rival& rival : kRivals) {
    std::printf("  %-24s", rival.name);
    for (const Scenario& scenario : examples) {
      const double most =
          solve(*find_solver("planned"), planned_problem(scenario, Objective::kThroughput)).objective_value;
      std::printf(" %17.1f%%", 100 * part_of(rival, scenario, most, completions));
    }
    double sum = 0;
    double worst = 1;
    for (int seed = 1; seed <= systems; ++seed) {
      const Scenario scenario = random_box(static_cast<std::uint64_t>(seed));
      const double most =
          solve(*find_solver("planned"), planned_problem(scenario, Objective::kThroughput)).objective_value;
      const double part = part_of(rival, scenario, most, completions);
      sum += part;
      worst = std::min(worst, part);
    }
    std::printf(" %17.1f%% %8.1f%%\n", 100 * sum / systems, 100 * worst);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int systems = argc > 1 ? std::atoi(argv[1]) : 200;
  const long completions = argc > 2 ? std::atol(argv[2]) : 20'000;
  const std::vector<std::string> files(argv + std::min(argc, 3), argv + argc);
  if (systems < 1 || completions < 100) {
    std::fprintf(stderr, "usage: bench_planned [SYSTEMS [COMPLETIONS [FILE.toml ...]]]\n");
    return 2;
  }
  late_binding(systems, static_cast<std::uint64_t>(completions));
  stages(std::max(1, systems / 2), static_cast<std::uint64_t>(completions));
  rivals(systems, static_cast<std::uint64_t>(completions), files);
  bench_needs(systems, static_cast<std::uint64_t>(completions));
  return 0;
}
