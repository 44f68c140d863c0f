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

namespace allot::golden_test {
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

class PinnedResults : public ::testing::TestWithParam<Pinned> {};

TEST_P(PinnedResults, AreTheSameToTheLastBit) {
  const Pinned& pinned = GetParam();
  const PolicyInfo* const policy = find_policy(pinned.policy);
  ASSERT_NE(policy, nullptr) << pinned.policy;
  for (const unsigned workers : {1U, 2U, 7U}) {
    SCOPED_TRACE(::testing::Message() << workers << " workers");
    SimulateOptions options;
    options.completions = 1000;
    options.warmup = 200;
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
    ::testing::Values(
        Pinned{Work::kConstant, "jsq", "exponential", 35.098880855036533, 0.50894352371166895, 5},
        Pinned{Work::kConstant, "jsq", "bounded-pareto", 35.045425570018665, 0.49262459944232367, 5},
        Pinned{Work::kConstant, "jsq", "uniform", 34.630805718112711, 0.52470534442109928, 5},
        Pinned{Work::kConstant, "jsq", "deterministic", 34.934985502021725, 0.51715095060495531, 5},
        Pinned{Work::kConstant, "jsq", "lognormal", 35.156706793536586, 0.51258750397574537, 5},
        Pinned{Work::kConstant, "jsq", "weibull", 36.622195911693254, 0.49376342520176475, 5},
        Pinned{Work::kConstant, "jsq", "hyperexponential", 34.446207989297115, 0.5091123038254427, 5},
        Pinned{Work::kConstant, "best-fit", "exponential", 23.195877565520778, 0.77601090383117999, 3},
        Pinned{Work::kConstant, "random", "exponential", 9.6012127377810952, 1.902264044891369,
               2.5754300150501872},
        Pinned{Work::kConstant, "load-balance", "exponential", 27.610599298254176, 0.65200239736573484,
               4.9593320632489446},
        Pinned{Work::kConstant, "weighted", "exponential", 39.444536020410915, 0.45814573811600301,
               4.7225785256453374},
        Pinned{Work::kConstant, "round-robin", "exponential", 9.429659766780663, 1.9197245561721417,
               2.6152970119011014},
        Pinned{Work::kConstant, "power-of-two", "exponential", 19.787878079947628, 0.91726854419601356,
               3.9441878588906989},
        Pinned{Work::kConstant, "fastest-free", "exponential", 43.678346797736012, 0.4169762203542125, 5},
        Pinned{Work::kConstant, "min-completion-time", "exponential", 46.163591075138285, 0.3919485899890312,
               5},
        Pinned{Work::kChanging, "map", "exponential", 51.512985331089695, 0.40375445303697982,
               4.9793584368006076},
        Pinned{Work::kChanging, "weighted", "lognormal", 19.969630386913916, 1.0471875902506973,
               2.4905831679091976},
        Pinned{Work::kChanging, "load-balance", "deterministic", 29.732855595438828, 0.73636065620283564, 5},
        Pinned{Work::kManyThreads, "jsq", "weibull", 2.5377355938767883, 50.931337930997103, 3},
        Pinned{Work::kManyThreads, "power-of-two", "deterministic", 2.0127996816521203, 93.294665652464815,
               3},
        Pinned{Work::kManyResources, "jsq", "exponential", 11.814179373548905, 3.2587028529184723, 18},
        Pinned{Work::kManyOfBoth, "min-completion-time", "bounded-pareto", 17.659807906489551,
               9.7335420652209219, 18}));

}  // namespace
}  // namespace allot::golden_test
