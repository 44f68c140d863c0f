#include "allot/run/presence.hpp"

#include <gmock/gmock.h>

namespace allot {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Change = Presence::Change;
using State = Slot::State;

const Clock::time_point kNow{1h};

std::vector<Slot> slots(std::initializer_list<std::pair<std::size_t, State>> all) {
  std::vector<Slot> slots;
  for (const auto& [resource, state] : all) slots.push_back({resource_id(resource), 0, state});
  return slots;
}

TEST(Presence, AResourceIsPlannedWithoutAfterTwoSecondsAndWithAgainAtOnce) {
  Presence presence(2);
  const auto away = slots({{0, State::kIdle}, {1, State::kOpening}});
  EXPECT_THAT(presence.look(away, kNow), IsEmpty());
  EXPECT_EQ(presence.next(), kNow + 2s);
  EXPECT_THAT(presence.look(away, kNow + 1s), IsEmpty());
  EXPECT_THAT(presence.look(away, kNow + 2s), ElementsAre(Presence::News{resource_id(1), Change::kAway}));
  EXPECT_THAT(presence.look(away, kNow + 3s), IsEmpty());
  EXPECT_EQ(presence.next(), Clock::time_point::max());
  EXPECT_THAT(presence.look(slots({{0, State::kBusy}, {1, State::kBusy}}), kNow + 4s),
              ElementsAre(Presence::News{resource_id(1), Change::kBack}));
}

TEST(Presence, OneSlotIsEnough) {
  Presence presence(1);
  const auto some = slots({{0, State::kGone}, {0, State::kStuck}, {0, State::kIdle}});
  EXPECT_THAT(presence.look(some, kNow), IsEmpty());
  EXPECT_THAT(presence.look(some, kNow + 1h), IsEmpty());
  EXPECT_FALSE(presence.gone(resource_id(0)));
}

TEST(Presence, AResourceThatIsGoneIsNotWaitedForAndMayComeBack) {
  Presence presence(1);
  const auto gone = slots({{0, State::kGone}, {0, State::kGone}});
  EXPECT_THAT(presence.look(gone, kNow), ElementsAre(Presence::News{resource_id(0), Change::kAway}));
  EXPECT_TRUE(presence.gone(resource_id(0)));
  presence.look(slots({{0, State::kOpening}, {0, State::kGone}}), kNow + 1s);
  EXPECT_FALSE(presence.gone(resource_id(0)));
  EXPECT_THAT(presence.look(slots({{0, State::kIdle}, {0, State::kGone}}), kNow + 2s),
              ElementsAre(Presence::News{resource_id(0), Change::kBack}));
}

TEST(Presence, SlotsWhoseTasksCannotBeKilledAreNobody) {
  Presence presence(1);
  const auto stuck = slots({{0, State::kStuck}});
  presence.look(stuck, kNow);
  EXPECT_THAT(presence.look(stuck, kNow + 2s), ElementsAre(Presence::News{resource_id(0), Change::kAway}));
  EXPECT_FALSE(presence.gone(resource_id(0))) << "they may end after all";
}

TEST(Presence, SleepIsNoAbsence) {
  Presence presence(1);
  const auto away = slots({{0, State::kOpening}});
  presence.look(away, kNow);
  presence.slept(100s);
  EXPECT_THAT(presence.look(away, kNow + 101s), IsEmpty());
}

}  // namespace
}  // namespace allot
