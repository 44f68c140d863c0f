#include "allot/run/batch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace allot {
namespace {

System machine(std::vector<double> rates, std::vector<Count> servers) {
  std::vector<Resource> resources;
  for (std::size_t j = 0; j < servers.size(); ++j) {
    Resource& resource = resources.emplace_back();
    resource.name = "r" + std::to_string(j);
    resource.servers = servers[j];
  }
  const std::size_t types = rates.size() / servers.size();
  std::vector<TaskClass> tasks;
  for (std::size_t i = 0; i < types; ++i) tasks.emplace_back().name = "t" + std::to_string(i);
  return System(resources, tasks, Rates(types, servers.size(), std::move(rates)));
}

TEST(BatchBound, IsTheWorkOverTheServersForOneType) {
  EXPECT_NEAR(batch_bound(machine({2}, {3}), std::vector<Count>{60}).value(), 10, 1e-6);
}

// Two types, two resources, each fast at its own: 30 tasks each at rate 3 take 10 s when nobody helps; with
// rates 1 elsewhere nobody can help, since both end together.
TEST(BatchBound, KeepsEachTypeWhereItIsFastWhenBothEndTogether) {
  EXPECT_NEAR(batch_bound(machine({3, 1, 1, 3}, {1, 1}), std::vector<Count>{30, 30}).value(), 10, 1e-6);
}

// 40 and 20: the second resource is done after 20/3 s and then helps. With T the end, 40 = 3 T + 1 (T -
// 20/3).
TEST(BatchBound, LetsTheIdleOneHelp) {
  EXPECT_NEAR(batch_bound(machine({3, 1, 1, 3}, {1, 1}), std::vector<Count>{40, 20}).value(),
              (40 + 20.0 / 3) / 4, 1e-6);
}

TEST(BatchBound, IsNothingForATypeThatCanRunNowhereAndZeroForNoTasks) {
  const System system = machine({3, 0}, {1});
  EXPECT_FALSE(batch_bound(system, std::vector<Count>{1, 1}));
  EXPECT_DOUBLE_EQ(batch_bound(system, std::vector<Count>{0, 0}).value(), 0);
  EXPECT_NEAR(batch_bound(system, std::vector<Count>{6, 0}).value(), 2, 1e-6);
}

}  // namespace
}  // namespace allot
