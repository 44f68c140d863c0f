// Policies that hold a target: they reach it, keep it, and find the next when the population changes.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/policy/detail/target_policy.hpp"
#include "allot/policy/policy.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/amount.hpp"
#include "tests/support/random_systems.hpp"
#include "tests/support/situations.hpp"

namespace allot::target_policies_test {
namespace {

using testing::population_of;
using testing::random_system;
using testing::SystemShape;
using testing::Tasks;
using testing::threads_in_random_order;

constexpr SystemShape kShape{.several_fcfs = true, .priorities = true};

std::vector<const PolicyInfo*> target_policies() {
  std::vector<const PolicyInfo*> result;
  for (const char* name : {"map", "mis", "optimal", "weighted", "fixed"}) {
    result.push_back(find_policy(name));
  }
  return result;
}

std::string policy_name(const ::testing::TestParamInfo<const PolicyInfo*>& info) {
  return std::string(info.param->name);
}

/// A random assignment of the system's threads.
Assignment random_assignment(const System& system, RandomStream& random) {
  Assignment assignment(system.type_count(), system.resource_count());
  for (const TaskType i : system.types()) {
    const auto allowed = system.resources_for(i);
    for (Count n = 0; n < system.count(i); ++n) ++assignment(i, allowed[random.below(allowed.size())]);
  }
  return assignment;
}

std::vector<Count> values(const Assignment& assignment) {
  return {assignment.values().begin(), assignment.values().end()};
}

/// A closed system under a policy, task by task.
class ClosedLoop {
 public:
  ClosedLoop(const System& system, Policy& policy, std::uint64_t seed)
      : policy_(policy), tasks_(system), random_(seed, 9), memory_(policy.memory_size()) {}

  void place(TaskType i) {
    const ResourceId j = policy_.place(i, tasks_.situation(), memory_, random_);
    tasks_.add(i, j);
    where_.push_back({i, j});
  }
  void enter_in_random_order(std::span<const Count> population) {
    for (const TaskType i : threads_in_random_order(population, random_)) place(i);
  }
  /// A task, whichever, ends. Returns its type.
  TaskType complete_one() {
    const std::size_t at = random_.below(where_.size());
    const auto [i, j] = where_[at];
    tasks_.add(i, j, -1);
    where_[at] = where_.back();
    where_.pop_back();
    return i;
  }
  bool empty() const { return where_.empty(); }
  const std::vector<Count>& counts() const { return tasks_.counts(); }
  RandomStream& random() { return random_; }

 private:
  Policy& policy_;
  Tasks tasks_;
  RandomStream random_;
  std::vector<std::uint32_t> memory_;
  std::vector<std::pair<TaskType, ResourceId>> where_;
};

class TargetPolicies : public ::testing::TestWithParam<const PolicyInfo*> {
 protected:
  std::unique_ptr<Policy> make(const System& system, std::uint64_t seed) const {
    RandomStream random(seed, 8);
    PolicyOptions options;
    options.assignment = random_assignment(system, random);
    return GetParam()->make(system, options);
  }
  bool is_fixed() const { return GetParam()->name == "fixed"; }
};

// With fixed types the row sums of counts and target agree once all are placed, so as long as a task is to be
// placed some resource lacks one, and none ever gets more than its target.
TEST_P(TargetPolicies, ReachTheTargetFromTheEmptySystemAndKeepIt) {
  for (std::uint64_t seed = 0; seed < testing::amount(400); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kShape);
    const auto policy = make(system, seed);
    policy->set_population(population_of(system));
    ClosedLoop run(system, *policy, seed);
    run.enter_in_random_order(population_of(system));
    ASSERT_NE(policy->target(), nullptr);
    EXPECT_EQ(run.counts(), values(*policy->target()));
    for (int step = 0; step < 100 && !run.empty(); ++step) {
      run.place(run.complete_one());
      ASSERT_EQ(run.counts(), values(*policy->target()));
    }
  }
}

TEST_P(TargetPolicies, ReachTheNextTargetAfterTheThreadsHaveChangedType) {
  for (std::uint64_t seed = 0; seed < testing::amount(100); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kShape);
    const auto policy = make(system, seed);
    std::vector<Count> population = population_of(system);
    policy->set_population(population);
    ClosedLoop run(system, *policy, seed);
    run.enter_in_random_order(population);
    for (int change = 0; change < 20 && !run.empty(); ++change) {
      const TaskType from = run.complete_one();
      const TaskType to = task_type(run.random().below(system.type_count()));
      --population[index(from)];
      ++population[index(to)];
      policy->set_population(population);
      run.place(to);
    }
    if (is_fixed()) continue;  // its row sums are no longer the counts
    const std::vector<Count> wanted = values(*policy->target());
    for (int step = 0; step < 10'000 && !run.empty() && run.counts() != wanted; ++step)
      run.place(run.complete_one());
    EXPECT_EQ(run.counts(), wanted);
  }
}

TEST_P(TargetPolicies, HoldTheSameForAPopulationWhateverCameBefore) {
  for (std::uint64_t seed = 0; seed < testing::amount(60); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = random_system(seed, kShape);
    const auto travelled = make(system, seed);
    RandomStream random(seed, 7);
    std::vector<std::vector<Count>> populations;
    std::vector<Assignment> targets;
    std::vector<std::vector<double>> shares;
    for (int step = 0; step < 8; ++step) {
      std::vector<Count> population(system.type_count());
      for (Count& n : population) n = static_cast<Count>(random.below(6));
      travelled->set_population(population);
      const auto fresh = make(system, seed);
      fresh->set_population(population);
      EXPECT_EQ(*travelled->target(), *fresh->target());
      for (const TaskType i : system.types()) {
        if (is_fixed()) break;  // holds one for all
        EXPECT_EQ(travelled->target()->row_sum(i), population[index(i)]);
      }
      populations.push_back(population);
      targets.push_back(*travelled->target());
      shares.emplace_back(travelled->time_shares().begin(), travelled->time_shares().end());
    }
    for (std::size_t at = populations.size(); at-- > 0;) {  // all from memory
      travelled->set_population(populations[at]);
      EXPECT_EQ(*travelled->target(), targets[at]);
      EXPECT_EQ(std::vector<double>(travelled->time_shares().begin(), travelled->time_shares().end()),
                shares[at]);
    }
  }
}

TEST_P(TargetPolicies, HoldNoTargetBeforeThePopulationIsSet) {
  const System system = random_system(3, kShape);
  const auto policy = make(system, 3);
  EXPECT_EQ(policy->target(), nullptr);
  EXPECT_TRUE(policy->time_shares().empty());
  EXPECT_TRUE(policy->note().empty());
  EXPECT_FALSE(policy->looks_at_sizes());
}

TEST_P(TargetPolicies, RefuseAPopulationThatCannotBe) {
  const System system({{.name = "a"}},
                      {{.name = "t", .count = 1, .priority = 1.0}, {.name = "never", .priority = 0.0}},
                      Rates(2, 1, {1, 0}));
  const auto policy = make(system, 1);
  policy->set_population(std::vector<Count>{2, 0});
  EXPECT_THROW(policy->set_population(std::vector<Count>{1}), InvalidModel);
  EXPECT_THROW(policy->set_population(std::vector<Count>{-1, 0}), InvalidModel);
  EXPECT_THROW(policy->set_population(std::vector<Count>{1, 1}), InvalidModel);
  ASSERT_NE(policy->target(), nullptr);  // the last that could be
}

INSTANTIATE_TEST_SUITE_P(Policies, TargetPolicies, ::testing::ValuesIn(target_policies()), policy_name);

TEST(SolverPolicies, HoldTheAnswerOfTheirSolver) {
  struct Pair {
    const char* policy;
    const char* solver;
    Objective objective;
  };
  const Pair pairs[] = {{"map", "map", Objective::kThroughput},
                        {"mis", "mis", Objective::kPriority},
                        {"optimal", "exact", Objective::kThroughput},
                        {"weighted", "weighted", Objective::kPriority}};
  for (const Pair& pair : pairs) {
    for (std::uint64_t seed = 0; seed < testing::amount(150); ++seed) {
      SCOPED_TRACE(::testing::Message() << pair.policy << " seed=" << seed);
      SystemShape shape = kShape;
      shape.depths = seed % 2 == 0;
      shape.floors = seed % 3 == 0;
      const System system = random_system(seed, shape);
      bool all_there = true;
      for (const TaskType i : system.types()) all_there &= system.count(i) > 0;
      if (pair.policy == std::string("weighted") && !all_there) continue;  // tested below
      for (const ShareReading reading : {ShareReading::kExact, ShareReading::kFloor}) {
        PolicyOptions options;
        options.shares = reading;
        const auto policy = find_policy(pair.policy)->make(system, options);
        policy->set_population(population_of(system));
        SolveOptions solve_options;
        solve_options.settings.set("shares", reading);
        const Solution solution = solve(*find_solver(pair.solver), {system, pair.objective}, solve_options);
        EXPECT_EQ(*policy->target(), solution.assignment);
        EXPECT_EQ(std::vector<double>(policy->time_shares().begin(), policy->time_shares().end()),
                  solution.time_shares);
        EXPECT_EQ(policy->note().empty(), solution.reason.empty());
      }
    }
  }
}

TEST(OptimalPolicy, HoldsTheBestOfAllStates) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.seed = seed}).system;
    const auto policy = find_policy("optimal")->make(system, {});
    policy->set_population(population_of(system));
    const Solution best = solve(*find_solver("exhaustive"), {system, Objective::kThroughput});
    EXPECT_NEAR(evaluate(system, *policy->target()).throughput, best.performance.throughput, 1e-9);
  }
}

TEST(OptimalPolicy, SaysWhenItsEffortWasTooSmall) {
  const System system = generate({.general = 12, .specialized = 4, .threads = 512, .seed = 1}).system;
  PolicyOptions options;
  options.solve.steps = 0;
  const auto policy = find_policy("optimal")->make(system, options);
  policy->set_population(population_of(system));
  EXPECT_TRUE(is_placement(system, *policy->target()));
  EXPECT_NE(policy->note().find("ended early"), std::string_view::npos) << policy->note();
}

TEST(WeightedPolicy, CompletesTheSharesByItsTimeShares) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.priorities = true, .seed = seed}).system;
    const auto policy = find_policy("weighted")->make(system, {});
    policy->set_population(population_of(system));
    ASSERT_EQ(policy->time_shares().size(), system.type_count() * system.resource_count());
    const Performance performance = evaluate_time_shares(system, policy->time_shares());
    EXPECT_NEAR(*performance.priority_error, 0, 1e-12);
    for (std::size_t at = 0; at < policy->time_shares().size(); ++at) {
      EXPECT_LE(policy->time_shares()[at], static_cast<double>(policy->target()->values()[at]) + 1e-9);
    }
  }
}

// While a type has no thread its share cannot be met. The others divide it in proportion, and the policy says
// so.
TEST(WeightedPolicy, DividesTheShareOfATypeThatIsNotThere) {
  const System system({{.name = "a"}, {.name = "b"}},
                      {{.name = "s", .count = 3, .priority = 0.3},
                       {.name = "t", .count = 3, .priority = 0.1},
                       {.name = "u", .count = 3, .priority = 0.6}},
                      Rates(3, 2, {4, 1, 2, 3, 1, 1}));
  const auto policy = find_policy("weighted")->make(system, {});
  policy->set_population(std::vector<Count>{3, 3, 0});
  const Performance performance = evaluate_time_shares(system, policy->time_shares());
  EXPECT_NEAR(performance.shares[0], 0.75, 1e-9);
  EXPECT_NEAR(performance.shares[1], 0.25, 1e-9);
  EXPECT_NE(policy->note().find("'u'"), std::string_view::npos) << policy->note();
  policy->set_population(std::vector<Count>{3, 3, 3});
  EXPECT_TRUE(policy->note().empty()) << policy->note();
  policy->set_population(std::vector<Count>{0, 0, 0});
  EXPECT_FALSE(policy->note().empty());
}

TEST(PlannedPolicy, DividesTheShareOfATypeThatIsNotThere) {
  // In live work a type may have no task left. Its share cannot be met, and nothing else would be planned.
  const System system(
      {{.name = "cpu"}, {.name = "gpu"}},
      {{.name = "a", .count = 0, .priority = 0.4}, {.name = "b", .count = 4, .priority = 0.6}},
      Rates(2, 2, {1, 2, 3, 4}));
  PolicyOptions options;
  options.objective = Objective::kPriority;
  const auto policy = find_policy("planned")->make(system, options);
  EXPECT_THAT(policy->note(), ::testing::HasSubstr("no thread of 'a' is in the system"));
  EXPECT_THAT(policy->planned_service(),
              ::testing::ElementsAre(0, 0, ::testing::DoubleEq(1), ::testing::DoubleEq(1)));
  policy->set_population(std::vector<Count>{4, 4});
  EXPECT_GT(policy->planned_service()[0] + policy->planned_service()[1], 0);
  EXPECT_EQ(policy->note(), "");
}

TEST(SolverPolicies, NoteAnInfeasibleTargetAndPlaceAllTheSame) {
  const System shallow({{.name = "device", .min_depth = 5}}, {{.name = "t", .count = 2, .priority = 1.0}},
                       Rates(1, 1, {1}));
  const System slow({{.name = "cpu"}}, {{.name = "t", .count = 2, .priority = 1.0, .floor = 9.0}},
                    Rates(1, 1, {1}));
  for (const System* system : {&shallow, &slow}) {
    for (const PolicyInfo* info : target_policies()) {
      if (info->name == "fixed") continue;
      SCOPED_TRACE(info->name);
      const auto policy = info->make(*system, {});
      policy->set_population(population_of(*system));
      EXPECT_FALSE(policy->note().empty());
      EXPECT_EQ(policy->target()->row_sum(TaskType{0}), 2);
      RandomStream random(1);
      EXPECT_EQ(policy->place(TaskType{0}, Tasks(*system).situation(), {}, random), ResourceId{0});
      policy->set_population(std::vector<Count>{0});
    }
  }
}

TEST(FixedPolicy, PlacesByShortfallWhenTheCountsAreNotItsRowSums) {
  const System system({{.name = "a"}, {.name = "b"}, {.name = "c"}}, {{.name = "t", .count = 4}},
                      Rates(1, 3, {3, 2, 1}));
  PolicyOptions options;
  options.assignment = Assignment(1, 3);
  (*options.assignment)(TaskType{0}, ResourceId{0}) = 1;
  (*options.assignment)(TaskType{0}, ResourceId{1}) = 3;
  const auto policy = find_policy("fixed")->make(system, options);
  policy->set_population(std::vector<Count>{4});
  EXPECT_TRUE(policy->note().empty());
  policy->set_population(std::vector<Count>{6});
  EXPECT_NE(policy->note().find("4 threads of 't', there are 6"), std::string_view::npos) << policy->note();
  EXPECT_EQ(*policy->target(), *options.assignment);
  ClosedLoop run(system, *policy, 1);
  const std::vector<std::vector<Count>> expected{{0, 1, 0}, {0, 2, 0}, {1, 2, 0}, {1, 3, 0},
                                                 {2, 3, 0}, {2, 4, 0}, {2, 4, 1}};
  // The shortfalls begin as (1, 3, 0); ties go to the lowest index.
  for (const std::vector<Count>& counts : expected) {
    run.place(TaskType{0});
    EXPECT_EQ(run.counts(), counts);
  }
}

TEST(TargetPolicy, LeavesHomeUnderAnOpenLoadForAFreeServerThatEndsTheTaskSoonerAlone) {
  const System system({{.name = "fast"}, {.name = "slow"}},
                      {{.name = "a", .count = 1, .priority = 1}, {.name = "b", .count = 1, .priority = 1}},
                      Rates(2, 2, {10, 4, 1, 10}));
  PolicyOptions options;
  options.load = Load::kOpen;
  RandomStream random(1);
  for (const char* const name : {"map", "mis", "optimal", "weighted"}) {
    SCOPED_TRACE(name);
    const auto policy = find_policy(name)->make(system, options);
    policy->set_population(population_of(system));
    EXPECT_EQ(policy->target(), nullptr);
    EXPECT_TRUE(policy->time_shares().empty());
    const auto placed = [&](std::vector<Count> tasks) {  // of a and of b, at the fast and at the slow
      const std::vector<Count> totals{tasks[0] + tasks[2], tasks[1] + tasks[3]};
      return policy->place(TaskType{0}, {&system, tasks, totals, {}}, {}, random);
    };
    EXPECT_EQ(placed({0, 0, 0, 0}), ResourceId{0});
    EXPECT_EQ(placed({1, 0, 0, 0}), ResourceId{0});  // 0.2 seconds, there 0.25
    EXPECT_EQ(placed({2, 0, 0, 0}), ResourceId{1});  // 0.3 seconds
    EXPECT_EQ(placed({9, 0, 0, 1}), ResourceId{0});  // no server is free there
    EXPECT_EQ(placed({0, 0, 1, 0}), ResourceId{1});  // 1.1 seconds behind what is slow here
  }
}

TEST(TargetPolicy, AsksOnceForEachPopulation) {
  const System system({{.name = "a"}, {.name = "b"}}, {{.name = "s"}, {.name = "t"}},
                      Rates(2, 2, {1, 1, 1, 1}));
  int asked = 0;
  const auto policy = detail::make_target_policy(system, [&](const System& populated) {
    ++asked;
    return detail::Target{home_assignment(populated), {}, {}};
  });
  for (int round = 0; round < 3; ++round) {
    for (Count n = 0; n < 50; ++n) policy->set_population(std::vector<Count>{n, 50 - n});
  }
  EXPECT_EQ(asked, 50);
}

TEST(TargetPolicy, ForgetsOldPopulationsRatherThanGrowWithoutBound) {
  const System system({{.name = "a"}}, {{.name = "t"}}, Rates(1, 1, {1}));
  Count asked = 0;
  const auto policy = detail::make_target_policy(system, [&](const System& populated) {
    ++asked;
    return detail::Target{home_assignment(populated), {}, {}};
  });
  constexpr Count kPopulations = 70'000;
  for (Count n = 0; n < kPopulations; ++n) {
    policy->set_population(std::vector<Count>{n});
    ASSERT_EQ((*policy->target())(TaskType{0}, ResourceId{0}), n);
  }
  EXPECT_EQ(asked, kPopulations);
  policy->set_population(std::vector<Count>{0});
  EXPECT_EQ(asked, kPopulations + 1) << "the first was forgotten";
  policy->set_population(std::vector<Count>{kPopulations - 1});
  EXPECT_EQ(asked, kPopulations + 1) << "the last was not";
  EXPECT_EQ((*policy->target())(TaskType{0}, ResourceId{0}), kPopulations - 1);
}

/// A GPU with two streams, each of which a core feeds.
System fed_gpu(Discipline discipline) {
  const Need core{ResourceId{1}, servers_of(ResourceId{0}), 1};
  return System({{.name = "cpu", .servers = 2, .discipline = discipline}, {.name = "gpu", .servers = 2}},
                {{.name = "a", .count = 3, .priority = 1, .needs = {core}},
                 {.name = "b", .count = 3, .priority = 1, .needs = {core}}},
                Rates(2, 2, {1, 9, 2, 4}));
}

TEST(SolverPolicies, HoldTheAnswerOfTheirSolverWhereTasksHaveNeeds) {
  const System system = fed_gpu(Discipline::kPs);
  for (const auto& [name, objective] :
       {std::pair("map", Objective::kThroughput), std::pair("optimal", Objective::kThroughput),
        std::pair("mis", Objective::kPriority)}) {
    SCOPED_TRACE(name);
    const auto policy = find_policy(name)->make(system, {});
    policy->set_population(population_of(system));
    ASSERT_TRUE(is_placement(system, *policy->target()));
    const Solution best = solve(*find_solver("exhaustive"), Problem{system, objective});
    const Performance held = evaluate(system, *policy->target());
    if (objective == Objective::kThroughput) {
      EXPECT_NEAR(held.value, best.performance.value, 1e-9);
    } else {
      EXPECT_NEAR(*held.priority_error, *best.performance.priority_error, 1e-9);
    }
  }
  EXPECT_THROW(find_policy("weighted")->make(system, {}), InvalidModel);
}

TEST(SolverPolicies, HoldATargetOfProcessorSharingWhereNeedsMeetFcfs) {
  for (const char* name : {"map", "optimal", "mis"}) {
    SCOPED_TRACE(name);
    const System system = fed_gpu(Discipline::kFcfs);
    const auto policy = find_policy(name)->make(system, {});
    policy->set_population(population_of(system));
    EXPECT_TRUE(is_placement(system, *policy->target()));
    EXPECT_NE(policy->note().find("is fcfs"), std::string_view::npos) << policy->note();
    const auto shared = find_policy(name)->make(fed_gpu(Discipline::kPs), {});
    shared->set_population(population_of(system));
    EXPECT_EQ(*policy->target(), *shared->target());
  }
}

// What fails must leave the policy as it was.
TEST(TargetPolicy, KeepsItsTargetWhenTheNextCannotBeFound) {
  const System system({{.name = "a"}}, {{.name = "t"}}, Rates(1, 1, {1}));
  const auto policy = detail::make_target_policy(system, [&](const System& populated) {
    if (populated.population() == 2) throw InvalidModel("tasks", "two is too many");
    return detail::Target{home_assignment(populated), {}, {}};
  });
  policy->set_population(std::vector<Count>{1});
  EXPECT_THROW(policy->set_population(std::vector<Count>{2}), InvalidModel);
  EXPECT_EQ(policy->target()->row_sum(TaskType{0}), 1);
}

}  // namespace
}  // namespace allot::target_policies_test
