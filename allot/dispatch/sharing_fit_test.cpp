#include "allot/dispatch/sharing_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/sharing_design.hpp"
#include "allot/model/filling.hpp"
#include "tests/support/amount.hpp"

namespace allot {
namespace {

/// Cores, a GPU with four streams, and an engine. Tasks on the GPU and the engine share what is between them
/// and the host; with two capacities, the cores share something as well.
System machine(std::size_t capacities) {
  const CapacityId bus = capacity_id(3);
  const CapacityId memory = capacity_id(4);
  const ResourceId cpu = resource_id(0);
  const ResourceId gpu = resource_id(1);
  const ResourceId engine = resource_id(2);
  std::vector<TaskClass> tasks = {{.name = "decode", .count = 7},
                                  {.name = "product", .count = 7},
                                  {.name = "sort", .count = 7},
                                  {.name = "interpret", .count = 7}};
  tasks[0].needs = {{engine, bus, 0.3}};
  tasks[1].needs = {{gpu, bus, 0.65}};
  tasks[2].needs = {{gpu, bus, 0.36}};
  tasks[3].needs = {{gpu, bus, 0.1}};
  std::vector<Capacity> shared = {{.name = "bus", .amount = 1, .shared = true}};
  if (capacities == 2) {
    shared.push_back({.name = "memory", .amount = 1, .shared = true});
    for (TaskClass& task : tasks) task.needs.push_back({cpu, memory, 0.13});
  }
  return System({{.name = "cpu", .servers = 10}, {.name = "gpu", .servers = 4}, {.name = "jpeg"}}, tasks,
                Rates(4, 3, {85, 125, 2100, 72, 1950, 0, 50, 4000, 0, 315, 137, 0}), shared);
}

MixMeasurement measured(const System& truth, const PerPair<Count>& tasks, double noise,
                        RandomStream& random) {
  MixMeasurement out{PerPair<double>(truth.type_count(), truth.resource_count()),
                     PerPair<double>(truth.type_count(), truth.resource_count())};
  const std::vector<double> n(tasks.values().begin(), tasks.values().end());
  EvenSharing sharing(truth);
  const EvenSharing::Service service = sharing(n);
  for (const TaskType i : truth.types()) {
    for (const ResourceId j : truth.resource_ids()) {
      const std::size_t pair = index(i) * truth.resource_count() + index(j);
      out.in_service(i, j) = service.in_service[pair];
      // The sum of a dozen uniform numbers is normal enough.
      double normal = -6;
      for (int k = 0; k < 12; ++k) normal += random.uniform();
      out.throughput(i, j) = truth.rate(i, j) * service.at_full_speed[pair] * std::exp(noise * normal);
    }
  }
  return out;
}

std::vector<MixMeasurement> measured(const System& truth, const SharingDesign& design, double noise) {
  RandomStream random(design.seed, 7);
  std::vector<MixMeasurement> out;
  for (const PerPair<Count>& mix : design_mixes(truth, design))
    out.push_back(measured(truth, mix, noise, random));
  return out;
}

double total(const PerPair<double>& throughput) {
  double sum = 0;
  for (const double x : throughput.values()) sum += x;
  return sum;
}

/// Errors of the throughput of mixes that the fit has not seen, without noise.
std::vector<double> fresh_errors(const System& truth, const SharingFit& fit, std::uint64_t seed) {
  std::vector<double> errors;
  RandomStream random(seed);
  for (const PerPair<Count>& mix : design_mixes(truth, {.pair_mixes = 0, .random_mixes = 60, .seed = seed})) {
    const MixMeasurement what = measured(truth, mix, 0, random);
    errors.push_back(std::abs(total(fit.predict(what.in_service)) / total(what.throughput) - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

TEST(SharingDesign, HasEveryPairAloneAndNeverMoreThanTheServers) {
  const System truth = machine(2);
  const std::vector<PerPair<Count>> mixes = design_mixes(truth);
  PerPair<int> alone(4, 3, 0);
  for (const PerPair<Count>& mix : mixes) {
    std::size_t pairs = 0;
    for (const ResourceId j : truth.resource_ids()) {
      Count at = 0;
      for (const TaskType i : truth.types()) {
        at += mix(i, j);
        pairs += mix(i, j) > 0 ? 1 : 0;
        EXPECT_TRUE(mix(i, j) == 0 || truth.can_run(i, j));
      }
      EXPECT_LE(at, truth.resource(j).servers);
    }
    EXPECT_GT(pairs, 0U);
    if (pairs != 1) continue;
    for (const TaskType i : truth.types()) {
      for (const ResourceId j : truth.resource_ids()) alone(i, j) += mix(i, j) > 0 ? 1 : 0;
    }
  }
  for (const TaskType i : truth.types()) {
    EXPECT_GE(alone(i, resource_id(0)), 3);  // 1, 5 and 10 cores
    EXPECT_GE(alone(i, resource_id(1)), 3);
  }
  EXPECT_GE(alone(task_type(0), resource_id(2)), 1);
  EXPECT_EQ(mixes, design_mixes(truth)) << "depends on the seed alone";
  EXPECT_NE(mixes, design_mixes(truth, {.seed = 2}));
}

TEST(SharingFit, RecoversTheNeedsOfOneCapacityFromNoisyMixes) {
  for (std::uint64_t seed = 1; seed <= testing::amount(3); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System truth = machine(1);
    const SharingFit fit = fit_sharing(measured(truth, {.seed = seed}, 0.02), {.seed = seed});
    ASSERT_EQ(fit.needs.size(), 1U);
    const PerPair<FittedNumber>& needs = fit.needs.front();
    const ResourceId gpu = resource_id(1);
    EXPECT_NEAR(needs(task_type(1), gpu).value, 0.65, 0.04);
    EXPECT_NEAR(needs(task_type(2), gpu).value, 0.36, 0.03);
    EXPECT_NEAR(needs(task_type(0), resource_id(2)).value, 0.3, 0.06);
    for (const TaskType i : truth.types())
      EXPECT_EQ(needs(i, resource_id(0)).value, 0) << "cores share nothing";
    for (const TaskType i : truth.types()) {
      for (const ResourceId j : truth.resource_ids()) {
        const FittedNumber& rate = fit.rates(i, j);
        EXPECT_NEAR(rate.value, truth.rate(i, j), 0.05 * truth.rate(i, j));
        EXPECT_LE(rate.low, rate.value);
        EXPECT_GE(rate.high, rate.value);
        EXPECT_LE(needs(i, j).low, needs(i, j).value);
        EXPECT_GE(needs(i, j).high, needs(i, j).value);
      }
    }
    ASSERT_EQ(fit.left_out.size(), 3U);
    EXPECT_LT(fit.left_out[1].median, 0.03);
    EXPECT_LT(fit.left_out[1].median, 0.7 * fit.left_out[0].median) << "without capacities it is worse";
    const std::vector<double> errors = fresh_errors(truth, fit, 99 + seed);
    EXPECT_LT(errors[errors.size() / 2], 0.02);
    EXPECT_LT(errors.back(), 0.1);
  }
}

TEST(SharingFit, FindsASecondCapacityWhereThereIsOne) {
  const System truth = machine(2);
  const SharingFit fit = fit_sharing(measured(truth, {}, 0.02), {.resamples = 10});
  ASSERT_EQ(fit.needs.size(), 2U);
  EXPECT_LT(fit.left_out[2].median, fit.left_out[1].median);
  const std::vector<double> errors = fresh_errors(truth, fit, 5);
  EXPECT_LT(errors[errors.size() / 2], 0.02);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.05);
}

TEST(SharingFit, FindsNoCapacityWhereNothingIsShared) {
  const System truth({{.name = "cpu", .servers = 4}, {.name = "gpu", .servers = 2}},
                     {{.name = "a", .count = 4}, {.name = "b", .count = 4}}, Rates(2, 2, {10, 50, 20, 5}));
  const SharingFit fit = fit_sharing(measured(truth, {}, 0.03), {.resamples = 10});
  EXPECT_TRUE(fit.needs.empty());
  EXPECT_NEAR(fit.rates(task_type(0), resource_id(1)).value, 50, 1.5);
  EXPECT_LT(fit.in_sample.median, 0.03);
}

TEST(SharingFit, IntervalsHoldTheTruthMostOfTheTime) {
  const System truth = machine(1);
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 10; seed < 16; ++seed) {
    const SharingFit fit = fit_sharing(measured(truth, {.random_mixes = 24, .seed = seed}, 0.03),
                                       {.most_capacities = 1, .folds = 4, .seed = seed});
    ASSERT_EQ(fit.needs.size(), 1U);
    for (const TaskType i : {task_type(1), task_type(2)}) {
      const FittedNumber& need = fit.needs.front()(i, resource_id(1));
      const double real = i == task_type(1) ? 0.65 : 0.36;
      inside += need.low - 0.003 <= real && real <= need.high + 0.003 ? 1 : 0;
      ++all;
    }
  }
  EXPECT_GE(inside, all * 2 / 3) << "of " << all;
}

TEST(SharingFit, OneWildMixDoesNotSpoilIt) {
  const System truth = machine(1);
  std::vector<MixMeasurement> mixes = measured(truth, {}, 0.01);
  for (const TaskType i : truth.types()) {
    for (const ResourceId j : truth.resource_ids()) mixes[mixes.size() / 2].throughput(i, j) /= 5;
  }
  const SharingFit fit = fit_sharing(mixes, {.folds = 4, .resamples = 4});
  const std::vector<double> errors = fresh_errors(truth, fit, 3);
  EXPECT_LT(errors[errors.size() / 2], 0.02);
}

TEST(SharingFit, MixesCountByTheirWeight) {
  const System truth = machine(1);
  std::vector<MixMeasurement> mixes = measured(truth, {}, 0.01);
  for (std::size_t k = 0; k < mixes.size(); k += 3) {  // as on a machine that is half as fast
    mixes[k].weight = 0;
    for (const TaskType i : truth.types()) {
      for (const ResourceId j : truth.resource_ids()) mixes[k].throughput(i, j) /= 2;
    }
  }
  const SharingFitOptions quick{.folds = 4, .resamples = 0};
  std::vector<double> errors = fresh_errors(truth, fit_sharing(mixes, quick), 3);
  EXPECT_LT(errors[errors.size() / 2], 0.02);
  for (MixMeasurement& mix : mixes) mix.weight = 1;
  errors = fresh_errors(truth, fit_sharing(mixes, quick), 3);
  EXPECT_GT(errors[errors.size() / 2], 0.05);
  mixes.back().weight = -1;
  EXPECT_THROW(fit_sharing(mixes, quick), InvalidModel);
}

TEST(SharingFit, MakesASystemThatPredictsLikeTheFit) {
  const System truth = machine(1);
  const SharingFit fit = fit_sharing(measured(truth, {}, 0.02), {.folds = 4, .resamples = 4});
  std::vector<TaskClass> bare = truth.tasks();
  for (TaskClass& task : bare) task.needs.clear();
  const System plain(truth.resources(), bare, Rates(4, 3, std::vector<double>(12, 1.0)));
  const System learnt = with_sharing(plain, fit);
  EXPECT_EQ(learnt.capacities().front().name, "shared1");
  RandomStream random(3);
  for (const PerPair<Count>& mix : design_mixes(truth, {.seed = 8})) {
    const MixMeasurement what = measured(learnt, mix, 0, random);
    EXPECT_NEAR(total(fit.predict(what.in_service)), total(what.throughput), 1e-9 * total(what.throughput));
  }
}

TEST(SharingFit, RefusesWhatIsNoMeasurement) {
  EXPECT_THROW(fit_sharing({}), InvalidModel);
  std::vector<MixMeasurement> mixes(2, {PerPair<double>(1, 1, 1.0), PerPair<double>(1, 1, 1.0)});
  EXPECT_NO_THROW(fit_sharing(mixes));
  mixes[1].throughput(task_type(0), resource_id(0)) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(fit_sharing(mixes), InvalidModel);
  mixes[1] = {PerPair<double>(2, 1, 1.0), PerPair<double>(2, 1, 1.0)};
  EXPECT_THROW(fit_sharing(mixes), InvalidModel);
}

TEST(SharingFit, StopsWhenItIsToldTo) {
  const StopFlag stop{true};
  const SharingFit fit = fit_sharing(measured(machine(1), {}, 0.02), {.stop = {.flag = &stop}});
  EXPECT_TRUE(fit.needs.empty());
  EXPECT_GT(fit.rates(task_type(0), resource_id(0)).value, 0);
}

}  // namespace
}  // namespace allot
