#include "tests/worlds/boxes.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "allot/base/random.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/holdings.hpp"
#include "allot/solve/solver.hpp"
#include "tests/worlds/world.hpp"

namespace allot::worlds {
namespace {

double log_uniform(RandomStream& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

void draw_machine(RandomStream& random, Scene& scene) {
  for (std::size_t j = 0, count = 1 + random.below(4); j < count; ++j) {
    JobResource& resource = scene.job.resources.emplace_back();
    resource.name = "r" + std::to_string(j);
    resource.servers = 1 + static_cast<Count>(random.below(8));
    if (random.below(5) == 0) resource.launch = {"launcher", std::to_string(j)};
    scene.lanes.emplace_back().opens_after = 0.001;
  }
  for (std::size_t c = 0, count = 1 + random.below(3); c < count; ++c) {
    JobCapacity& capacity = scene.job.capacities.emplace_back();
    capacity.name = "c" + std::to_string(c);
    capacity.amount = random.uniform(4, 32);
  }
}

void draw_needs(RandomStream& random, const Job& job, std::size_t j, JobTask& task) {
  const auto need = [&](CapacityId r, double amount) { task.needs.push_back({resource_id(j), r, amount}); };
  for (std::size_t k = 0; k < job.resources.size(); ++k) {
    if (random.below(k == j ? 3 : 6) != 0) continue;
    const auto servers = static_cast<std::uint64_t>(job.resources[k].servers);
    need(servers_of(resource_id(k)), 1 + static_cast<double>(random.below(servers)));
  }
  for (std::size_t c = 0; c < job.capacities.size(); ++c) {
    if (random.below(2) == 0) continue;
    need(capacity_id(job.resources.size() + c), job.capacities[c].amount * random.uniform(0.05, 0.7));
  }
}

/// The machine as it is.
System true_system(const Scene& scene, std::span<const Count> counts) {
  std::vector<double> rates;
  for (const double seconds : scene.seconds) rates.push_back(seconds > 0 ? 1 / seconds : 0);
  return job_system(scene.job, rates, counts);
}

}  // namespace

Scene draw_batch(std::uint64_t seed, bool known) {
  RandomStream random(seed, 0xba7c4);
  Scene scene;
  scene.seed = seed;
  scene.job.path = "batch.toml";
  scene.job.folder = ".";
  scene.options.run_id = "batch";
  scene.options.note_s = 1e6;
  scene.watched = false;
  scene.plan_delay = 0.005;
  scene.variation = random.below(2) == 0 ? 0 : random.uniform(0, 0.3);
  draw_machine(random, scene);
  std::vector<std::string> problems;
  const CommandTemplate command = CommandTemplate::from_words({"work", "{}"}, {{""}, true, false}, problems);
  for (std::size_t i = 0, count = 1 + random.below(6); i < count; ++i) {
    JobTask& task = scene.job.tasks.emplace_back();
    task.name = "t" + std::to_string(i);
    task.inputs = inputs_by_counting(4 + random.below(random.below(4) == 0 ? 200 : 40));
    const double base = log_uniform(random, 0.2, 10);
    const std::size_t sure = random.below(scene.job.resources.size());
    for (std::size_t j = 0; j < scene.job.resources.size(); ++j) {
      const bool runs = j == sure || random.below(3) != 0;
      const double seconds = base * log_uniform(random, 0.3, 3);
      scene.seconds.push_back(runs ? seconds : 0);
      task.commands.push_back(runs ? std::optional(command) : std::nullopt);
      task.rates.push_back(runs && known ? std::optional(1 / seconds) : std::nullopt);
      if (runs) draw_needs(random, scene.job, j, task);
    }
    scene.manners.resize(scene.manners.size() + task.inputs.rows());
  }
  scene.not_found.resize(scene.seconds.size());
  scene.fails.resize(scene.seconds.size());
  return scene;
}

BoxResult run_batch(const Scene& scene) {
  const Verdict verdict = live_through(scene);
  for (const std::string& violation : verdict.violations) std::printf("%s\n", violation.c_str());
  if (!verdict.violations.empty() || verdict.outcome != "finished") return {};
  std::vector<Count> left;
  double longest = 0;
  for (std::size_t i = 0; i < scene.job.tasks.size(); ++i) {
    left.push_back(static_cast<Count>(scene.job.tasks[i].inputs.rows()));
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < scene.job.resources.size(); ++j) {
      const double seconds = scene.seconds[i * scene.job.resources.size() + j];
      if (seconds > 0) least = std::min(least, seconds);
    }
    longest = std::max(longest, least);
  }
  const double bound = batch_bound(true_system(scene, left), left, true).value_or(0);
  return {true, verdict.completions.back().first / std::max(bound, longest)};
}

BoxResult run_planned(std::uint64_t seed) {
  constexpr double kMostSeconds = 600;
  constexpr double kMostTasks = 20'000;
  Scene scene = draw_batch(seed, true);
  RandomStream random(seed, 0xb0);
  std::vector<double> most(scene.job.tasks.size(), 0.0);  // tasks per second if there were nothing else
  double all = 0;
  for (std::size_t i = 0; i < most.size(); ++i) {
    scene.job.tasks[i].worth = log_uniform(random, 0.2, 5);
    for (std::size_t j = 0; j < scene.job.resources.size(); ++j) {
      const double seconds = scene.seconds[i * scene.job.resources.size() + j];
      if (seconds > 0) most[i] += static_cast<double>(scene.job.resources[j].servers) / seconds;
    }
    all += most[i];
  }
  const double end = std::min(kMostSeconds, kMostTasks / all);
  const double warm = 0.1 * end;
  scene.options.policy = "planned";
  scene.signals = {{end, Signal::Kind::kDrain}};
  scene.manners.clear();
  std::vector<Count> counts;
  for (std::size_t i = 0; i < most.size(); ++i) {
    JobTask& task = scene.job.tasks[i];
    task.inputs = inputs_by_counting(static_cast<std::size_t>(1.2 * end * most[i]) + 20);
    scene.manners.resize(scene.manners.size() + task.inputs.rows());
    counts.push_back(static_cast<Count>(task.inputs.rows()));
  }
  const Verdict verdict = live_through(scene);
  for (const std::string& violation : verdict.violations) std::printf("%s\n", violation.c_str());
  if (!verdict.violations.empty()) return {};
  SolveOptions options;
  options.bound_packings = true;
  const Solution plan =
      solve(*find_solver("planned"), {true_system(scene, counts), Objective::kThroughput}, options);
  double value = 0;
  for (const auto& [when, type] : verdict.completions) {
    if (when > warm && when <= end) value += scene.job.tasks[index(type)].worth;
  }
  return {true, value / (end - warm) / plan.plan.packing_bound.value_or(plan.performance.value)};
}

}  // namespace allot::worlds
