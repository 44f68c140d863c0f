// Policies that hold a target or a plan, live, with other tasks in flight than anybody declared: in virtual
// time, on random systems. With ALLOT_TEST_SYSTEMS on so many of them, and what they reach is printed.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/live_world.hpp"
#include "tests/support/random_box.hpp"
#include "tests/support/random_systems.hpp"

namespace allot::loads_test {
namespace {

using testing::LiveWorld;

constexpr std::array kPolicies{"map", "optimal", "mis", "weighted", "planned"};

/// A number from the environment.
std::optional<std::uint64_t> asked(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::strtoull(value, nullptr, 10);
}

/// A sanitizer is there for how and not for what is computed.
std::vector<std::uint64_t> seeds() {
  std::vector<std::uint64_t> all(asked("ALLOT_TEST_SYSTEMS").value_or(testing::kIsSanitized ? 2 : 12));
  std::iota(all.begin(), all.end(), asked("ALLOT_TEST_FIRST").value_or(0));
  return all;
}

bool holds_shares(const std::string& policy) { return find_policy(policy)->needs_shares; }

/// With several servers, types that run on some resources only, and shares.
System drawn(std::uint64_t seed) {
  if (seed % 2 == 0) return testing::random_box(seed, {.priorities = true, .max_types = 4, .max_count = 8});
  const System system = testing::random_system(
      seed, {.min_types = 2, .min_resources = 2, .max_count = 6, .fcfs = false, .priorities = true});
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) task.count += 2;
  return system.with_tasks(std::move(tasks));
}

System without_shares(const System& system) {
  std::vector<TaskClass> tasks = system.tasks();
  for (TaskClass& task : tasks) task.priority.reset();
  return system.with_tasks(std::move(tasks));
}

/// Rates as they are, or not known at all.
std::vector<RatePrior> priors(const System& truth, bool known) {
  std::vector<RatePrior> out;
  for (const double rate : truth.rates().values()) {
    out.push_back(rate == 0 ? RatePrior::cannot_run()
                  : known   ? RatePrior::measured(rate)
                            : RatePrior::unknown());
  }
  return out;
}

DispatcherOptions deferred(const std::string& policy, bool may_be_open) {
  DispatcherOptions options;
  options.may_be_open = may_be_open;
  options.policy = policy;
  options.planning = Planning::kDeferred;
  options.solve_limit = std::chrono::seconds(20);  // steps end a search, so that no result is one of speed
  options.policy_options.solve.steps = 20'000;
  options.policy_options.shares = ShareReading::kFloor;
  return options;
}

/// What many systems give, of one policy under one load.
class Parts {
 public:
  void add(double part) {
    sum_ += part;
    worst_ = std::min(worst_, part);
    ++systems_;
  }
  double mean() const { return sum_ / systems_; }
  void print(const std::string& policy, const std::string& of) const {
    if (!asked("ALLOT_TEST_SYSTEMS")) return;
    std::printf("%-9s %-32s mean %.3f, worst %.3f of %.0f\n", policy.c_str(), of.c_str(), mean(), worst_,
                systems_);
  }

 private:
  double sum_ = 0;
  double worst_ = std::numeric_limits<double>::infinity();
  double systems_ = 0;
};

// ---- threads that submit tasks of one type, one after the other

/// So many times as many of each type, but one at least.
std::vector<Count> times(const System& system, double factor) {
  std::vector<Count> counts;
  for (const TaskType i : system.types())
    counts.push_back(std::max<Count>(1, std::llround(factor * static_cast<double>(system.count(i)))));
  return counts;
}

struct Outcome {
  double value = 0;    ///< per second
  double planned = 0;  ///< by the dispatcher's latest plan
};

/// With so many threads, once all that was placed at first is gone. Long enough for several tries of each
/// pair that the plan does not use: in a tenth of it there may be one that takes a sixth of a resource's
/// time.
Outcome reached(const System& truth, const std::string& policy, const std::vector<Count>& threads,
                std::uint64_t seed, bool may_be_open) {
  Dispatcher dispatcher(truth.resources(), truth.tasks(), priors(truth, true), deferred(policy, may_be_open),
                        LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, seed);
  Count all = 0;
  for (const TaskType i : truth.types()) {
    world.add_threads(i, threads[index(i)]);
    all += threads[index(i)];
  }
  world.run(static_cast<std::uint64_t>(300 + 30 * all));
  const double value = world.run(static_cast<std::uint64_t>(6000 + 80 * all));
  const auto plan = dispatcher.plan();
  return {value, plan->predicted ? plan->predicted->value : 0};
}

/// What the solver finds for the true rates and so many threads.
double promised(const System& truth, const std::string& policy, const std::vector<Count>& threads) {
  SolveOptions options;
  options.stop.steps = 20'000;
  const std::string solver = policy == "optimal" ? "exact" : policy;
  return solve(*find_solver(solver), {truth.with_counts(threads), Objective::kThroughput}, options)
      .performance.value;
}

class Loads : public ::testing::TestWithParam<const char*> {};

TEST_P(Loads, WhateverIsInFlightIsPlannedFor) {
  const std::string policy = GetParam();
  const bool shares = holds_shares(policy);
  for (const double factor : {0.25, 1.0, 4.0, 40.0}) {
    const std::string what = std::to_string(factor).substr(0, 5) + " times as many";
    Parts of_plan;
    Parts of_best_fit;
    for (const std::uint64_t seed : seeds()) {
      if (factor == 40 && seed % 2 == 1 && !asked("ALLOT_TEST_SYSTEMS")) continue;
      SCOPED_TRACE(::testing::Message() << policy << ", " << what << ", seed=" << seed);
      const System truth = shares ? drawn(seed) : without_shares(drawn(seed));
      const std::vector<Count> threads = times(truth, factor);
      // Whether the host says that the load may be open makes no difference when it is not.
      const Outcome ours = reached(truth, policy, threads, seed, seed / 2 % 2 == 0);
      // Shares can be met in several ways that are equally good: there the plan is the dispatcher's own.
      const double plan = shares ? ours.planned : promised(truth, policy, threads);
      of_plan.add(ours.value / plan);
      // Where shares count, a type may get more than its part of a resource and others less.
      EXPECT_GE(ours.value, (shares ? 0.94 : 0.95) * plan);
      if (shares) continue;
      const double best_fit = reached(truth, "best-fit", threads, seed, false).value;
      of_best_fit.add(ours.value / best_fit);
      EXPECT_GE(ours.value, 0.98 * best_fit);
    }
    of_plan.print(policy, what + ", of the plan");
    if (!shares) of_best_fit.print(policy, what + ", of best-fit");
    EXPECT_GE(of_plan.mean(), 0.98) << policy << ", " << what;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Loads, ::testing::ValuesIn(kPolicies),
                         [](const auto& chosen) { return std::string(chosen.param); });

// ---- tasks that come from outside, or from threads that take any type

double all_servers_rate(const System& truth, TaskType i) {
  double all = 0;
  for (const ResourceId j : truth.resources_for(i))
    all += truth.rate(i, j) * static_cast<double>(truth.resource(j).servers);
  return all / static_cast<double>(truth.type_count());
}

void arrive(LiveWorld& world, const System& truth, double load) {
  std::vector<double> rates;
  for (const TaskType i : truth.types()) rates.push_back(load * all_servers_rate(truth, i));
  world.set_arrivals(rates);
}

void submit_any(LiveWorld& world, const System& truth, std::size_t threads) {
  world.set_mix(std::vector<double>(truth.type_count(), 1.0));
  for (std::size_t n = 0; n < threads; ++n) world.add_threads(task_type(n % truth.type_count()), 1);
}

struct OpenLoad {
  const char* name;
  void (*start)(LiveWorld&, const System&);
  /// Those of it who submit tasks of one type each: shares have a meaning for them alone, and cost
  /// completions while there is nobody else.
  void (*threads)(LiveWorld&, const System&) = nullptr;
};

/// The least part of what best-fit completes. Tasks that have taken free servers when a burst comes are in
/// its way until they end.
double least_part(const OpenLoad& load, const std::string& policy) {
  // And in a small pool a task that takes long anywhere holds up the few threads, of which the plan of
  // `planned` knows nothing.
  return load.name == std::string("PoolOf8") && policy == "planned" ? 0.92 : 0.95;
}

void submit_own(LiveWorld& world, const System& truth) {
  for (const TaskType i : truth.types()) world.add_threads(i, truth.count(i));
}

constexpr std::array kOpenLoads{
    OpenLoad{"HalfTheLoad", [](LiveWorld& world, const System& truth) { arrive(world, truth, 0.5); }},
    OpenLoad{"TwiceTheLoad", [](LiveWorld& world, const System& truth) { arrive(world, truth, 2); }},
    OpenLoad{"Bursts",
             [](LiveWorld& world, const System& truth) {
               submit_own(world, truth);
               for (int burst = 0; burst < 3; ++burst) {
                 world.run(200);
                 for (const TaskType i : truth.types()) world.add_tasks(i, 40 * truth.count(i));
               }
             },
             submit_own},
    OpenLoad{"PoolOf8", [](LiveWorld& world, const System& truth) { submit_any(world, truth, 8); }},
    OpenLoad{"PoolOf32", [](LiveWorld& world, const System& truth) { submit_any(world, truth, 32); }},
};

/// Tenths of the time.
using Values = std::array<double, 10>;

double sum(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// The sum of what is less in each tenth: during a burst shares are not asked for, afterwards they are.
double sum_of_less(const Values& a, const Values& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                            [](double x, double y) { return std::min(x, y); });
}

/// What is completed in the time that a machine without a wrong choice needs for some thousand tasks.
Values value_under(const System& truth, const std::string& policy, std::uint64_t seed,
                   void (*start)(LiveWorld&, const System&)) {
  double rate = 0;
  for (const TaskType i : truth.types()) rate += all_servers_rate(truth, i);
  Dispatcher dispatcher(truth.resources(), truth.tasks(), priors(truth, seed % 3 != 0),
                        deferred(policy, true), LiveWorld::at(0));
  LiveWorld world(truth, dispatcher, seed);
  start(world, truth);
  Values values{};
  double before = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    world.run_until(5000 / rate * static_cast<double>(k + 1) / static_cast<double>(values.size()));
    values[k] = world.value() - std::exchange(before, world.value());
  }
  return values;
}

class OpenLoads : public ::testing::TestWithParam<OpenLoad> {};

TEST_P(OpenLoads, NoPolicyDoesWorseThanBestFit) {
  const OpenLoad& load = GetParam();
  std::array<Parts, kPolicies.size()> parts;
  for (const std::uint64_t seed : seeds()) {
    const System with_shares = drawn(seed);
    const System without = without_shares(with_shares);
    const Values best_fit = value_under(without, "best-fit", seed, load.start);
    for (std::size_t p = 0; p < kPolicies.size(); ++p) {
      const std::string policy = kPolicies[p];
      const System& truth = holds_shares(policy) ? with_shares : without;
      double measure = sum(best_fit);
      if (holds_shares(policy) && load.threads != nullptr)
        measure = sum_of_less(best_fit, value_under(truth, policy, seed, load.threads));
      const double part = sum(value_under(truth, policy, seed, load.start)) / measure;
      EXPECT_GE(part, least_part(load, policy)) << policy << ", " << load.name << ", seed=" << seed;
      parts[p].add(part);
    }
  }
  for (std::size_t p = 0; p < kPolicies.size(); ++p) {
    parts[p].print(kPolicies[p], std::string(load.name) + ", of best-fit");
    if (!testing::kIsSanitized) {
      EXPECT_GE(parts[p].mean(), 1) << kPolicies[p] << ", " << load.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenLoads, ::testing::ValuesIn(kOpenLoads),
                         [](const auto& chosen) { return std::string(chosen.param.name); });

}  // namespace
}  // namespace allot::loads_test
