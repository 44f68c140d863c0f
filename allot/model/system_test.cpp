#include "allot/model/system.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <limits>

#include "allot/base/error.hpp"

namespace allot::system_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// What a System is made of, to be spoilt one field at a time.
struct Parts {
  std::vector<Resource> resources{
      {.name = "cpu"}, {.name = "gpu"}, {.name = "dsp", .kind = Kind::kSpecialized}};
  std::vector<TaskClass> tasks{{.name = "sort", .count = 4}, {.name = "fft", .count = 2}};
  std::vector<double> rates{9, 2, 0, 3, 3, 8};

  System build() const { return System(resources, tasks, Rates(tasks.size(), resources.size(), rates)); }
};

std::string refused_field(const std::function<void(Parts&)>& spoil) {
  Parts parts;
  spoil(parts);
  try {
    parts.build();
  } catch (const InvalidModel& error) {
    return error.field();
  }
  return "accepted";
}

TEST(System, AcceptsTheUnspoiltParts) {
  EXPECT_EQ(refused_field([](Parts&) {}), "accepted");
}

TEST(System, NeedsResourcesTasksAndAMatrixOfTheirShape) {
  EXPECT_EQ(refused_field([](Parts& p) { p.resources.clear(), p.rates.clear(); }), "resources");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks.clear(), p.rates.clear(); }), "tasks");
  const Parts parts;
  EXPECT_THROW(System(parts.resources, parts.tasks, Rates(3, 2, parts.rates)), InvalidModel);
  EXPECT_THROW(System(parts.resources, parts.tasks, Rates(2, 2, {1, 1, 1, 1})), InvalidModel);
}

TEST(System, RefusesEmptyAndDuplicateNames) {
  EXPECT_EQ(refused_field([](Parts& p) { p.resources[1].name = ""; }), "resources[1].name");
  EXPECT_EQ(refused_field([](Parts& p) { p.resources[2].name = "cpu"; }), "resources[2].name");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[0].name = ""; }), "tasks[0].name");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].name = "sort"; }), "tasks[1].name");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].name = "cpu"; }),
            "accepted");  // a task may share a resource's
}

TEST(System, RefusesServersAndDepthsOutOfRange) {
  for (const Count bad : {Count{0}, Count{-1}, kMaxCount + 1}) {
    EXPECT_EQ(refused_field([&](Parts& p) { p.resources[1].servers = bad; }), "resources[1].servers") << bad;
    EXPECT_EQ(refused_field([&](Parts& p) { p.resources[0].min_depth = bad; }), "resources[0].min_depth")
        << bad;
  }
  EXPECT_EQ(refused_field([](Parts& p) { p.resources[1].servers = kMaxCount; }), "accepted");
  EXPECT_EQ(refused_field([](Parts& p) { p.resources[1].min_depth = kMaxCount; }), "accepted");
}

TEST(System, RefusesPowersThatAreNegativeOrNotFinite) {
  for (const double bad : {-1.0, kInf, kNan}) {
    EXPECT_EQ(refused_field([&](Parts& p) { p.resources[2].power = bad; }), "resources[2].power") << bad;
    EXPECT_EQ(refused_field([&](Parts& p) { p.resources[2].idle_power = bad; }), "resources[2].idle_power")
        << bad;
  }
  EXPECT_EQ(refused_field([](Parts& p) { p.resources[2].power = 0; }), "accepted");
}

TEST(System, RefusesAnAcceleratorThatTwoTypesCanUse) {
  EXPECT_EQ(refused_field([](Parts& p) { p.rates[2] = 1; }), "resources[2].kind");
  EXPECT_EQ(refused_field([](Parts& p) { p.rates[5] = 0; }),
            "accepted");  // one that nobody uses is merely useless
}

TEST(System, RefusesCountsOutOfRange) {
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].count = -1; }), "tasks[1].count");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].count = kMaxCount + 1; }), "tasks[1].count");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].count = 0; }), "accepted");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[1].count = kMaxCount; }), "accepted");
}

TEST(System, RefusesFloorsThatAreNegativeOrNotFinite) {
  for (const double bad : {-1.0, kInf, kNan}) {
    EXPECT_EQ(refused_field([&](Parts& p) { p.tasks[0].floor = bad; }), "tasks[0].floor") << bad;
  }
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[0].floor = 0; }), "accepted");
}

TEST(System, RefusesPrioritiesThatAreNegativeNotFiniteAllZeroOrPartial) {
  const auto with = [](double first, std::optional<double> second) {
    return refused_field([&](Parts& p) { p.tasks[0].priority = first, p.tasks[1].priority = second; });
  };
  EXPECT_EQ(with(-1, 1), "tasks[0].priority");
  EXPECT_EQ(with(1, kInf), "tasks[1].priority");
  EXPECT_EQ(with(kNan, 1), "tasks[0].priority");
  EXPECT_EQ(with(0, 0), "tasks[0].priority");
  EXPECT_EQ(with(1, std::nullopt), "tasks[1].priority");
  EXPECT_EQ(with(1e308, 1e308), "tasks[0].priority");  // their sum would not be finite
  EXPECT_EQ(with(0, 1), "accepted");
}

TEST(System, RefusesAHomeThatDoesNotExistOrCannotRunTheType) {
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[0].home = resource_id(3); }), "tasks[0].home");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[0].home = resource_id(2); }), "tasks[0].home");
  EXPECT_EQ(refused_field([](Parts& p) { p.tasks[0].home = resource_id(1); }), "accepted");
}

TEST(System, RefusesThreadsThatCanRunNowhere) {
  const auto spoil = [](Count count) {
    return refused_field([&](Parts& p) { p.rates = {0, 0, 0, 3, 3, 8}, p.tasks[0].count = count; });
  };
  EXPECT_EQ(spoil(1), "tasks[0].rates");
  EXPECT_EQ(spoil(0), "accepted");
}

TEST(System, HomeIsAsGivenElseTheFastestTheFirstOfEquals) {
  Parts parts;
  EXPECT_EQ(parts.build().home(task_type(0)), resource_id(0));
  EXPECT_EQ(parts.build().home(task_type(1)), resource_id(2));
  parts.rates = {5, 5, 0, 8, 3, 8};
  EXPECT_EQ(parts.build().home(task_type(0)), resource_id(0));
  EXPECT_EQ(parts.build().home(task_type(1)), resource_id(0));
  parts.tasks[1].home = resource_id(1);
  EXPECT_EQ(parts.build().home(task_type(1)), resource_id(1));
  parts.rates = {0, 0, 0, 8, 3, 8};
  parts.tasks[0].count = 0;
  EXPECT_EQ(parts.build().home(task_type(0)), std::nullopt);
}

TEST(System, KnowsWhereEachTypeCanRunAndHowMuchEachResourceCanHold) {
  const System system = Parts().build();
  EXPECT_THAT(system.resources_for(task_type(0)), ElementsAre(resource_id(0), resource_id(1)));
  EXPECT_THAT(system.resources_for(task_type(1)),
              ElementsAre(resource_id(0), resource_id(1), resource_id(2)));
  EXPECT_EQ(system.reach(resource_id(0)), 6);
  EXPECT_EQ(system.reach(resource_id(2)), 2);
  EXPECT_EQ(system.population(), 6);
  EXPECT_FALSE(system.can_run(task_type(0), resource_id(2)));
  EXPECT_EQ(system.seconds_per_task(task_type(1), resource_id(2)), 1.0 / 8);
  EXPECT_EQ(system.seconds_per_task(task_type(0), resource_id(2)), 0.0);
}

TEST(System, SharesAreNormalised) {
  Parts parts;
  EXPECT_THAT(parts.build().shares(), IsEmpty());
  parts.tasks[0].priority = 3;
  parts.tasks[1].priority = 1;
  EXPECT_THAT(parts.build().shares(), ElementsAre(0.75, 0.25));
  parts.tasks[0].priority = 0;
  EXPECT_THAT(parts.build().shares(), ElementsAre(0.0, 1.0));
}

TEST(System, IsApproximateOnlyWhereAnFcfsQueueCanFormBehindSeveralServers) {
  Parts parts;
  EXPECT_FALSE(parts.build().approximate());
  parts.resources[1].servers = 5;  // ps has a formula for any number of servers
  EXPECT_FALSE(parts.build().approximate());
  parts.resources[1].discipline = Discipline::kFcfs;  // six tasks could come to five servers
  EXPECT_TRUE(parts.build().approximate());
  parts.resources[1].servers = 6;  // nobody ever waits
  EXPECT_FALSE(parts.build().approximate());
  parts.resources[1].servers = 1;  // the harmonic mean is exact
  EXPECT_FALSE(parts.build().approximate());
}

TEST(System, IsNotApproximateWhereOneRateServesTheWholeQueue) {
  const auto build = [](double second, Count count, Count depth) {
    return System({{.name = "r", .servers = 2, .discipline = Discipline::kFcfs, .min_depth = depth}},
                  {{.name = "x", .count = 4}, {.name = "y", .count = count}}, Rates(2, 1, {3, second}));
  };
  EXPECT_TRUE(build(5, 1, 1).approximate());
  EXPECT_FALSE(build(3, 1, 1).approximate());  // the same rate
  EXPECT_FALSE(build(5, 0, 1).approximate());  // no threads
  EXPECT_FALSE(build(0, 0, 1).approximate());  // one type alone
  EXPECT_FALSE(build(5, 1, 6).approximate());  // closed: five threads never make a depth of six
}

TEST(System, KnowsWhetherFloorsOrDepthsMatter) {
  Parts parts;
  EXPECT_FALSE(parts.build().has_floors());
  EXPECT_FALSE(parts.build().has_depths());
  parts.tasks[1].floor = 0;
  EXPECT_FALSE(parts.build().has_floors());
  parts.tasks[1].floor = 0.5;
  parts.resources[0].min_depth = 2;
  EXPECT_TRUE(parts.build().has_floors());
  EXPECT_TRUE(parts.build().has_depths());
  EXPECT_EQ(parts.build().floor(task_type(1)), 0.5);
  EXPECT_EQ(parts.build().floor(task_type(0)), 0.0);
}

TEST(System, CopiesWithOneThingChangedEqualOnesBuiltThatWay) {
  const System system = Parts().build();
  const auto built = [](const std::function<void(Parts&)>& change) {
    Parts parts;
    change(parts);
    return parts.build();
  };
  const Count counts[] = {7, 0};
  const System recounted = system.with_counts(counts);
  EXPECT_EQ(recounted, built([](Parts& p) { p.tasks[0].count = 7, p.tasks[1].count = 0; }));
  EXPECT_EQ(recounted.population(), 7);
  EXPECT_EQ(recounted.reach(resource_id(2)), 0);
  EXPECT_EQ(system.with_servers(resource_id(1), 3), built([](Parts& p) { p.resources[1].servers = 3; }));
  EXPECT_EQ(system.with_rate(task_type(0), resource_id(1), 4), built([](Parts& p) { p.rates[1] = 4; }));
  EXPECT_EQ(system.with_discipline(Discipline::kFcfs), built([](Parts& p) {
              for (Resource& resource : p.resources) resource.discipline = Discipline::kFcfs;
            }));
  EXPECT_NE(system, recounted);
}

TEST(System, CopiesAreValidatedToo) {
  const System system = Parts().build();
  const Count too_few[] = {7};
  const Count negative[] = {7, -1};
  EXPECT_THROW(system.with_counts(too_few), InvalidModel);
  EXPECT_THROW(system.with_counts(negative), InvalidModel);
  EXPECT_THROW(system.with_servers(resource_id(0), 0), InvalidModel);
  EXPECT_THROW(system.with_rate(task_type(0), resource_id(0), -1), InvalidModel);
  EXPECT_THROW(system.with_rate(task_type(0), resource_id(2), 1), InvalidModel);  // a second type on the dsp
}

}  // namespace
}  // namespace allot::system_test
