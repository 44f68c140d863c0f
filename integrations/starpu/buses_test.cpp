#include "integrations/starpu/buses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "allot/solve/solver.hpp"

namespace allot::starpu {
namespace {

/// As StarPU writes it, but for the number of nodes: 16 or 32 of them, most of which are not there.
constexpr const char* kRecorded =
    "# to 0\t\tto 1\t\tto 2\t\tto 3\t\t\n"
    "0.000000e+00\t1.051768e+04\t7.997534e+03\tnan\t\n"
    "1.052170e+04\t0.000000e+00\t4.543798e+03\tnan\t\n"
    "7.434276e+03\t4.355589e+03\t0.000000e+00\tnan\t\n"
    "nan\tnan\tnan\tnan\t\n";

TEST(Buses, AreReadFromWhatStarPuHasRecorded) {
  const auto buses = Buses::read(kRecorded);
  ASSERT_TRUE(buses);
  EXPECT_EQ(buses->nodes(), 4U);
  EXPECT_DOUBLE_EQ(buses->megabytes_per_second(0, 1), 10517.68);
  EXPECT_DOUBLE_EQ(buses->megabytes_per_second(2, 0), 7434.276);
  EXPECT_EQ(buses->megabytes_per_second(0, 0), 0) << "no way at all";
  EXPECT_EQ(buses->megabytes_per_second(0, 3), 0) << "no such node";
  EXPECT_EQ(buses->megabytes_per_second(0, 9), 0);
}

TEST(Buses, RefuseWhatIsNoMatrix) {
  for (const char* text : {"", "# to 0\n", "1 2\n3\n", "0.0\tfast\nfast\t0.0\n", "1 2 3\n1 2 3\n"})
    EXPECT_FALSE(Buses::read(text)) << text;
}

std::vector<Device> devices() {
  return {{resource_id(1), "cuda0", 1, 80'000.0}, {resource_id(2), "cuda1", 2, std::nullopt}};
}

TEST(Buses, AndMemoryAreCapacities) {
  const std::vector<Capacity> found = capacities_of(devices());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], (Capacity{.name = "bus cuda0", .amount = 1, .shared = true}));
  EXPECT_EQ(found[1], (Capacity{.name = "memory cuda0", .amount = 80'000}));
  EXPECT_EQ(found[2], (Capacity{.name = "bus cuda1", .amount = 1, .shared = true}));
}

TEST(Buses, AreNeededForAsLongAsTheDataTake) {
  const Buses buses = *Buses::read(kRecorded);
  // 100 MB in and 50 MB back at 20 tasks a second; on the second device at 30.
  const std::vector<double> rates = {1, 20, 30};
  const std::vector<Need> needs = needs_of({100, 50, 120}, devices(), 3, rates, buses);
  ASSERT_EQ(needs.size(), 3U);
  EXPECT_EQ(needs[0].resource, resource_id(1));
  EXPECT_EQ(needs[0].capacity, capacity_id(3));
  EXPECT_NEAR(needs[0].amount, 20 * (100 / 10517.68 + 50 / 10521.70), 1e-9);
  EXPECT_EQ(needs[1], (Need{resource_id(1), capacity_id(4), 120}));
  EXPECT_EQ(needs[2].capacity, capacity_id(5));
  EXPECT_NEAR(needs[2].amount, 30 * (100 / 7997.534 + 50 / 7434.276), 1e-9);
}

TEST(Buses, AreNeededForNoMoreThanAllOfTheTime) {
  const Buses buses = *Buses::read(kRecorded);
  const std::vector<double> rates = {1, 1e6, 0};
  const std::vector<Need> needs = needs_of({100, 50, 1e9}, devices(), 3, rates, buses);
  ASSERT_EQ(needs.size(), 2U) << "where no rate is known, nothing is known of the bus";
  EXPECT_EQ(needs[0].amount, 1);
  EXPECT_EQ(needs[1].amount, 80'000) << "more than there is would be no system";
  EXPECT_TRUE(needs_of({}, devices(), 3, rates, buses).empty());
}

/// Tasks that move much share a bus: the plan puts fewer of them on the device than it has workers for.
TEST(Buses, MakeASystemThatSolversTake) {
  const Buses buses = *Buses::read(kRecorded);
  const std::vector<Device> one = {{resource_id(1), "cuda0", 1, 16'000.0}};
  const std::vector<double> rates = {4, 10};
  TaskClass task{.name = "copying", .count = 8};
  task.needs = needs_of({500, 100, 600}, one, 2, rates, buses);
  const System system({{.name = "cpu", .servers = 8}, {.name = "cuda0", .servers = 4}}, {task},
                      Rates(1, 2, {4, 10}), capacities_of(one));
  const Solution found = solve(*find_solver("exhaustive"), {system});
  const double part = 10 * (500 / 10517.68 + 100 / 10521.70);  // of the bus, for one task
  EXPECT_LT(found.performance.throughput, 4 * 8 + 10 / part + 1e-6);
  EXPECT_LT(found.assignment(task_type(0), resource_id(1)), 4);
}

}  // namespace
}  // namespace allot::starpu
