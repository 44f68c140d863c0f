// Pinned results, to the last bit, in every build type and on any number of worker threads. A difference is a
// platform that does not compute as IEEE 754 says, or a change of the engine that changes every result: pin
// again only when that is meant. tests/golden/simulator.txt pins what the command prints.
#include <gtest/gtest.h>

#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/simulate/simulate.hpp"

namespace allot {
namespace {

enum class Work { kConstant, kChanging, kManyThreads, kManyResources, kManyOfBoth };

struct Pinned {
  Work work;
  std::string policy;
  std::string sizes;
  double throughput;
  double response_time;
  double busy;  ///< sum of the utilisations
};

void PrintTo(const Pinned& pinned, std::ostream* out) { *out << pinned.policy << ", " << pinned.sizes; }

/// Resources of every kind: ps and fcfs, one server and several, an accelerator.
Scenario every_kind() {
  std::vector<Resource> resources(5);
  for (std::size_t j = 0; j < 5; ++j) resources[j].name = "r" + std::to_string(j);
  resources[1].servers = 3;
  resources[2].discipline = Discipline::kFcfs;
  resources[3].discipline = Discipline::kFcfs;
  resources[3].servers = 2;
  resources[4].kind = Kind::kSpecialized;
  std::vector<TaskClass> tasks(3);
  for (std::size_t i = 0; i < 3; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = static_cast<Count>(7 - i);
    tasks[i].priority = static_cast<double>(3 - i);
  }
  return {"",
          System(std::move(resources), std::move(tasks),
                 Rates(3, 5, {8, 2, 3, 4, 0, 1, 5, 6, 2, 0, 2, 0, 1, 7, 9})),
          {},
          {},
          {}};
}

Scenario scenario_for(Work work) {
  switch (work) {
    case Work::kConstant:
      break;
    case Work::kChanging: {
      Scenario scenario = every_kind();
      scenario.threads = {{3, {task_type(0), task_type(2), task_type(1)}}};
      scenario.population = {{4, task_type(0), -5}, {8, task_type(2), 3}, {12, task_type(1), 2}};
      scenario.arrivals = {{task_type(1), 1.5}, {task_type(2), 0.5}};
      return scenario;
    }
    case Work::kManyThreads:
      return generate({.threads = 200, .seed = 5});
    case Work::kManyResources:
      return generate({.general = 12, .specialized = 6, .threads = 40, .seed = 5});
    case Work::kManyOfBoth:
      return generate({.general = 12, .specialized = 6, .threads = 200, .seed = 5});
  }
  return every_kind();
}

class PinnedResults : public testing::TestWithParam<Pinned> {};

TEST_P(PinnedResults, AreTheSameToTheLastBit) {
  const Pinned& pinned = GetParam();
  const PolicyInfo* const policy = find_policy(pinned.policy);
  if (policy == nullptr) GTEST_SKIP() << "this build is without " << pinned.policy;
  for (const unsigned workers : {1U, 2U, 7U}) {
    SCOPED_TRACE(testing::Message() << workers << " workers");
    SimulateOptions options;
    options.completions = 1000;
    options.replications = 5;
    options.threads = workers;
    const SimulationResult result =
        simulate(scenario_for(pinned.work), *policy, *make_distribution(pinned.sizes), options);
    double busy = 0;
    for (const double part : result.utilization) busy += part;
    EXPECT_TRUE(result.throughput.mean == pinned.throughput &&
                result.response_time.mean == pinned.response_time && busy == pinned.busy)
        << "now: " << std::setprecision(17) << result.throughput.mean << ", " << result.response_time.mean
        << ", " << busy;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Golden, PinnedResults,
    testing::Values(
        Pinned{Work::kConstant, "jsq", "exponential", 35.084248304352563, 0.51273115335644803, 5},
        Pinned{Work::kConstant, "jsq", "bounded-pareto", 35.562342990594487, 0.48915218130147886, 5},
        Pinned{Work::kConstant, "jsq", "uniform", 34.762884303054548, 0.51203069686173852, 5},
        Pinned{Work::kConstant, "jsq", "deterministic", 34.769153957366612, 0.51431634920634817, 5},
        Pinned{Work::kConstant, "jsq", "lognormal", 35.257409186687681, 0.51227535447064176, 5},
        Pinned{Work::kConstant, "jsq", "weibull", 36.228702863830605, 0.47706975435668253, 5},
        Pinned{Work::kConstant, "jsq", "hyperexponential", 34.367362881857446, 0.50633615328088433, 5},
        Pinned{Work::kConstant, "best-fit", "exponential", 22.965067350394015, 0.783972291394467, 3},
        Pinned{Work::kConstant, "random", "exponential", 9.4716350687405662, 1.8984405538292504,
               2.5725568602439504},
        Pinned{Work::kConstant, "load-balance", "exponential", 27.551004102198068, 0.65166958554669718,
               4.9586236476501906},
        Pinned{Work::kConstant, "weighted", "exponential", 39.121945295053735, 0.45705218052145663,
               4.7113402557506454},
        Pinned{Work::kConstant, "round-robin", "exponential", 9.4582538795571729, 1.8718025535979155,
               2.6194948755907488},
        Pinned{Work::kConstant, "power-of-two", "exponential", 19.421052549458278, 0.8779601147206415,
               3.9612703930117368},
        Pinned{Work::kConstant, "fastest-free", "exponential", 43.154303376763245, 0.41398353479060823, 5},
        Pinned{Work::kConstant, "min-completion-time", "exponential", 46.590703915448344, 0.38323981081203107,
               5},
        Pinned{Work::kChanging, "map", "exponential", 50.765221196239018, 0.39903646834647716, 5},
        Pinned{Work::kChanging, "weighted", "lognormal", 22.626804243208156, 0.95130407382365312,
               2.8604531191212708},
        Pinned{Work::kChanging, "load-balance", "deterministic", 29.652569996423146, 0.73006486416129279,
               4.9999252242789956},
        Pinned{Work::kManyThreads, "jsq", "weibull", 2.7121663167526342, 45.235780311917779, 3},
        Pinned{Work::kManyThreads, "power-of-two", "deterministic", 1.8628542915452564, 95.16937056129845, 3},
        Pinned{Work::kManyResources, "jsq", "exponential", 11.75286759409652, 3.2648211403820198, 18},
        Pinned{Work::kManyOfBoth, "min-completion-time", "bounded-pareto", 18.792956977962977,
               8.9915134454960732, 18}));

}  // namespace
}  // namespace allot
