// The exact chain against closed forms, product forms and a naive second implementation.
#include "allot/analyze/analyze.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "tests/support/naive_chain.hpp"
#include "tests/support/oracle.hpp"
#include "tests/support/random_systems.hpp"

namespace allot {
namespace {

using ::testing::HasSubstr;

System make_system(std::vector<Count> counts, std::vector<std::vector<double>> rates,
                   Discipline discipline = Discipline::kPs, std::vector<Count> servers = {}) {
  const std::size_t columns = rates.front().size();
  std::vector<Resource> resources(columns);
  for (std::size_t j = 0; j < columns; ++j) {
    resources[j].name = "r" + std::to_string(j + 1);
    resources[j].discipline = discipline;
    if (!servers.empty()) resources[j].servers = servers[j];
  }
  std::vector<TaskClass> tasks(counts.size());
  std::vector<double> values;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    tasks[i].name = "t" + std::to_string(i + 1);
    tasks[i].count = counts[i];
    values.insert(values.end(), rates[i].begin(), rates[i].end());
  }
  return System(std::move(resources), std::move(tasks), Rates(counts.size(), columns, std::move(values)));
}

const PolicyInfo& policy(std::string_view name) {
  const PolicyInfo* const found = find_policy(name);
  if (found == nullptr) throw std::runtime_error("no policy " + std::string(name));
  return *found;
}

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "nothing thrown";
}

void expect_consistent(const System& system, const Analysis& analysis) {
  double by_task = 0;
  double by_resource = 0;
  for (const double x : analysis.throughput_by_task) by_task += x;
  for (const double x : analysis.throughput_by_resource) by_resource += x;
  EXPECT_NEAR(by_task, analysis.throughput, 1e-9 * analysis.throughput);
  EXPECT_NEAR(by_resource, analysis.throughput, 1e-9 * analysis.throughput);
  double value = 0;
  for (const TaskType i : system.types())
    value += system.task(i).worth * analysis.throughput_by_task[index(i)];
  EXPECT_NEAR(value, analysis.value, 1e-9 * analysis.value);
  if (!system.has_worths()) {
    EXPECT_EQ(analysis.value, analysis.throughput);
  }
  for (const TaskType i : system.types()) {
    double present = 0;
    for (const ResourceId j : system.resource_ids()) {
      present += analysis.occupancy[index(i) * system.resource_count() + index(j)];
    }
    EXPECT_NEAR(present, static_cast<double>(system.count(i)),
                1e-9 * static_cast<double>(system.population()));
  }
  EXPECT_LE(analysis.lowest_throughput, analysis.throughput * (1 + 1e-12));
  EXPECT_GE(analysis.highest_throughput, analysis.throughput * (1 - 1e-12));
  EXPECT_GE(analysis.best_state_probability, 0);
  EXPECT_LE(analysis.best_state_probability, 1);
}

TEST(Analyze, OneTypeOnOneResourceKeepsAllItsUnitsBusy) {
  const System system = make_system({5}, {{3.0}}, Discipline::kPs, {2});
  const Analysis analysis = analyze(system, policy("best-fit"));
  EXPECT_EQ(analysis.states, 1U);
  EXPECT_EQ(analysis.classes, 1U);
  EXPECT_DOUBLE_EQ(analysis.throughput, 6.0);
  EXPECT_DOUBLE_EQ(analysis.response_time, 5.0 / 6.0);
  EXPECT_DOUBLE_EQ(analysis.occupancy[0], 5.0);
  EXPECT_DOUBLE_EQ(analysis.best_state_probability, 1.0);
}

TEST(Analyze, ASystemWithoutThreadsCompletesNothing) {
  const Analysis analysis = analyze(make_system({0, 0}, {{3.0, 1.0}, {1.0, 1.0}}), policy("random"));
  EXPECT_EQ(analysis.states, 1U);
  EXPECT_EQ(analysis.throughput, 0.0);
  EXPECT_EQ(analysis.response_time, 0.0);
}

// One type, two like servers, random placing: the number at the first is a random walk on 0..N with equal
// steps, so it is uniform, and one of the two idles for 2 / (N + 1) of the time.
TEST(Analyze, RandomPlacingOnTwoLikeServersIsAUniformWalk) {
  for (Count threads = 1; threads <= 9; ++threads) {
    const Analysis analysis = analyze(make_system({threads}, {{2.0, 2.0}}), policy("random"));
    EXPECT_EQ(analysis.states, static_cast<std::uint64_t>(threads) + 1);
    const double idle = 2.0 / static_cast<double>(threads + 1);
    EXPECT_NEAR(analysis.throughput, 2.0 * (2.0 - idle), 1e-11);
    EXPECT_NEAR(analysis.best_state_probability, threads == 1 ? 1.0 : 1.0 - idle, 1e-11);
    EXPECT_NEAR(analysis.occupancy[0], static_cast<double>(threads) / 2, 1e-11);
  }
}

// Two threads of unlike types on two resources under JSQ: each lands on an empty one and stays; which one the
// first thread took (the first of the list) decides for ever.
TEST(Analyze, WhoEntersFirstDecidesUnderJsqWithTwoThreads) {
  const System system = make_system({1, 1}, {{10, 3}, {4, 5}});
  const Analysis random = analyze(system, policy("jsq"));
  EXPECT_EQ(random.states, 2U);
  EXPECT_EQ(random.classes, 2U);
  EXPECT_NEAR(random.throughput, 0.5 * (10 + 5) + 0.5 * (4 + 3), 1e-12);
  EXPECT_NEAR(random.lowest_throughput, 7, 1e-12);
  EXPECT_NEAR(random.highest_throughput, 15, 1e-12);
  EXPECT_NEAR(random.best_state_probability, 0.5, 1e-12);
  // The mean response time is the mean over the starts, as in simulations, not Q over the mean throughput.
  EXPECT_NEAR(random.response_time, 0.5 * 2 / 15 + 0.5 * 2 / 7, 1e-12);
  EXPECT_NEAR(random.response_time_by_task[0].value(), 0.5 / 10 + 0.5 / 3, 1e-12);
  EXPECT_NEAR(random.response_time_by_task[1].value(), 0.5 / 5 + 0.5 / 4, 1e-12);
  const Analysis listed = analyze(system, policy("jsq"), {.random_start = false});
  EXPECT_EQ(listed.classes, 1U);
  EXPECT_NEAR(listed.throughput, 15, 1e-12);
}

/// The weight of a state in the product form of a closed network with processor sharing, c servers at each
/// resource and random placing (Baskett, Chandy, Muntz, Palacios 1975).
double product_form_weight(const System& system, const Assignment& n) {
  double log_weight = 0;
  for (const ResourceId j : system.resource_ids()) {
    Count total = 0;
    for (const TaskType i : system.types()) {
      for (Count k = 1; k <= n(i, j); ++k) {
        const double visits = 1.0 / static_cast<double>(system.resources_for(i).size());
        log_weight += std::log(visits / system.rate(i, j) / static_cast<double>(k));
        ++total;
        log_weight += std::log(static_cast<double>(total) /
                               static_cast<double>(std::min(total, system.resource(j).servers)));
      }
    }
  }
  return std::exp(log_weight);
}

void expect_product_form(const System& system) {
  const Analysis analysis = analyze(system, policy("random"));
  double weights = 0;
  std::vector<double> by_task(system.type_count(), 0);
  std::vector<double> occupancy(system.type_count() * system.resource_count(), 0);
  std::uint64_t states = 0;
  testing::for_each_assignment(system, [&](const Assignment& n) {
    ++states;
    const double weight = product_form_weight(system, n);
    weights += weight;
    const testing::Completions x = testing::recomputed_completions(system, n);
    for (std::size_t i = 0; i < by_task.size(); ++i) by_task[i] += weight * static_cast<double>(x.by_task[i]);
    for (std::size_t at = 0; at < occupancy.size(); ++at)
      occupancy[at] += weight * static_cast<double>(n.values()[at]);
  });
  EXPECT_EQ(analysis.states, states);
  EXPECT_EQ(analysis.classes, 1U);
  for (std::size_t i = 0; i < by_task.size(); ++i)
    EXPECT_NEAR(analysis.throughput_by_task[i], by_task[i] / weights, 1e-9 * (1 + by_task[i] / weights));
  for (std::size_t at = 0; at < occupancy.size(); ++at)
    EXPECT_NEAR(analysis.occupancy[at], occupancy[at] / weights, 1e-9 * (1 + occupancy[at] / weights));
  expect_consistent(system, analysis);
}

TEST(Analyze, RandomPlacingHasTheProductForm) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system =
        testing::random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 4, .fcfs = false});
    if (system.population() > 0) expect_product_form(system);
  }
}

// More states than are solved by elimination.
TEST(Analyze, RandomPlacingHasTheProductFormInALargeChain) {
  expect_product_form(
      make_system({8, 8, 6}, {{3, 1, 2}, {1, 2, 0}, {0.5, 4, 1}}, Discipline::kPs, {1, 2, 1}));
}

TEST(Analyze, ThePapersShapeHas1372States) {
  const System system = make_system({6, 6, 6}, {{9, 4, 0}, {3, 7, 0}, {2, 5, 11}});
  EXPECT_EQ(analyze(system, policy("random")).states, 1372U);
  EXPECT_EQ(solve_optimal_control(system).states, 1372U);
}

// JSQ sends a task back to where its predecessor was, so what the start decided stays for ever.
TEST(Analyze, JsqHasThirteenClosedClassesInThePapersShape) {
  const System system = make_system({6, 6, 6}, {{20, 2, 0}, {1, 9, 0}, {3, 4, 8}});
  const Analysis analysis = analyze(system, policy("jsq"));
  EXPECT_EQ(analysis.classes, 13U);
  EXPECT_LT(analysis.lowest_throughput, analysis.throughput);
  EXPECT_GT(analysis.highest_throughput, analysis.throughput);
  expect_consistent(system, analysis);
  const Analysis listed = analyze(system, policy("jsq"), {.random_start = false});
  EXPECT_EQ(listed.classes, 1U);
}

/// Every policy that does not look at sizes, on random systems of every kind, against the naive chain.
void expect_as_naive(const testing::SystemShape& shape, std::uint64_t seeds, std::size_t largest) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const System system = testing::random_system(seed, shape);
    if (system.population() == 0 || system.population() > 6) continue;
    for (const PolicyInfo* info : builtin_policies()) {
      if (info->name == "fixed" || info->name == "weighted" || info->binds_late) continue;
      const std::unique_ptr<Policy> made = info->make(system, {});
      if (made->looks_at_sizes()) continue;
      std::vector<Count> counts;
      for (const TaskType i : system.types()) counts.push_back(system.count(i));
      made->set_population(counts);
      for (const bool random_start : {true, false}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed=" << seed << " policy=" << info->name << " random=" << random_start);
        const testing::NaiveChain naive(system, *made, random_start);
        if (naive.states() > largest) continue;
        const Analysis analysis = analyze(system, *info, {.random_start = random_start});
        EXPECT_LE(analysis.states, naive.states());
        const std::vector<double> x = naive.throughput();
        const std::vector<double> n = naive.occupancy();
        std::vector<double> by_task(system.type_count(), 0);
        std::vector<double> by_resource(system.resource_count(), 0);
        for (std::size_t at = 0; at < x.size(); ++at) {
          by_task[at / system.resource_count()] += x[at];
          by_resource[at % system.resource_count()] += x[at];
          EXPECT_NEAR(analysis.occupancy[at], n[at], 1e-8);
        }
        for (std::size_t i = 0; i < by_task.size(); ++i)
          EXPECT_NEAR(analysis.throughput_by_task[i], by_task[i], 1e-8 * (1 + by_task[i]));
        for (std::size_t j = 0; j < by_resource.size(); ++j)
          EXPECT_NEAR(analysis.throughput_by_resource[j], by_resource[j], 1e-8 * (1 + by_resource[j]));
        expect_consistent(system, analysis);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 100U);
}

TEST(Analyze, RefusesAPolicyWhoseMemoryHasNoEnd) {
  const System system = testing::random_system(3, {});
  try {
    analyze(system, *find_policy("planned"));
    FAIL() << "it has no finite chain";
  } catch (const InvalidModel& error) {
    EXPECT_EQ(error.field(), "policy");
    EXPECT_THAT(error.what(), ::testing::HasSubstr("simulate it"));
  }
}

TEST(Analyze, AgreesWithTheNaiveChainUnderProcessorSharing) {
  expect_as_naive({.max_types = 3, .max_resources = 3, .max_count = 3, .fcfs = false, .priorities = true}, 20,
                  90);
}

TEST(Analyze, AgreesWithTheNaiveChainUnderFcfs) {
  expect_as_naive({.max_types = 3,
                   .max_resources = 3,
                   .max_count = 3,
                   .fcfs = true,
                   .several_fcfs = true,
                   .priorities = true},
                  40, 90);
}

// A fixed assignment under fcfs with one server: each type completes in proportion to its count, whatever the
// order.
TEST(Analyze, AFixedAssignmentHasTheThroughputOfTheModel) {
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(seed, {.max_types = 3, .max_resources = 3, .max_count = 3});
    if (system.population() == 0 || system.population() > 7) continue;
    const Assignment map = solve(*find_solver("map"), {system, Objective::kThroughput}).assignment;
    PolicyOptions options;
    options.assignment = map;
    const Analysis analysis = analyze(system, policy("fixed"), {}, options);
    const Performance model = evaluate(system, map);
    EXPECT_NEAR(analysis.throughput, model.throughput, 1e-9 * model.throughput);
    for (std::size_t i = 0; i < system.type_count(); ++i)
      EXPECT_NEAR(analysis.throughput_by_task[i], model.throughput_by_task[i], 1e-9 * model.throughput);
    ++compared;
  }
  EXPECT_GE(compared, 25U);
}

TEST(Analyze, HoldingTheOptimumIsAlwaysInTheBestState) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.threads = 9, .seed = seed}).system;
    const Analysis analysis = analyze(system, policy("optimal"));
    EXPECT_EQ(analysis.states, 1U);
    EXPECT_NEAR(analysis.throughput, analysis.best_state_throughput, 1e-9 * analysis.throughput);
    EXPECT_DOUBLE_EQ(analysis.best_state_probability, 1.0);
    EXPECT_NEAR(analysis.best_state_throughput, *testing::brute_force(system).max_throughput, 1e-9);
  }
}

TEST(Analyze, RoundRobinRemembersItsPointers) {
  // One thread that alternates between a fast and a slow resource: two states, the pointer being the other
  // place.
  const Analysis analysis = analyze(make_system({1}, {{4.0, 1.0}}), policy("round-robin"));
  EXPECT_EQ(analysis.states, 2U);
  EXPECT_NEAR(analysis.throughput, 2.0 / (1.0 / 4 + 1.0 / 1), 1e-12);
}

/// Time shares make the completions follow the priorities exactly.
TEST(Analyze, WeightedServiceGivesEveryTypeItsShare) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = generate({.threads = 9, .priorities = true, .seed = seed}).system;
    const Analysis analysis = analyze(system, policy("weighted"));
    const Solution solution = solve(*find_solver("weighted"), {system, Objective::kPriority});
    EXPECT_EQ(analysis.states, 1U);
    EXPECT_NEAR(analysis.throughput, solution.performance.throughput, 1e-9 * analysis.throughput);
    for (std::size_t i = 0; i < system.type_count(); ++i)
      EXPECT_NEAR(analysis.throughput_by_task[i] / analysis.throughput, system.shares()[i], 1e-7);
    PolicyOptions floor;
    floor.shares = ShareReading::kFloor;
    EXPECT_GE(analyze(system, policy("weighted"), {}, floor).throughput, analysis.throughput * (1 - 1e-9));
  }
}

TEST(Analyze, FloorsAndDepthsDoNotChangeWhatTheBestStateIs) {
  std::vector<Resource> resources(2);
  resources[0].name = "a";
  resources[1].name = "b";
  resources[1].min_depth = 3;
  std::vector<TaskClass> tasks(1);
  tasks[0] = {"t", 4, {}, {}, 1.0};
  const System system(resources, tasks, Rates(1, 2, {5, 1}));
  EXPECT_DOUBLE_EQ(analyze(system, policy("jsq")).best_state_throughput, 6.0);
}

TEST(Analyze, RefusesTooManyStatesWithTheirNumber) {
  const System system = make_system({6, 6, 6}, {{9, 4, 0}, {3, 7, 0}, {2, 5, 11}});
  const std::string message =
      message_of([&] { analyze(system, policy("random"), {.max_states = 1000, .random_start = false}); });
  EXPECT_THAT(message, HasSubstr("1,000 states"));
  EXPECT_THAT(message, HasSubstr("1,372 assignments in all"));
  EXPECT_THAT(message_of([&] { analyze(system, policy("random"), {.max_states = 10}); }),
              HasSubstr("random order"));
  EXPECT_THAT(message_of([&] { solve_optimal_control(system, {.max_states = 1371}); }),
              HasSubstr("1,372 states"));
}

TEST(Analyze, RefusesAPolicyThatLooksAtSizes) {
  const System system = make_system({2}, {{1.0, 2.0}});
  EXPECT_THAT(message_of([&] { analyze(system, policy("load-balance")); }),
              HasSubstr("'load-balance' looks at task sizes"));
}

TEST(Analyze, RefusesTimeSharesOnAQueue) {
  const System system =
      generate({.threads = 9, .priorities = true}).system.with_discipline(Discipline::kFcfs);
  EXPECT_THAT(message_of([&] { analyze(system, policy("weighted")); }), HasSubstr("only under ps"));
}

TEST(Analyze, StopsWhenAsked) {
  const StopFlag stop{true};
  const System system = make_system({6, 6, 6}, {{9, 4, 0}, {3, 7, 0}, {2, 5, 11}});
  EXPECT_EQ(analyze(system, policy("random"), {.stop = {{}, &stop}}).stopped, StopReason::kInterrupted);
  EXPECT_EQ(solve_optimal_control(system, {.stop = {{}, &stop}}).stopped, StopReason::kInterrupted);
}

/// To resource 0, whatever the type.
class First final : public Policy {
 public:
  ResourceId place(TaskType, const Situation&, PolicyMemory, RandomStream&) const noexcept override {
    return resource_id(0);
  }
};

// A thread that alternates between two types at one resource spends 1 / mu on each in turn.
TEST(Analyze, ThreadsMayChangeTheirType) {
  const System system = make_system({0, 0}, {{4.0}, {1.0}});
  const std::vector<ThreadGroup> one = {{1, {task_type(0), task_type(1)}}};
  EXPECT_NEAR(analyze(system, one, First()).throughput, 2 / (1.0 / 4 + 1.0), 1e-12);
  // With three of them under ps: by the product form, each task is of type i with probability in proportion
  // to 1 / mu_i.
  const std::vector<ThreadGroup> three = {{3, {task_type(0), task_type(1)}}};
  const Analysis analysis = analyze(system, three, First());
  EXPECT_EQ(analysis.states, 4U);
  EXPECT_NEAR(analysis.throughput_by_task[0], analysis.throughput_by_task[1], 1e-12);
  EXPECT_NEAR(analysis.occupancy[0] / analysis.occupancy[1], 0.25, 1e-12);
  EXPECT_NEAR(analysis.throughput, 2 / (1.0 / 4 + 1.0), 1e-12);
}

TEST(Analyze, TakesAPolicyThatIsNotBuiltIn) {
  const System system = make_system({2, 2}, {{3, 1}, {1, 2}});
  const NamedPolicy mine{"mine", policy("jsq").make};
  EXPECT_EQ(analyze(system, mine).throughput, analyze(system, policy("jsq")).throughput);
  const NamedPolicy clairvoyant{"clairvoyant", policy("load-balance").make};
  EXPECT_THAT(message_of([&] { analyze(system, clairvoyant); }),
              HasSubstr("'clairvoyant' looks at task sizes"));
}

TEST(Analyze, TellsHowManyStatesItHasFound) {
  std::vector<std::uint64_t> found;
  AnalyzeOptions options;
  options.progress = [&](std::uint64_t states) { found.push_back(states); };
  const Analysis analysis = analyze(generate({.threads = 24}).system, policy("random"), options);
  ASSERT_GE(found.size(), 2U);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  EXPECT_EQ(found.back(), analysis.states);
}

/// The best state is that of the most value, and a policy that holds it is there all the time.
TEST(Analyze, KnowsTheStateOfTheMostValue) {
  std::size_t differ = 0;
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    const System system = testing::random_system(
        seed, {.max_types = 3, .max_resources = 3, .max_count = 4, .fcfs = seed % 2 == 1, .worths = true});
    if (system.population() == 0 || !system.has_worths()) continue;
    long double best = 0;
    testing::for_each_assignment(system, [&](const Assignment& n) {
      best = std::max(best, testing::recomputed_completions(system, n).value);
    });
    const Analysis held = analyze(system, policy("optimal"));
    expect_consistent(system, held);
    EXPECT_NEAR(held.best_state_value, static_cast<double>(best), 1e-9 * held.best_state_value);
    EXPECT_NEAR(held.value, held.best_state_value, 1e-9 * held.value);
    EXPECT_DOUBLE_EQ(held.best_state_probability, 1.0);
    const Analysis random = analyze(system, policy("random"));
    expect_consistent(system, random);
    const System plain = system.with_worths(std::vector<double>(system.type_count(), 1.0));
    differ +=
        analyze(plain, policy("random")).best_state_probability != random.best_state_probability ? 1 : 0;
    ++compared;
  }
  EXPECT_GE(compared, 30U);
  EXPECT_GE(differ, 5U);
}

/// A task on the gpu holds the one core of the cpu, on which another runs; one type may be at either.
System fed_gpu(Discipline cpu) {
  std::vector<Resource> machine(2);
  machine[0].name = "cpu";
  machine[0].discipline = cpu;
  machine[1].name = "gpu";
  std::vector<TaskClass> tasks(2);
  tasks[0].name = "scan";
  tasks[0].count = 1;
  tasks[1].name = "train";
  tasks[1].count = 1;
  tasks[1].needs = {{resource_id(1), servers_of(resource_id(0)), 1}};
  return System(std::move(machine), std::move(tasks), Rates(2, 2, {4, 0, 3, 2}));
}

// At random, train is at either with probability 1/2 after each completion. Both share the core in either
// state, at speeds 1/2: train completes at rate 3/2 on the cpu and 1 on the gpu, so it is at the cpu 2/5 of
// the time.
TEST(AnalyzeNeeds, HasTheSpeedsOfEvenSharing) {
  const Analysis chain = analyze(fed_gpu(Discipline::kPs), *find_policy("random"));
  EXPECT_NEAR(chain.occupancy[2], 0.4, 1e-12);
  EXPECT_NEAR(chain.throughput_by_task[0], 2, 1e-12);
  EXPECT_NEAR(chain.throughput_by_task[1], 0.4 * 1.5 + 0.6 * 1, 1e-12);
  EXPECT_NEAR(optimal_control(fed_gpu(Discipline::kPs)), 3.5, 1e-8);
}

TEST(AnalyzeNeeds, RefusesThoseThatMeetFcfs) {
  const System system = fed_gpu(Discipline::kFcfs);
  try {
    analyze(system, *find_policy("random"));
    FAIL() << "taken";
  } catch (const InvalidModel& error) {
    EXPECT_THAT(error.what(), HasSubstr("is fcfs"));
  }
  EXPECT_THROW(solve_optimal_control(system), InvalidModel);
}

}  // namespace
}  // namespace allot
