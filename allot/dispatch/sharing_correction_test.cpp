#include "allot/dispatch/sharing_correction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/sharing_design.hpp"

namespace allot {
namespace {

constexpr TaskType kLong = task_type(0);
constexpr TaskType kShort = task_type(1);
constexpr ResourceId kCores = resource_id(0);
constexpr ResourceId kDevice = resource_id(1);

System cores_and_device() {
  return System({{.name = "cores", .servers = 6}, {.name = "device", .servers = 4}},
                {{.name = "long", .count = 5}, {.name = "short", .count = 5}},
                Rates(2, 2, {20, 100, 30, 400}));
}

/// Not what even sharing says: short tasks suffer more than long ones, and both from the first task on.
MixMeasurement uneven(const PerPair<Count>& tasks, double speed_of_cores) {
  MixMeasurement out{PerPair<double>(2, 2), PerPair<double>(2, 2)};
  const double on_device = static_cast<double>(3 * tasks(kLong, kDevice) + tasks(kShort, kDevice));
  const PerPair<double> rates(2, 2, {20 * speed_of_cores, 100, 30 * speed_of_cores, 400});
  for (const TaskType i : tasks.type_ids()) {
    for (const ResourceId j : tasks.resource_ids()) {
      out.in_service(i, j) = static_cast<double>(tasks(i, j));
      const double suffers = j == kDevice ? (i == kLong ? 0.06 : 0.1) : 0.0;
      out.throughput(i, j) = out.in_service(i, j) * rates(i, j) * std::exp(-suffers * on_device);
    }
  }
  return out;
}

double all_of(const PerPair<double>& throughput) {
  double sum = 0;
  for (const double x : throughput.values()) sum += x;
  return sum;
}

std::vector<PerPair<Count>> shuffled_mixes(std::uint64_t seed, std::size_t random_mixes) {
  std::vector<PerPair<Count>> mixes =
      design_mixes(cores_and_device(), {.pair_mixes = 6, .random_mixes = random_mixes, .seed = seed});
  RandomStream random(seed, 3);
  for (std::size_t left = mixes.size(); left > 1; --left)
    std::swap(mixes[left - 1], mixes[static_cast<std::size_t>(random.below(left))]);
  return mixes;
}

SharingFit fit_of(const std::vector<PerPair<Count>>& mixes) {
  std::vector<MixMeasurement> measured;
  for (const PerPair<Count>& mix : mixes) measured.push_back(uneven(mix, 1));
  return fit_sharing(measured, {.resamples = 0});
}

/// A fit by hand: tasks on the device draw on something shared, those on cores do not.
SharingFit plain_fit() {
  SharingFit fit;
  fit.rates = PerPair<FittedNumber>(2, 2);
  fit.rates(kLong, kCores) = {20, 20, 20};
  fit.rates(kLong, kDevice) = {100, 100, 100};
  fit.rates(kShort, kCores) = {30, 30, 30};
  fit.rates(kShort, kDevice) = {400, 400, 400};
  fit.needs.assign(1, PerPair<FittedNumber>(2, 2));
  fit.needs[0](kLong, kDevice) = fit.needs[0](kShort, kDevice) = {0.1, 0.1, 0.1};
  return fit;
}

TEST(SharingCorrection, IsTheFitWhereNothingWasLearnt) {
  const SharingFit fit = plain_fit();
  const SharingCorrection correction(fit, cores_and_device());
  const PerPair<double> in_service(2, 2, {2, 1, 3, 2});
  EXPECT_EQ(correction.predict(5, in_service), fit.predict(in_service));
}

/// One observation of a Gaussian process moves the mean by its covariance over its variance.
TEST(SharingCorrection, GoesTowardsOneMixAsFarAsItsNoiseAllows) {
  const SharingFit fit = plain_fit();
  SharingCorrection correction(fit, cores_and_device());
  MixMeasurement mix{PerPair<double>(2, 2, {0, 2, 6, 0}), PerPair<double>(2, 2)};
  mix.throughput = fit.predict(mix.in_service);
  mix.throughput(kLong, kDevice) *= 0.7;
  mix.throughput(kShort, kCores) *= 0.8;
  correction.learn(10, mix);
  const PerPair<double> same = correction.predict(10, mix.in_service);
  const double device = 0.01 + 0.25 * 0.5 * 0.5 + 0.0225;  // of the pair, by its load, by the mix
  EXPECT_NEAR(same(kLong, kDevice), 200 * std::pow(0.7, device / (device + 0.01)), 1e-9);
  EXPECT_NEAR(same(kShort, kCores), 180 * std::pow(0.8, 0.02 / 0.03), 1e-9);
  const PerPair<double> others = correction.predict(10, PerPair<double>(2, 2, {6, 0, 0, 4}));
  EXPECT_NEAR(others(kLong, kCores), 120 * std::pow(0.8, 0.01 / 0.03), 1e-9)
      << "the cores have become slower";
  EXPECT_DOUBLE_EQ(others(kShort, kDevice), 1600) << "of which nothing was seen";
  const PerPair<double> later = correction.predict(6000, PerPair<double>(2, 2, {6, 0, 0, 4}));
  EXPECT_NEAR(later(kLong, kCores), 120, 1e-9) << "and may be as fast as before by now";
}

/// Rows are added one by one; the witness solves all equations at once.
TEST(SharingCorrection, EqualsTheSolutionOfAllEquationsAtOnce) {
  const SharingFit fit = plain_fit();
  SharingCorrection correction(fit, cores_and_device());
  std::vector<MixMeasurement> learnt;
  for (const PerPair<Count>& mix : shuffled_mixes(1, 20)) {
    MixMeasurement measured = uneven(mix, 1);
    if (measured.in_service(kLong, kDevice) > 0) learnt.push_back(measured);
    correction.learn(static_cast<double>(learnt.size()), measured);
  }
  const auto covariance = [](const PerPair<double>& a, const PerPair<double>& b) {
    double product = 0;
    double apart = 0;
    for (const TaskType i : {kLong, kShort}) {
      product += a(i, kDevice) * b(i, kDevice) / 16;
      apart += std::pow((a(i, kDevice) - b(i, kDevice)) / 4, 2);
    }
    return 0.01 + 0.25 * product + 0.0225 * std::exp(-apart / 0.32);
  };
  const PerPair<double> asked(2, 2, {0, 1.5, 0, 2.5});
  const std::size_t n = learnt.size();
  std::vector<std::vector<double>> equations(n, std::vector<double>(n + 1));
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b)
      equations[a][b] = covariance(learnt[a].in_service, learnt[b].in_service) + (a == b ? 0.01 : 0.0);
    equations[a][n] =
        std::log(learnt[a].throughput(kLong, kDevice) / fit.predict(learnt[a].in_service)(kLong, kDevice));
  }
  for (std::size_t a = 0; a < n; ++a) {  // Gauss and Jordan; the matrix is positive definite
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      const double factor = equations[b][a] / equations[a][a];
      for (std::size_t k = a; k <= n; ++k) equations[b][k] -= factor * equations[a][k];
    }
  }
  double off = 0;
  for (std::size_t a = 0; a < n; ++a)
    off += covariance(asked, learnt[a].in_service) * equations[a][n] / equations[a][a];
  EXPECT_NEAR(correction.predict(99, asked)(kLong, kDevice),
              fit.predict(asked)(kLong, kDevice) * std::exp(off), 1e-6);
}

TEST(SharingCorrection, PredictsMixesThatEvenSharingCannotExplain) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const std::vector<PerPair<Count>> mixes = shuffled_mixes(seed, 40);
    const SharingFit fit = fit_of(mixes);
    ASSERT_FALSE(fit.needs.empty());
    SharingCorrection correction(fit, cores_and_device());
    for (std::size_t k = 0; k < mixes.size(); ++k)
      correction.learn(static_cast<double>(k), uneven(mixes[k], 1));
    std::vector<double> plain;
    std::vector<double> corrected;
    for (const PerPair<Count>& mix : shuffled_mixes(100 + seed, 60)) {
      const MixMeasurement truth = uneven(mix, 1);
      plain.push_back(std::abs(all_of(fit.predict(truth.in_service)) / all_of(truth.throughput) - 1));
      corrected.push_back(
          std::abs(all_of(correction.predict(60, truth.in_service)) / all_of(truth.throughput) - 1));
    }
    std::sort(plain.begin(), plain.end());
    std::sort(corrected.begin(), corrected.end());
    EXPECT_LT(corrected[corrected.size() / 2], 0.02);
    EXPECT_LT(corrected[corrected.size() * 9 / 10], 0.6 * plain[plain.size() * 9 / 10]);
  }
}

TEST(SharingCorrection, FollowsCoresThatChange) {
  const std::vector<PerPair<Count>> mixes = shuffled_mixes(1, 60);
  const SharingFit fit = fit_of(mixes);
  SharingCorrection correction(fit, cores_and_device());
  const PerPair<double> cores(2, 2, {3, 0, 3, 0});
  for (std::size_t k = 0; k < mixes.size(); ++k)
    correction.learn(static_cast<double>(k), uneven(mixes[k], k < mixes.size() / 2 ? 1 : 0.8));
  const double before = all_of(fit.predict(cores));
  EXPECT_NEAR(all_of(correction.predict(static_cast<double>(mixes.size()), cores)) / before, 0.8, 0.05);
}

TEST(SharingCorrection, RefusesAnotherShape) {
  EXPECT_THROW(SharingCorrection(SharingFit{}, cores_and_device()), InvalidModel);
  SharingCorrection correction(plain_fit(), cores_and_device());
  EXPECT_THROW(correction.learn(0, {PerPair<double>(2, 1), PerPair<double>(2, 1)}), InvalidModel);
}

}  // namespace
}  // namespace allot
