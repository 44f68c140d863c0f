// The inner maximum of the Lagrangian bound against enumeration of all contents of a resource.
#include "allot/solve/detail/column_pricing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include "allot/base/random.hpp"
#include "allot/model/throughput.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/oracle.hpp"

namespace allot::detail {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

struct Case {
  System system;
  Prices prices;
  ColumnDomain domain;
};

/// One resource that all types can use, another where the rest may be; random prices of either sign.
Case random_case(std::uint64_t seed, bool premiums, bool bounds) {
  RandomStream random(seed, 0xc01);
  const std::size_t types = 1 + random.below(4);
  const bool fcfs = random.below(2) == 0;
  Resource resource{.name = "r", .servers = fcfs ? 1 : 1 + static_cast<Count>(random.below(4))};
  if (fcfs) resource.discipline = Discipline::kFcfs;
  if (random.below(3) == 0) resource.min_depth = 1 + static_cast<Count>(random.below(4));
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  Prices prices;
  for (std::size_t i = 0; i < types; ++i) {
    tasks.push_back({.name = "t" + std::to_string(i), .count = static_cast<Count>(random.below(6))});
    rates.push_back(random.below(5) == 0 ? 1.0 + static_cast<double>(random.below(3))
                                         : random.uniform(0.1, 10));
    // Prices near the marginal worth of a task are where the greedy choice is delicate; zero and equal ones
    // tie.
    prices.task.push_back(random.below(6) == 0 ? 0.0 : random.uniform(-2, 4) * rates.back() / 3);
    if (premiums) prices.completion.push_back(random.below(2) == 0 ? 0.0 : random.uniform(0, 2));
  }
  Case result{System({resource}, std::move(tasks), Rates(types, 1, rates)), std::move(prices), {}};
  const ColumnPricer pricer(result.system, resource_id(0));
  result.domain = pricer.whole_domain();
  if (bounds) {
    std::vector<Interval> cut;  // random parts of the totals
    for (const Interval& interval : result.domain.totals) {
      for (Count at = interval.first; at <= interval.last;) {
        const Count last = std::min(interval.last, at + static_cast<Count>(random.below(4)));
        if (random.below(3) > 0) cut.push_back({at, last});
        at = last + 2;
      }
    }
    result.domain.totals = cut;
    for (const TaskType i : pricer.types()) {
      const auto count = static_cast<std::uint64_t>(result.system.count(i));
      result.domain.lower.push_back(random.below(2) == 0 ? 0 : static_cast<Count>(random.below(count + 1)));
      const auto room = static_cast<std::uint64_t>(result.system.count(i) - result.domain.lower.back());
      result.domain.upper.push_back(result.domain.lower.back() + static_cast<Count>(random.below(room + 1)));
    }
  }
  return result;
}

/// X_j + sum of pi_i X_ij - sum of lambda_i x_i, from the model's formulas.
double value_of(const Case& c, const std::vector<TaskType>& types, const std::vector<Count>& content) {
  Assignment n(c.system.type_count(), 1);
  for (std::size_t t = 0; t < types.size(); ++t) n(types[t], resource_id(0)) = content[t];
  const auto x = allot::testing::recomputed_completions(c.system, n);
  long double value = x.total;
  for (std::size_t t = 0; t < types.size(); ++t) {
    const std::size_t i = index(types[t]);
    value -= static_cast<long double>(c.prices.task[i]) * static_cast<long double>(content[t]);
    if (!c.prices.completion.empty())
      value += static_cast<long double>(c.prices.completion[i]) * x.by_task[i];
  }
  return static_cast<double>(value);
}

bool in_domain(const ColumnDomain& domain, const std::vector<Count>& content) {
  Count total = 0;
  for (std::size_t t = 0; t < content.size(); ++t) {
    total += content[t];
    if (!domain.lower.empty() && content[t] < domain.lower[t]) return false;
    if (!domain.upper.empty() && content[t] > domain.upper[t]) return false;
  }
  return std::any_of(domain.totals.begin(), domain.totals.end(), [&](const Interval& interval) {
    return interval.first <= total && total <= interval.last;
  });
}

void for_each_content(const System& system, const std::vector<TaskType>& types,
                      const std::function<void(const std::vector<Count>&)>& visit) {
  std::vector<Count> content(types.size());
  const std::function<void(std::size_t)> fill = [&](std::size_t t) {
    if (t == types.size()) return visit(content);
    for (content[t] = 0; content[t] <= system.count(types[t]); ++content[t]) fill(t + 1);
    content[t] = 0;
  };
  fill(0);
}

class Pricing : public ::testing::TestWithParam<std::pair<bool, bool>> {};

// 3,000 columns for each combination of premiums and bounds on the counts.
TEST_P(Pricing, FindsTheBestContentOfAll) {
  const auto [premiums, bounds] = GetParam();
  int empty = 0;
  for (std::uint64_t seed = 0; seed < testing::amount(3000); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Case c = random_case(seed, premiums, bounds);
    ColumnPricer pricer(c.system, resource_id(0));
    const std::vector<TaskType> types(pricer.types().begin(), pricer.types().end());
    double best = kNone;
    for_each_content(c.system, types, [&](const std::vector<Count>& content) {
      if (in_domain(c.domain, content)) best = std::max(best, value_of(c, types, content));
    });
    StopPoll poll({});
    ColumnPricer::Best found;
    const Count hint = static_cast<Count>(seed % 7);
    ASSERT_EQ(pricer.best(c.prices, c.domain, hint, poll, found), best > kNone);
    if (best == kNone) {
      ++empty;
      continue;
    }
    ASSERT_TRUE(in_domain(c.domain, found.content));
    Count total = 0;
    for (const Count n : found.content) total += n;
    EXPECT_EQ(found.total, total);
    const double attained = value_of(c, types, found.content);
    const bool waiting_with_premiums =
        premiums && c.system.resource(resource_id(0)).discipline == Discipline::kFcfs;
    if (waiting_with_premiums) {  // only an upper bound is promised
      EXPECT_GE(found.value, best - 1e-10);
    } else {
      EXPECT_NEAR(found.value, best, 1e-10);
      EXPECT_NEAR(attained, best, 1e-10);
    }
    EXPECT_LE(attained, best + 1e-10);
    if (HasFailure()) return;
  }
  EXPECT_EQ(empty > 0, bounds);
}

// A total is kept if one of its contents reaches the threshold, and dropped otherwise.
TEST_P(Pricing, KeepsExactlyTheTotalsThatReachTheThreshold) {
  const auto [premiums, bounds] = GetParam();
  for (std::uint64_t seed = 5000; seed < 6000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const Case c = random_case(seed, premiums, bounds);
    ColumnPricer pricer(c.system, resource_id(0));
    const std::vector<TaskType> types(pricer.types().begin(), pricer.types().end());
    std::vector<double> best(static_cast<std::size_t>(c.system.population()) + 1, kNone);
    for_each_content(c.system, types, [&](const std::vector<Count>& content) {
      if (!in_domain(c.domain, content)) return;
      Count total = 0;
      for (const Count n : content) total += n;
      double& value = best[static_cast<std::size_t>(total)];
      value = std::max(value, value_of(c, types, content));
    });
    RandomStream random(seed, 2);
    const double threshold = random.uniform(-10, 15);
    ColumnDomain domain = c.domain;
    StopPoll poll({});
    pricer.keep_at_least(c.prices, threshold, poll, domain);
    const bool only_bounds = premiums && c.system.resource(resource_id(0)).discipline == Discipline::kFcfs;
    Count before = -1;
    for (const Interval& interval : domain.totals) {  // still disjoint and ascending
      EXPECT_GT(interval.first, before);
      EXPECT_LE(interval.first, interval.last);
      before = interval.last;
    }
    for (std::size_t total = 0; total < best.size(); ++total) {
      const bool kept =
          std::any_of(domain.totals.begin(), domain.totals.end(), [&](const Interval& interval) {
            return interval.first <= static_cast<Count>(total) && static_cast<Count>(total) <= interval.last;
          });
      if (best[total] > threshold + 1e-10) {
        EXPECT_TRUE(kept) << total;
      }
      if (best[total] < threshold - 1e-10 && !only_bounds) {
        EXPECT_FALSE(kept) << total;
      }
    }
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, Pricing,
                         ::testing::Values(std::pair{false, false}, std::pair{false, true},
                                           std::pair{true, false}, std::pair{true, true}),
                         [](const auto& test) {
                           return std::string(test.param.first ? "premiums" : "plain") +
                                  (test.param.second ? "_bounded" : "_whole");
                         });

TEST(ColumnPricer, DomainHoldsEmptyAndEveryDepthAllowed) {
  const auto totals = [](Count min_depth) {
    const System system({{.name = "r", .min_depth = min_depth}},
                        {{.name = "x", .count = 3}, {.name = "y", .count = 2}}, Rates(2, 1, {1, 2}));
    std::vector<Count> result;
    for (const Interval& interval : ColumnPricer(system, resource_id(0)).whole_domain().totals) {
      for (Count total = interval.first; total <= interval.last; ++total) result.push_back(total);
    }
    return result;
  };
  EXPECT_EQ(totals(1), (std::vector<Count>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(totals(3), (std::vector<Count>{0, 3, 4, 5}));
  EXPECT_EQ(totals(5), (std::vector<Count>{0, 5}));
  EXPECT_EQ(totals(6), (std::vector<Count>{0}));
}

// With a billion tasks per type the best content is still found in no time. Price 0.001: one task of the fast
// type alone brings 5 - 0.001, and no other content more.
TEST(ColumnPricer, CopesWithABillionTasks) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const System system({{.name = "r", .discipline = discipline}},
                        {{.name = "x", .count = kMaxCount}, {.name = "y", .count = kMaxCount}},
                        Rates(2, 1, {5, 3}));
    ColumnPricer pricer(system, resource_id(0));
    StopPoll poll({});
    ColumnPricer::Best found;
    const auto start = Clock::now();
    ASSERT_TRUE(pricer.best({{0.001, 0.001}, {}}, pricer.whole_domain(), 1000, poll, found));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(2));
    EXPECT_NEAR(found.value, 4.999, 1e-9);
    EXPECT_EQ(found.total, 1);
  }
}

}  // namespace
}  // namespace allot::detail
