// What an observer is told, and that being watched changes nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "allot/simulate/simulate.hpp"
#include "tests/support/small_scenarios.hpp"

namespace allot {
namespace {

using testing::changing_scenario;
using testing::expect_same;
using testing::quick;
using testing::Recorder;
using testing::run;
using testing::small_scenario;

TEST(Simulate, DoesNotChangeWhenWatched) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const char* const policy : {"jsq", "load-balance", "random"}) {
      Recorder recorder;
      SimulateOptions options = quick();
      const SimulationResult unwatched = run(small_scenario(discipline), policy, options);
      options.trace = &recorder;
      expect_same(run(small_scenario(discipline), policy, options), unwatched);
      EXPECT_EQ(recorder.policies, std::vector<std::string>{policy});
    }
  }
}

/// A trace tells a whole story: events in order of time, every task placed once and completed at most once,
/// at one resource, and its response is what the times say.
TEST(Trace, TellsEveryTasksStory) {
  for (const bool changing : {false, true}) {
    for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
      const Scenario scenario = changing ? changing_scenario(discipline) : small_scenario(discipline);
      Recorder recorder;
      SimulateOptions options = quick(1000);
      options.warmup = 50;
      options.trace = &recorder;
      run(scenario, "jsq", options);
      std::map<std::uint64_t, TraceEvent> placed;
      double last = 0;
      int completions = 0;
      for (const TraceEvent& event : recorder.events) {
        EXPECT_GE(event.time, last);
        last = event.time;
        if (event.what == TraceEvent::What::kPlace) {
          EXPECT_TRUE(placed.emplace(event.task, event).second)
              << "task " << event.task << " was placed twice";
          EXPECT_TRUE(scenario.system.can_run(event.type, event.resource));
          EXPECT_GT(event.size, 0);
          continue;
        }
        ASSERT_TRUE(placed.contains(event.task)) << "task " << event.task << " was never placed";
        const TraceEvent& place = placed.at(event.task);
        EXPECT_EQ(place.thread, event.thread);
        EXPECT_EQ(place.type, event.type);
        EXPECT_EQ(place.resource, event.resource);
        EXPECT_EQ(place.size, event.size);
        if (event.what != TraceEvent::What::kComplete) continue;
        EXPECT_NEAR(event.response, event.time - place.time, 1e-9);
        placed.erase(event.task);
        ++completions;
      }
      EXPECT_EQ(completions, 1000);
      if (!changing) {
        EXPECT_EQ(placed.size(), 5U);  // the threads' present tasks
      }
    }
  }
}

/// From a trace that begins in the middle, too, it can be seen at any time who is served: under fcfs as many
/// as there are servers or tasks.
TEST(Trace, TellsWhoWasServedWhenItBegan) {
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    for (const char* const policy : {"jsq", "weighted"}) {
      Recorder recorder;
      SimulateOptions options = quick(300);
      options.warmup = 100;
      options.policy.shares = ShareReading::kFloor;  // nothing idles on purpose
      options.trace = &recorder;
      const Scenario scenario = small_scenario(discipline, true);
      run(scenario, policy, options);
      std::vector<Count> present(2);
      std::vector<Count> served(2);
      std::map<std::uint64_t, double> started;
      for (std::size_t at = 0; at < recorder.events.size(); ++at) {
        const TraceEvent& event = recorder.events[at];
        const std::size_t j = index(event.resource);
        if (event.what == TraceEvent::What::kPlace) ++present[j];
        if (event.what == TraceEvent::What::kStart) {
          ++served[j];
          EXPECT_TRUE(started.emplace(event.task, event.time).second);
        }
        if (event.what == TraceEvent::What::kComplete) {
          --present[j];
          --served[j];
          ASSERT_TRUE(started.contains(event.task)) << "task " << event.task << " never began";
          if (discipline == Discipline::kFcfs) {
            EXPECT_NEAR(event.time - started.at(event.task),
                        event.size * scenario.system.seconds_per_task(event.type, event.resource), 1e-9);
          }
        }
        const bool last_of_moment =
            at + 1 == recorder.events.size() || recorder.events[at + 1].time != event.time;
        if (!last_of_moment || at < 20) continue;  // by then all who were there have been told
        for (std::size_t r = 0; r < 2; ++r) {
          const Count servers = scenario.system.resource(resource_id(r)).servers;
          EXPECT_EQ(served[r], discipline == Discipline::kPs ? present[r] : std::min(servers, present[r]));
        }
      }
    }
  }
}

}  // namespace
}  // namespace allot
