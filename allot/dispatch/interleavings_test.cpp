// What threads do without a lock, in every order of their steps: nothing is counted twice, freed too early or
// read half written. Each is shown to be noticed when it is broken.
#include "tests/support/interleavings.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/dispatch/detail/by_slot.hpp"
#include "allot/dispatch/detail/places.hpp"
#include "allot/dispatch/detail/published.hpp"
#include "allot/dispatch/detail/sample_ring.hpp"
#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot {
namespace {

using detail::kNowhere;
using detail::kOwnSlots;
using testing::Fault;
using testing::Interleavings;
using testing::Stepped;

constexpr TaskType kType = task_type(0);
constexpr ResourceId kFirst = resource_id(0);
constexpr std::size_t kResources = 2;

#if defined(__SANITIZE_THREAD__)
#define ALLOT_NEEDS_CONTEXTS GTEST_SKIP() << "the thread sanitizer does not follow contexts"
#else
#define ALLOT_NEEDS_CONTEXTS
#endif

// ---- places

using Places = detail::Places<Stepped>;

/// Tasks of one type, and how many there are to be at each resource.
struct Held {
  std::vector<Count> target;
  Places places{1, kResources};
  bool is_right = true;  ///< nothing has gone where enough was
  int nowhere = 0;

  explicit Held(std::vector<Count> wanted) : target(std::move(wanted)) {}

  /// Where the most is missing; nowhere if nothing is.
  void place(std::size_t slot) {
    std::vector<Count> row(kResources);
    const ResourceId j = places.take(kType, row, slot, [&] {
      const ResourceId best = resource_id(target[1] - row[1] > target[0] - row[0] ? 1 : 0);
      return target[index(best)] > row[index(best)] ? best : kNowhere;
    });
    nowhere += j == kNowhere ? 1 : 0;
  }
  void complete(ResourceId j, std::size_t slot) { places.leave(kType, j, slot); }
  /// As many as are counted, one by one.
  void begin(std::vector<Count> tasks) {
    for (std::size_t j = 0; j < kResources; ++j) {
      for (Count n = 0; n < tasks[j]; ++n) places.add(kType, resource_id(j));
    }
  }
  bool has(std::vector<Count> tasks) const {
    for (std::size_t j = 0; j < kResources; ++j) {
      if (places.count(kType, resource_id(j)) != tasks[j]) return false;
    }
    return true;
  }
};

/// Two threads end a task and place the next, and a third takes a place that was free before.
Interleavings::Scenario two_loops_and_a_newcomer() {
  const auto held = std::make_shared<Held>(std::vector<Count>{2, 1});
  held->begin({2, 1});
  held->complete(kFirst, 3);  // by a thread that sleeps since
  return {{[held] {
             held->complete(resource_id(0), 0);
             held->place(0);
           },
           [held] {
             held->complete(resource_id(1), 1);
             held->place(1);
           },
           [held] { held->place(2); }},
          [held] {
            return held->nowhere == 0 && held->has({2, 1});
          }};
}

/// Two places are free, but only one more task is wanted: another plan has come.
Interleavings::Scenario two_for_one_place() {
  const auto held = std::make_shared<Held>(std::vector<Count>{2, 0});
  held->begin({3, 0});
  held->complete(kFirst, 0);
  held->complete(kFirst, 1);
  return {{[held] { held->place(2); }, [held] { held->place(3); }}, [held] {
            return held->nowhere == 1 && held->has({2, 0});
          }};
}

/// The thread that has freed a place and another one want it.
Interleavings::Scenario owner_and_thief() {
  const auto held = std::make_shared<Held>(std::vector<Count>{2, 0});
  held->begin({2, 0});
  held->complete(kFirst, 0);
  return {{[held] { held->place(0); }, [held] { held->place(1); }, [held] { held->place(kOwnSlots); }},
          [held] {
            return held->nowhere == 2 && held->has({2, 0});
          }};
}

/// Nothing is held: all go through the cells.
Interleavings::Scenario newcomers() {
  const auto held = std::make_shared<Held>(std::vector<Count>{1, 2});
  return {{[held] { held->place(0); }, [held] { held->place(1); }, [held] { held->place(2); }}, [held] {
            return held->nowhere == 0 && held->has({1, 2});
          }};
}

TEST(Interleavings, PlacesAreTakenOnceAndFound) {
  ALLOT_NEEDS_CONTEXTS;
  for (const auto scenario : {two_loops_and_a_newcomer, two_for_one_place, owner_and_thief, newcomers}) {
    Interleavings sound;
    EXPECT_TRUE(sound.all_hold(scenario)) << sound.orders();
    EXPECT_GT(sound.orders(), 5U);
    EXPECT_FALSE(Interleavings(Fault::kTornSwap).all_hold(scenario));
    EXPECT_TRUE(Interleavings(Fault::kRelaxed).all_hold(scenario));  // they are relaxed anyway
  }
}

/// Whatever was there before, and whoever holds what: no more tasks than wanted, or than there were.
TEST(Interleavings, NoTargetIsOvershotFromAnyStart) {
  ALLOT_NEEDS_CONTEXTS;
  std::size_t orders = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    Interleavings explorer;
    const auto scenario = [&] {
      RandomStream random(seed, 29);
      const auto draw = [&](std::uint64_t below) { return static_cast<Count>(random.below(below)); };
      const auto held = std::make_shared<Held>(std::vector<Count>{draw(3), draw(3)});
      held->begin({2, 2});
      std::vector<Count> most{2, 2};
      for (std::size_t slot = 0; slot < 3; ++slot) {
        if (draw(3) == 0) continue;
        const auto j = static_cast<std::size_t>(draw(2));
        if (held->places.count(kType, resource_id(j)) == 0) continue;
        held->complete(resource_id(j), slot);
        --most[j];
      }
      for (std::size_t j = 0; j < kResources; ++j) most[j] = std::max(most[j], held->target[j]);
      Interleavings::Scenario result;
      for (std::size_t t = 0; t < 2; ++t) {
        const std::size_t slot = static_cast<std::size_t>(draw(4));
        const bool owns = slot == t;  // a slot has one thread
        result.threads.push_back([held, slot = owns ? slot : t + 3] { held->place(slot); });
      }
      result.holds = [held, most] {
        for (std::size_t j = 0; j < kResources; ++j) {
          if (held->places.count(kType, resource_id(j)) > most[j]) return false;
        }
        return true;
      };
      return result;
    };
    EXPECT_TRUE(explorer.all_hold(scenario));
    orders += explorer.orders();
  }
  EXPECT_GT(orders, 60U);
}

// ---- what is published

/// Says whether it is there. Its memory stays, so that who comes too late can still be told.
struct Watched {
  explicit Watched(Stepped<bool>& flag) : is_there(&flag) {}
  ~Watched() { is_there->exchange(false, std::memory_order_relaxed); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  static void* operator new(std::size_t, void* room) { return room; }
  static void operator delete(void*) {}
  static void operator delete(void*, void*) {}
  Stepped<bool>* is_there;
};

/// With a slot of each kind.
using Published = detail::Published<Watched, Stepped, 1, 1>;

/// A reader looks twice while a writer replaces the value twice.
Interleavings::Scenario reader_and_writer(std::size_t slot) {
  struct Room {
    Stepped<bool> is_there{true};
    alignas(Watched) std::byte memory[sizeof(Watched)];
    std::unique_ptr<Watched> make() { return std::unique_ptr<Watched>(new (memory) Watched(is_there)); }
  };
  struct State {
    Room rooms[3];
    Published published{rooms[0].make()};
    bool is_right = true;
  };
  const auto state = std::make_shared<State>();
  return {{[state, slot] {
             for (int look = 0; look < 2; ++look) {
               const Published::Reader reader(state->published, slot);
               state->is_right &= reader->is_there->load(std::memory_order_relaxed);
             }
           },
           [state] {
             state->published.replace(state->rooms[1].make());
             state->published.replace(state->rooms[2].make());
           }},
          [state] { return state->is_right; }};
}

// ---- the ring

/// Two numbers that belong together, written one after the other.
struct Halves {
  Stepped<int> one;
  Stepped<int> other;
  Halves() = default;
  explicit Halves(int value) : one(value), other(value) {}
  Halves& operator=(const Halves& from) {
    one.store(from.one.load(std::memory_order_relaxed), std::memory_order_relaxed);
    other.store(from.other.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }
};

/// So many threads put one item each into a ring for two, while one takes out.
Interleavings::Scenario ring_of_two(int putters, bool alone) {
  struct State {
    detail::Ring<Halves, 2, Stepped> ring;
    int in = 0;
    int out = 0;
    bool is_right = true;
    void take() {
      Halves item;
      while (ring.take(item)) {
        is_right &= item.one.load() == item.other.load() && item.one.load() != 0;
        out += item.one.load();
      }
    }
  };
  const auto state = std::make_shared<State>();
  Interleavings::Scenario scenario;
  for (int t = 1; t <= putters; ++t) {
    scenario.threads.push_back([state, t, alone] {
      for (int k = 0; k < (alone ? 2 : 1); ++k) {
        const Halves item(t);
        if (state->ring.put(item, alone)) state->in += t;
      }
    });
  }
  scenario.threads.push_back([state] { state->take(); });
  scenario.holds = [state] {
    state->take();
    return state->is_right && state->in == state->out;
  };
  return scenario;
}

TEST(Interleavings, TheRingPassesOnWholeItemsOnce) {
  ALLOT_NEEDS_CONTEXTS;
  for (const bool alone : {true, false}) {
    SCOPED_TRACE(alone ? "one puts in" : "two put in");
    const auto scenario = [&] { return ring_of_two(alone ? 1 : 2, alone); };
    Interleavings sound;
    EXPECT_TRUE(sound.all_hold(scenario)) << sound.orders();
    EXPECT_GT(sound.orders(), 5U);
    EXPECT_FALSE(Interleavings(Fault::kRelaxed).all_hold(scenario));
  }
  EXPECT_FALSE(Interleavings(Fault::kTornSwap).all_hold([] { return ring_of_two(2, false); }));
  EXPECT_FALSE(Interleavings().all_hold([] { return ring_of_two(2, true); }));  // they are not alone
}

// ---- what slots have

/// Two threads of a slot that is used for the first time count in it, whoever makes it. A third counts in its
/// own, and looks at all: it misses nothing of a thread that has told it so.
Interleavings::Scenario first_uses() {
  struct Counter {
    Stepped<int> tasks{0};
  };
  struct State {
    detail::BySlot<Counter, Stepped, 2> counters;
    Stepped<bool> told{false};
    bool is_right = true;
    void count(std::size_t slot) {
      Counter* mine = counters.of(slot);
      if (mine == nullptr) mine = counters.put(slot, std::make_unique<Counter>());
      mine->tasks.fetch_add(1, std::memory_order_relaxed);
    }
    int sum(detail::BySlot<Counter, Stepped, 2>::Range range) const {
      int tasks = 0;
      for (const Counter& counter : range) tasks += counter.tasks.load(std::memory_order_relaxed);
      return tasks;
    }
  };
  const auto state = std::make_shared<State>();
  return {{[state] { state->count(0); },
           [state] {
             state->count(0);
             state->told.store(true, std::memory_order_release);
           },
           [state] {
             state->count(1);
             const int least = state->told.load(std::memory_order_acquire) ? 1 : 0;
             const int others = state->sum(state->counters.others(1));
             const int all = state->sum(state->counters.all());
             state->is_right = others >= least && others <= 2 && all > others && all <= 3;
           }},
          [state] {
            return state->is_right && state->sum(state->counters.all()) == 3 &&
                   !state->counters.is_alone(0) && state->sum(state->counters.others(0)) == 1;
          }};
}

TEST(Interleavings, SlotsThatAreUsedForTheFirstTimeLoseNothing) {
  ALLOT_NEEDS_CONTEXTS;
  Interleavings sound;
  EXPECT_TRUE(sound.all_hold(first_uses)) << sound.orders();
  EXPECT_GT(sound.orders(), 5U);
  EXPECT_FALSE(Interleavings(Fault::kTornSwap).all_hold(first_uses));
}

// ---- slots

TEST(Interleavings, ASlotIsOneThreadsAndHandsOnWhatItWrote) {
  ALLOT_NEEDS_CONTEXTS;
  struct State {
    detail::SlotBook<Stepped> slots;
    Stepped<int> counters[2] = {};
    int added = 0;
  };
  const auto scenario = [] {
    const auto state = std::make_shared<State>();
    Interleavings::Scenario result;
    for (int t = 0; t < 2; ++t) {
      result.threads.push_back([state] {
        const std::size_t slot = state->slots.take();
        Stepped<int>& counter = state->counters[slot];
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        state->slots.give_back(slot);
      });
    }
    result.holds = [state] { return state->counters[0].load() + state->counters[1].load() == 2; };
    return result;
  };
  Interleavings sound;
  EXPECT_TRUE(sound.all_hold(scenario)) << sound.orders();
  EXPECT_GT(sound.orders(), 3U);
  EXPECT_FALSE(Interleavings(Fault::kRelaxed).all_hold(scenario));
  EXPECT_FALSE(Interleavings(Fault::kTornSwap).all_hold(scenario));
}

TEST(Interleavings, WhatIsPublishedIsFreedWhenNobodyReadsIt) {
  ALLOT_NEEDS_CONTEXTS;
  for (const std::size_t slot : {0U, 1U}) {
    SCOPED_TRACE(slot);
    const auto scenario = [&] { return reader_and_writer(slot); };
    Interleavings sound;
    EXPECT_TRUE(sound.all_hold(scenario)) << sound.orders();
    EXPECT_GT(sound.orders(), 5U);
  }
  EXPECT_FALSE(Interleavings(Fault::kRelaxed).all_hold([] { return reader_and_writer(0); }));
}

}  // namespace
}  // namespace allot
