// Closed classes, chances and stationary distributions of small chains with known answers.
#include "allot/analyze/detail/markov.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "allot/base/random.hpp"

namespace allot::detail {
namespace {

Generator make_chain(std::size_t states,
                     const std::map<std::pair<std::uint32_t, std::uint32_t>, double>& rates) {
  Generator chain;
  for (std::uint32_t s = 0; s < states; ++s) {
    for (const auto& [edge, rate] : rates) {
      if (edge.first != s) continue;
      chain.target.push_back(edge.second);
      chain.rate.push_back(rate);
    }
    chain.begin.push_back(chain.target.size());
  }
  return chain;
}

/// By elimination and by iteration.
std::vector<std::vector<ClosedClass>> both_ways(const Generator& chain,
                                                const std::vector<std::pair<std::uint32_t, double>>& start) {
  StopPoll poll({});
  return {long_run(chain, start, poll, {1'000'000}), long_run(chain, start, poll, {0})};
}

TEST(Markov, FindsComponentsSuccessorsFirst) {
  const Generator chain =
      make_chain(6, {{{0, 1}, 1}, {{1, 2}, 1}, {{2, 1}, 1}, {{2, 3}, 1}, {{4, 0}, 1}, {{4, 5}, 1}});
  const Components parts = components(chain);
  ASSERT_EQ(parts.members.size(), 5U);
  EXPECT_EQ(parts.of[1], parts.of[2]);
  EXPECT_GT(parts.of[0], parts.of[1]);
  EXPECT_GT(parts.of[1], parts.of[3]);
  EXPECT_GT(parts.of[4], parts.of[0]);
  EXPECT_TRUE(parts.closed[parts.of[3]]);
  EXPECT_TRUE(parts.closed[parts.of[5]]);
  EXPECT_FALSE(parts.closed[parts.of[1]]);
}

// Gambler's ruin with odds: from k of n, the chance of winning is (1 - r^k) / (1 - r^n), r = down / up.
TEST(Markov, GamblersRuinHasItsClosedForm) {
  constexpr std::uint32_t kStakes = 12;
  const double up = 0.7;
  const double down = 1.1;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> rates;
  for (std::uint32_t k = 1; k < kStakes; ++k) {
    rates[{k, k + 1}] = up;
    rates[{k, k - 1}] = down;
  }
  const Generator chain = make_chain(kStakes + 1, rates);
  for (std::uint32_t k = 0; k <= kStakes; ++k) {
    for (const std::vector<ClosedClass>& classes : both_ways(chain, {{k, 1.0}})) {
      ASSERT_EQ(classes.size(), 2U);
      const ClosedClass& won = classes[0].states.front() == kStakes ? classes[0] : classes[1];
      const double r = down / up;
      EXPECT_NEAR(won.chance, (1 - std::pow(r, k)) / (1 - std::pow(r, kStakes)), 1e-11);
      EXPECT_NEAR(classes[0].chance + classes[1].chance, 1, 1e-12);
    }
  }
}

// Birth and death: pi_k in proportion to the products of birth / death.
TEST(Markov, BirthAndDeathHasItsClosedForm) {
  constexpr std::uint32_t kStates = 30;
  RandomStream random(7);
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> rates;
  std::vector<double> weight = {1};
  double sum = 1;
  for (std::uint32_t k = 1; k < kStates; ++k) {
    const double birth = random.uniform(0.01, 10);
    const double death = random.uniform(0.01, 10);
    rates[{k - 1, k}] = birth;
    rates[{k, k - 1}] = death;
    weight.push_back(weight.back() * birth / death);
    sum += weight.back();
  }
  for (const std::vector<ClosedClass>& classes : both_ways(make_chain(kStates, rates), {{3, 1.0}})) {
    ASSERT_EQ(classes.size(), 1U);
    for (std::uint32_t k = 0; k < kStates; ++k) EXPECT_NEAR(classes[0].stationary[k], weight[k] / sum, 1e-9);
  }
}

// A cycle never forgets its phase in discrete time; in continuous time each state has its share of the round.
TEST(Markov, ACycleIsSolvedBothWays) {
  const Generator chain = make_chain(4, {{{0, 1}, 1}, {{1, 2}, 2}, {{2, 3}, 4}, {{3, 0}, 8}});
  for (const std::vector<ClosedClass>& classes : both_ways(chain, {{0, 1.0}})) {
    const double round = 1 + 1.0 / 2 + 1.0 / 4 + 1.0 / 8;
    EXPECT_NEAR(classes[0].stationary[0], 1 / round, 1e-12);
    EXPECT_NEAR(classes[0].stationary[3], 0.125 / round, 1e-12);
  }
}

TEST(Markov, BothWaysAgreeOnRandomChains) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed);
    const std::size_t states = 2 + random.below(40);
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> rates;
    for (std::size_t edge = 0; edge < 2 * states; ++edge) {
      const auto from = static_cast<std::uint32_t>(random.below(states));
      const auto to = static_cast<std::uint32_t>(random.below(states));
      if (from != to) rates[{from, to}] = random.uniform(0.01, 5);
    }
    const auto answers = both_ways(make_chain(states, rates), {{0, 0.5}, {1, 0.5}});
    ASSERT_EQ(answers[0].size(), answers[1].size());
    double chances = 0;
    for (std::size_t c = 0; c < answers[0].size(); ++c) {
      chances += answers[0][c].chance;
      EXPECT_EQ(answers[0][c].states, answers[1][c].states);
      EXPECT_NEAR(answers[0][c].chance, answers[1][c].chance, 1e-9);
      for (std::size_t m = 0; m < answers[0][c].states.size(); ++m)
        EXPECT_NEAR(answers[0][c].stationary[m], answers[1][c].stationary[m], 1e-9);
    }
    EXPECT_NEAR(chances, 1, 1e-11);
  }
}

}  // namespace
}  // namespace allot::detail
