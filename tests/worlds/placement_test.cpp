// How well the loop places tasks whose rates it has to find out, on machines of known rates: against the
// proven optimum, other policies and the bound for a batch. In simulated time, so nothing here can be late.
#include <gmock/gmock.h>

#include <map>
#include <numeric>

#include "allot/run/batch.hpp"
#include "allot/solve/solver.hpp"
#include "tests/worlds/world.hpp"

namespace allot::worlds {
namespace {

/// Resources with so many servers; types with a rate on each resource (0: cannot run there).
struct Machine {
  std::vector<Count> servers;
  struct Type {
    std::size_t tasks = 600;
    std::optional<Count> count;
    std::vector<double> rates;
    std::optional<double> priority;
  };
  std::vector<Type> types;
};

/// Best Fit sends everything to the fast resource; the best is to keep only the type there that profits most.
const Machine kTwoByTwo{{1, 1}, {{600, 4, {2.0, 5.0}}, {600, 4, {1.0, 2.5}}}};
/// An accelerator that runs one type only, and slower than the gpu would; a processor with two slots.
const Machine kAccelerator{{2, 1, 1},
                           {{600, 5, {1.0, 6.0, 4.0}}, {600, 4, {1.25, 5.0, 0}}, {600, 3, {2.0, 2.5, 0}}}};
const Machine kBatch{{2, 1, 1},
                     {{120, {}, {2.5, 6.0, 10.0}}, {100, {}, {3.0, 10.0, 0}}, {80, {}, {5.0, 2.0, 0}}}};
const std::vector<std::string> kRivals = {"best-fit", "jsq", "round-robin", "min-completion-time"};

Scene scene_of(const Machine& machine) {
  Scene scene;
  scene.seed = 1;
  scene.job.path = "machine.toml";
  scene.job.folder = ".";
  scene.options.run_id = "machine";
  scene.watched = false;
  scene.variation = 0;
  scene.plan_delay = 0.005;
  for (std::size_t j = 0; j < machine.servers.size(); ++j) {
    JobResource& resource = scene.job.resources.emplace_back();
    resource.name = "r" + std::to_string(j);
    resource.servers = machine.servers[j];
    scene.lanes.emplace_back().opens_after = 0.01;
  }
  std::vector<std::string> problems;
  const CommandTemplate command = CommandTemplate::from_words({"work", "{}"}, {{""}, true, false}, problems);
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    const Machine::Type& type = machine.types[i];
    JobTask& task = scene.job.tasks.emplace_back();
    task.name = "t" + std::to_string(i);
    task.inputs = inputs_by_counting(type.tasks);
    task.count = type.count.value_or(0);
    task.priority = type.priority;
    task.rates.resize(machine.servers.size());
    for (const double rate : type.rates) {
      task.commands.push_back(rate > 0 ? std::optional(command) : std::nullopt);
      scene.seconds.push_back(rate > 0 ? 1 / rate : 0);
    }
    scene.manners.resize(scene.manners.size() + type.tasks);
  }
  scene.not_found.resize(scene.seconds.size());
  scene.fails.resize(scene.seconds.size());
  return scene;
}

System system_of(const Machine& machine) {
  std::vector<Resource> resources;
  for (std::size_t j = 0; j < machine.servers.size(); ++j)
    resources.push_back({.name = "r" + std::to_string(j), .servers = machine.servers[j]});
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    tasks.push_back({.name = "t" + std::to_string(i), .count = machine.types[i].count.value_or(1)});
    rates.insert(rates.end(), machine.types[i].rates.begin(), machine.types[i].rates.end());
  }
  return {resources, tasks, Rates(tasks.size(), resources.size(), rates)};
}

double optimum(const Machine& machine) {
  return solve(*find_solver("exact"), {system_of(machine)}).performance.throughput;
}

Verdict live(Scene scene, const std::string& policy, double seconds) {
  scene.options.policy = policy;
  scene.options.objective = RunObjective::kThroughput;
  scene.signals = {{seconds, Signal::Kind::kDrain}};
  Verdict verdict = live_through(scene);
  EXPECT_THAT(verdict.violations, ::testing::IsEmpty());
  return verdict;
}

/// Completions per second after the first `skip`, up to `until`.
double throughput(const Verdict& verdict, std::size_t skip, double until) {
  const double begin = verdict.completions.at(skip).first;
  std::size_t count = 0;
  for (std::size_t at = skip + 1; at < verdict.completions.size(); ++at)
    count += verdict.completions[at].first <= until ? 1 : 0;
  return static_cast<double>(count) / (until - begin);
}

TEST(Placement, MapReachesTheOptimumWithUnknownRatesAndBeatsTheOthers) {
  for (const Machine* const machine : {&kTwoByTwo, &kAccelerator}) {
    const Scene scene = scene_of(*machine);
    const double best = optimum(*machine);
    const double ours = throughput(live(scene, "map", 60), 60, 60);
    EXPECT_GE(ours, 0.95 * best);
    EXPECT_LE(ours, 1.05 * best);
    for (const std::string& rival : kRivals)
      EXPECT_LT(throughput(live(scene, rival, 60), 60, 60), ours) << rival;
  }
}

TEST(Placement, WeightedGivesEachTypeItsShare) {
  Machine machine = kAccelerator;
  const std::vector<double> shares = {0.5, 0.3, 0.2};
  for (std::size_t i = 0; i < shares.size(); ++i) machine.types[i].priority = shares[i];
  Scene scene = scene_of(machine);
  scene.options.objective = RunObjective::kPriority;
  scene.options.shares = ShareReading::kExact;
  scene.signals = {{60, Signal::Kind::kDrain}};
  const Verdict verdict = live_through(scene);
  EXPECT_THAT(verdict.violations, ::testing::IsEmpty());
  std::vector<double> got(3);
  for (std::size_t at = 60; at < verdict.completions.size(); ++at)
    ++got[index(verdict.completions[at].second)];
  const double all = std::accumulate(got.begin(), got.end(), 0.0);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i] / all, shares[i], 0.02) << "type " << i;
}

TEST(Placement, ABatchIsDoneWithinTheBoundAndSoonerThanByOthers) {
  const Scene scene = scene_of(kBatch);
  const double bound = batch_bound(system_of(kBatch), std::vector<Count>{120, 100, 80}).value();
  const auto finish = [&](const std::string& policy) {
    Scene other = scene;
    other.options.policy = policy;
    const Verdict verdict = live_through(other);
    EXPECT_THAT(verdict.violations, ::testing::IsEmpty());
    EXPECT_EQ(verdict.outcome, "finished");
    return verdict.completions.back().first;
  };
  const double ours = finish("");
  EXPECT_LE(ours, 1.07 * bound + 0.5);  // the longest task takes half a second
  EXPECT_GE(ours, bound);
  for (const std::string& rival : kRivals) EXPECT_GT(finish(rival), ours) << rival;
}

TEST(Placement, DriftIsFollowed) {
  // The gpu becomes three times slower: at least 90% of the new optimum from 100 completions after that on.
  Scene scene = scene_of(kTwoByTwo);
  scene.drift = {12, 1, 3};
  Machine slow = kTwoByTwo;
  for (Machine::Type& type : slow.types) type.rates[1] /= 3;
  const Verdict verdict = live(scene, "map", 120);
  const auto before = static_cast<std::size_t>(std::count_if(
      verdict.completions.begin(), verdict.completions.end(), [](const auto& c) { return c.first < 12; }));
  EXPECT_GE(throughput(verdict, before + 100, 120), 0.9 * optimum(slow));
}

}  // namespace
}  // namespace allot::worlds
