// Workers that come and go, contexts, and a planner that fails.
#include "tests/starpu/faults.hpp"

namespace allot::starpu {
namespace {

/// StarPU refuses what no worker could ever run. What it accepts may have lost its workers when its turn
/// comes: that waits, with StarPU or with the policy, and nothing else suffers.
TEST_F(StarpuFaults, ATaskWithoutAUsableWorkerWaitsForOneAndNothingElseSuffers) {
  start(allot_starpu_map);
  int workers[] = {0, 1};
  const unsigned context =
      starpu_sched_ctx_create(workers, 2, "pair", STARPU_SCHED_CTX_POLICY_STRUCT, &watching, 0);
  starpu_codelet block = codelet_of("block", wait_at_gate);
  block.can_execute = [](unsigned worker, starpu_task*, unsigned) { return worker == 0 ? 1 : 0; };
  starpu_codelet picky = codelet_of("picky", count_one);
  picky.can_execute = [](unsigned worker, starpu_task*, unsigned) { return worker == 1 ? 1 : 0; };
  starpu_codelet fine = codelet_of("fine", count_one);
  gate = false;
  const auto tagged = [](starpu_tag_t tag) {
    return [tag](starpu_task& task) {
      task.use_tag = 1;
      task.tag_id = tag;
    };
  };
  starpu_tag_declare_deps(2, 1, starpu_tag_t{1});
  ASSERT_EQ(submit(picky, context, tagged(2)), 0);
  ASSERT_EQ(submit(block, context, tagged(1)), 0);
  int leaves[] = {1};
  starpu_sched_ctx_remove_workers(leaves, 1, context);
  gate = true;
  for (int k = 0; k < 10; ++k) ASSERT_EQ(submit(fine, context), 0);
  EXPECT_TRUE(comes_true([] { return executed == 10 && watched->open() == 0; }));
  starpu_sched_ctx_add_workers(leaves, 1, context);
  EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context), 0);
  EXPECT_EQ(executed, 11);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  expect_all_ended(statistics("stats.ctx" + std::to_string(context) + ".json"));
}

/// A task that lost the only worker it can run on waits until that is there again; it is said once.
TEST_F(StarpuFaults, TasksThatLostTheirOnlyWorkerWaitForItsReturn) {
  start(allot_starpu_map);
  int workers[] = {0, 1};
  const unsigned context =
      starpu_sched_ctx_create(workers, 2, "pair", STARPU_SCHED_CTX_POLICY_STRUCT, &watching, 0);
  const auto only_the_second = [](unsigned worker, starpu_task*, unsigned) { return worker == 1 ? 1 : 0; };
  starpu_codelet block = codelet_of("block", wait_at_gate);
  starpu_codelet picky = codelet_of("picky", nap);
  block.can_execute = picky.can_execute = only_the_second;
  gate = false;
  ASSERT_EQ(submit(block, context), 0);
  for (int k = 0; k < 5; ++k) ASSERT_EQ(submit(picky, context), 0);
  ASSERT_TRUE(comes_true([] { return watched->waiting() == 5; }));
  ::testing::internal::CaptureStderr();
  int leaves[] = {1};
  starpu_sched_ctx_remove_workers(leaves, 1, context);
  EXPECT_TRUE(comes_true([] { return watched->waiting() == 0; })) << "in no line any more";
  starpu_sched_ctx_add_workers(leaves, 1, context);
  EXPECT_TRUE(comes_true([] { return watched->waiting() == 5; })) << "in line again";
  gate = true;
  EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context), 0);
  EXPECT_EQ(executed, 5);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("can run the task 'picky'"));
  const json seen = statistics("stats.ctx" + std::to_string(context) + ".json");
  expect_all_ended(seen);
  EXPECT_EQ(seen["parked"], 5);
}

TEST_F(StarpuFaults, TenThousandCodeletsAllRun) {
  start(allot_starpu_map);
  std::vector<starpu_codelet> codelets(10'000, codelet_of("one of many", count_one));
  for (starpu_codelet& codelet : codelets) ASSERT_EQ(submit(codelet), 0);
  for (starpu_codelet& codelet : codelets) ASSERT_EQ(submit(codelet), 0);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_shutdown();
  EXPECT_EQ(executed, 20'000);
  const json seen = statistics();
  expect_all_ended(seen);
  EXPECT_EQ(seen["types"].size(), kMostTypes + 1);
  EXPECT_EQ(seen["types"].back(), "(others)");
}

std::atomic<unsigned> wanted{0};

TEST_F(StarpuFaults, WorkersLeaveAndComeBackMidRun) {
  start(allot_starpu_map);
  int workers[] = {0, 1, 2};
  const unsigned context =
      starpu_sched_ctx_create(workers, 3, "three", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_map, 0);
  starpu_codelet a = codelet_of("a", nap);
  starpu_codelet b = codelet_of("b", nap);
  ClosedLoops loops({&a, &b}, 8, 2000, context);
  int some[] = {1, 2};
  for (int k = 0; k < 10; ++k) {
    starpu_sched_ctx_remove_workers(some, 2, context);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    starpu_sched_ctx_add_workers(some, 2, context);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  loops.wait();
  EXPECT_EQ(executed, 2000);
  // None is lost: each still gets what only it can run.
  for (unsigned only = 0; only < 3; ++only) {
    wanted = only;
    starpu_codelet picky = codelet_of("picky", count_one);
    picky.can_execute = [](unsigned worker, starpu_task*, unsigned) { return worker == wanted ? 1 : 0; };
    ASSERT_EQ(submit(picky, context), 0);
    EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context), 0);
  }
  EXPECT_EQ(executed, 2003);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  expect_all_ended(statistics("stats.ctx" + std::to_string(context) + ".json"));
}

TEST_F(StarpuFaults, SeveralContextsHaveAStateAndStatisticsEach) {
  start(allot_starpu_map);
  setenv("ALLOT_SHARES", "x=0.5,y=0.5", 1);
  int first[] = {0};
  int second[] = {1, 2};
  const unsigned one =
      starpu_sched_ctx_create(first, 1, "one", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_map, 0);
  const unsigned two =
      starpu_sched_ctx_create(second, 2, "two", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_mis, 0);
  starpu_codelet x = codelet_of("x", nap);
  starpu_codelet y = codelet_of("y", nap);
  ClosedLoops here({&x}, 3, 300, one);
  ClosedLoops there({&x, &y}, 6, 700, two);
  here.wait();
  there.wait();
  EXPECT_EQ(executed, 1000);
  starpu_sched_ctx_delete(one);
  starpu_sched_ctx_delete(two);
  starpu_shutdown();
  const json seen_one = statistics("stats.ctx" + std::to_string(one) + ".json");
  const json seen_two = statistics("stats.ctx" + std::to_string(two) + ".json");
  expect_all_ended(seen_one);
  expect_all_ended(seen_two);
  EXPECT_EQ(seen_one["ended"], 300);
  EXPECT_EQ(seen_two["ended"], 700);
  EXPECT_EQ(seen_two["policy"], "allot-mis");
  EXPECT_EQ(seen_two["workers"], json::array({2}));
}

void init_ill(unsigned context, const char* policy) {
  Settings settings;
  settings.statistics = std::getenv("ALLOT_STATS");
  attach(context, std::make_unique<Context>(context, policy, settings, [](Dispatcher&) -> bool {
           throw std::runtime_error("the solver is ill");
         }));
}

TEST_F(StarpuFaults, ASolverThatFailsCostsThePlanOnly) {
  static starpu_sched_policy policies[] = {
      make_policy("ill-map", "", [](unsigned context) { init_ill(context, "map"); }),
      make_policy("ill-weighted", "", [](unsigned context) { init_ill(context, "weighted"); })};
  for (starpu_sched_policy& broken : policies) {
    SCOPED_TRACE(broken.policy_name);
    ::testing::internal::CaptureStderr();
    start(broken);
    starpu_codelet a = codelet_of("a", nap);
    starpu_codelet b = codelet_of("b", nap);
    ClosedLoops loops({&a, &b}, 6, 1000, 0);
    loops.wait();
    starpu_shutdown();
    EXPECT_EQ(executed, 1000);
    const json seen = statistics(&broken == policies ? "stats.json" : "stats.2.json");
    expect_all_ended(seen);
    EXPECT_GT(seen["failed_solves"], 0);
    EXPECT_EQ(seen["solves"], 0);
    EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("the solver is ill"));
  }
}

// ---- what is no fault, but not usual

}  // namespace
}  // namespace allot::starpu
