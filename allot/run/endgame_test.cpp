#include "allot/run/endgame.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

namespace allot::endgame_test {
namespace {

constexpr ResourceId kFast = resource_id(0);
constexpr ResourceId kSlow = resource_id(1);

TEST(Endgame, LeavesTheSlowOneIdleWhenWaitingForTheFastOneIsSooner) {
  const std::vector<double> seconds = {1, 10};
  const std::vector<Count> left = {2};
  const EndgamePlan plan = plan_endgame(seconds, left, std::vector<EndgameSlot>{{kFast, 0}, {kSlow, 0}}, 2);
  EXPECT_EQ(plan.start[0], task_type(0));
  EXPECT_FALSE(plan.start[1]);
  EXPECT_DOUBLE_EQ(plan.finish, 2);
}

TEST(Endgame, UsesTheSlowOneWhenThatIsSooner) {
  const EndgamePlan plan = plan_endgame(std::vector<double>{1, 3}, std::vector<Count>{4},
                                        std::vector<EndgameSlot>{{kFast, 0.5}, {kSlow, 0}}, 2);
  EXPECT_FALSE(plan.start[0]) << "it is busy";
  EXPECT_EQ(plan.start[1], task_type(0));
  EXPECT_DOUBLE_EQ(plan.finish, 3.5);
}

TEST(Endgame, IgnoresWhatCanRunNowhere) {
  const EndgamePlan plan = plan_endgame(std::vector<double>{0, 0, 2, 0}, std::vector<Count>{5, 1},
                                        std::vector<EndgameSlot>{{kFast, 0}, {kSlow, 0}}, 2);
  EXPECT_EQ(plan.start[0], task_type(1));
  EXPECT_FALSE(plan.start[1]);
  EXPECT_DOUBLE_EQ(plan.finish, 2);
}

TEST(Endgame, HasNothingToSayWithoutSlotsOrTasks) {
  EXPECT_TRUE(plan_endgame(std::vector<double>{1, 1}, std::vector<Count>{3}, {}, 2).start.empty());
  const EndgamePlan plan =
      plan_endgame(std::vector<double>{1, 1}, std::vector<Count>{0}, std::vector<EndgameSlot>{{kFast, 0}}, 2);
  EXPECT_FALSE(plan.start[0]);
  EXPECT_DOUBLE_EQ(plan.finish, 0);
}

/// The least finish time, by trying everything.
double best_finish(const std::vector<double>& seconds, std::vector<Count> left,
                   std::vector<EndgameSlot> slots, std::size_t resources) {
  std::function<double(double)> best = [&](double so_far) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (left[i] == 0) continue;
      double least = 1e300;
      --left[i];
      for (EndgameSlot& slot : slots) {
        const double takes = seconds[i * resources + index(slot.resource)];
        if (!(takes > 0)) continue;
        slot.free_in += takes;
        least = std::min(least, best(std::max(so_far, slot.free_in)));
        slot.free_in -= takes;
      }
      ++left[i];
      return least;
    }
    return so_far;
  };
  return best(0);
}

TEST(Endgame, IsWithinAFifthOfTheBestScheduleAndMostlyEqual) {
  int equal = 0;
  constexpr int kCases = 200;
  for (unsigned seed = 0; seed < kCases; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    std::mt19937 random(seed);
    const std::size_t resources = 2 + random() % 2;
    const std::size_t types = 1 + random() % 3;
    std::vector<double> seconds(types * resources);
    for (double& s : seconds) s = random() % 6 == 0 ? 0 : 1 + static_cast<double>(random() % 9);
    for (std::size_t i = 0; i < types; ++i) seconds[i * resources] = std::max(1.0, seconds[i * resources]);
    std::vector<EndgameSlot> slots;
    for (std::size_t j = 0; j < resources; ++j) {
      slots.push_back({resource_id(j), random() % 2 == 0 ? 0.0 : static_cast<double>(random() % 5)});
    }
    std::vector<Count> left(types);
    for (Count& n : left) n = static_cast<Count>(random() % 4);
    const EndgamePlan plan = plan_endgame(seconds, left, slots, resources);
    const double best = best_finish(seconds, left, slots, resources);
    EXPECT_GE(plan.finish, best - 1e-9) << "better than the best is impossible";
    EXPECT_LE(plan.finish, 1.2 * best + 1e-9);
    equal += plan.finish <= best + 1e-9 ? 1 : 0;
  }
  EXPECT_GE(equal, kCases * 3 / 4);
}

}  // namespace
}  // namespace allot::endgame_test
