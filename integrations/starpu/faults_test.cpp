// The policies inside StarPU when things go wrong, or just otherwise than in a loop of equal tasks. Each test
// is a process of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <starpu.h>
#include <starpu_scheduler.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "integrations/starpu/allot_starpu.h"
#include "integrations/starpu/policy.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

using nlohmann::json;

std::atomic<int> executed{0};

void count_one(void**, void*) { ++executed; }
void nap(void**, void*) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  ++executed;
}
void nap_long(void**, void*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  ++executed;
}
void nothing_opencl(void**, void*) {}

starpu_codelet codelet_of(const char* name, starpu_cpu_func_t function) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = function;
  codelet.name = name;
  return codelet;
}

int submit(starpu_codelet& codelet, unsigned context = 0,
           const std::function<void(starpu_task&)>& change = {}) {
  starpu_task* const task = starpu_task_create();
  task->cl = &codelet;
  task->sched_ctx = context;
  if (change) change(*task);
  const int answer = starpu_task_submit(task);
  if (answer != 0) {
    task->destroy = 0;
    starpu_task_destroy(task);
  }
  return answer;
}

/// Three CPU workers, or some of those and a device.
class StarpuFaults : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("allot_starpu_faults_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    for (const auto& [name, value] :
         {std::pair{"STARPU_HOME", folder_.string()}, std::pair{"STARPU_SILENT", std::string("1")},
          std::pair{"STARPU_WORKERS_NOBIND", std::string("1")},
          std::pair{"ALLOT_STATS", (folder_ / "stats.json").string()}}) {
      setenv(name, value.c_str(), 1);
    }
    setenv("POCL_DEVICES", "basic", 1);
    // Its plugins are gone when the sanitizers look for what has leaked: nobody could say whose it is.
    setenv("HWLOC_PLUGINS_PATH", folder_.c_str(), 1);
    setenv("POCL_CACHE_DIR", folder_.c_str(), 1);
    setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
    for (const char* name :
         {"STARPU_SCHED", "STARPU_NCPU", "STARPU_NOPENCL", "ALLOT_SHARES", "ALLOT_TYPES"}) {
      unsetenv(name);
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void start(starpu_sched_policy& policy, int cpus = 3, int devices = 0) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = cpus;
    conf.ncuda = 0;
    conf.nopencl = devices;
    conf.sched_policy = &policy;
    ASSERT_EQ(starpu_init(&conf), 0);
    ASSERT_EQ(starpu_cpu_worker_get_count(), static_cast<unsigned>(cpus));
    executed = 0;
  }
  /// Two CPU workers and an OpenCL device; false: the machine has none.
  static bool start_with_device(starpu_sched_policy& policy) {
    start(policy, 2, 1);
    if (starpu_opencl_worker_get_count() == 1) return true;
    starpu_shutdown();
    return false;
  }
  static int device() { return starpu_worker_get_by_type(STARPU_OPENCL_WORKER, 0); }

  json statistics(const std::string& name = "stats.json") const {
    std::ifstream file(folder_ / name);
    return json::parse(file);
  }
  /// Nothing is left in any counter, and everything that was placed has ended.
  static void expect_all_ended(const json& seen) {
    for (const json& row : seen["in_flight"]) {
      for (const json& count : row) EXPECT_EQ(count, 0);
    }
    EXPECT_EQ(seen["placed"], seen["ended"]);
    std::uint64_t placed = 0;
    for (const json& row : seen["placements"]) {
      for (const json& count : row) placed += count.get<std::uint64_t>();
    }
    EXPECT_EQ(placed, seen["placed"]);
    EXPECT_EQ(seen["unfinished"], 0);
    EXPECT_NEAR(seen["little"], 1, 1e-6);
  }

  void expect_bound_tasks_counted(starpu_sched_policy& policy, const char* file);

  std::filesystem::path folder_;
};

/// `loops` chains of tasks, each of which submits the next when it has ended, until all together are `total`.
class ClosedLoops {
 public:
  ClosedLoops(std::vector<starpu_codelet*> codelets, int loops, int total, unsigned context)
      : codelets_(std::move(codelets)), left_(total), context_(context) {
    for (int k = 0; k < loops; ++k) next(k);
  }
  void wait() const { EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context_), 0); }

 private:
  struct Link {
    ClosedLoops* loops;
    int number;
  };
  void next(int number) {
    if (left_-- <= 0) return;
    auto* const link = new Link{this, number};
    const int answer = submit(*codelets_[static_cast<std::size_t>(number) % codelets_.size()], context_,
                              [&](starpu_task& task) {
                                task.callback_func = [](void* argument) {
                                  const std::unique_ptr<Link> ended(static_cast<Link*>(argument));
                                  ended->loops->next(ended->number);
                                };
                                task.callback_arg = link;
                              });
    EXPECT_EQ(answer, 0);
  }

  std::vector<starpu_codelet*> codelets_;
  std::atomic<int> left_;
  unsigned context_;
};

std::atomic<bool> gate{false};

void wait_at_gate(void**, void*) {
  while (!gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Waits until it holds; a minute is for ever.
bool comes_true(const std::function<bool()>& condition) {
  for (int k = 0; k < 60'000 && !condition(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

/// The state of the latest context that has the policy `watching`.
Context* watched = nullptr;

starpu_sched_policy watching = make_policy("watched", "", [](unsigned context) {
  Settings settings;
  settings.statistics = std::getenv("ALLOT_STATS");
  auto state = std::make_unique<Context>(context, "map", settings);
  watched = state.get();
  attach(context, std::move(state));
});

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
  testing::internal::CaptureStderr();
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
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("can run the task 'picky'"));
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
    testing::internal::CaptureStderr();
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
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("the solver is ill"));
  }
}

// ---- what is no fault, but not usual

void set_zero(void** buffers, void*) { *reinterpret_cast<int*>(STARPU_VARIABLE_GET_PTR(buffers[0])) = 0; }
void add_up(void** buffers, void*) {
  *reinterpret_cast<int*>(STARPU_VARIABLE_GET_PTR(buffers[0])) +=
      *reinterpret_cast<int*>(STARPU_VARIABLE_GET_PTR(buffers[1]));
}
void add_one(void** buffers, void*) { ++*reinterpret_cast<int*>(STARPU_VARIABLE_GET_PTR(buffers[0])); }

/// StarPU does not report the end of the tasks that a reduction makes.
TEST_F(StarpuFaults, TheTasksOfReductionsAreClosed) {
  start(watching);
  starpu_codelet zero = codelet_of("zero", set_zero);
  zero.nbuffers = 1;
  zero.modes[0] = STARPU_W;
  starpu_codelet add = codelet_of("add", add_up);
  add.nbuffers = 2;
  add.modes[0] = STARPU_RW;
  add.modes[1] = STARPU_R;
  starpu_codelet one = codelet_of("one", add_one);
  one.nbuffers = 1;
  one.modes[0] = STARPU_REDUX;
  int sum = 0;
  for (int round = 0; round < 20; ++round) {
    starpu_data_handle_t handle = nullptr;
    starpu_variable_data_register(&handle, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&sum),
                                  sizeof sum);
    starpu_data_set_reduction_methods(handle, &add, &zero);
    for (int k = 0; k < 100; ++k) {
      ASSERT_EQ(submit(one, 0, [&](starpu_task& task) { task.handles[0] = handle; }), 0);
    }
    starpu_data_unregister(handle);
  }
  EXPECT_TRUE(comes_true([] { return watched->open() == 0; })) << "while StarPU runs, not at its end only";
  starpu_shutdown();
  EXPECT_EQ(sum, 2000);
  expect_all_ended(statistics());
  EXPECT_EQ(statistics()["left_open"], 0);
  EXPECT_GT(statistics()["closed"], 0) << "there was something to close";
}

void StarpuFaults::expect_bound_tasks_counted(starpu_sched_policy& policy, const char* file) {
  start(policy);
  starpu_codelet bound = codelet_of("bound", nap);
  starpu_codelet loose = codelet_of("free", nap);
  for (int k = 0; k < 60; ++k) {
    ASSERT_EQ(submit(bound, 0,
                     [&](starpu_task& task) {
                       task.execute_on_a_specific_worker = 1;
                       task.workerid = static_cast<unsigned>(k % 3);
                     }),
              0);
    ASSERT_EQ(submit(loose), 0);
  }
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_shutdown();
  EXPECT_EQ(executed, 120);
  const json seen = statistics(file);
  expect_all_ended(seen);
  EXPECT_EQ(seen["bound"], 60);
  EXPECT_EQ(seen["ended"], 120);
}

/// Also where every worker waits for its share, and before there is any plan.
TEST_F(StarpuFaults, TasksBoundToAWorkerAreCounted) {
  {
    SCOPED_TRACE("map");
    expect_bound_tasks_counted(allot_starpu_map, "stats.json");
  }
  {
    SCOPED_TRACE("weighted");
    expect_bound_tasks_counted(allot_starpu_weighted, "stats.2.json");
  }
}

/// StarPU tells every context of the worker; the task is of one.
TEST_F(StarpuFaults, BoundTasksCountInTheirOwnContextOnly) {
  start(allot_starpu_map);
  int shared[] = {0, 1};
  const unsigned context =
      starpu_sched_ctx_create(shared, 2, "pair", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_map, 0);
  starpu_codelet first = codelet_of("first", nap);
  starpu_codelet second = codelet_of("second", nap);
  starpu_codelet third = codelet_of("third", nap);
  for (int k = 0; k < 60; ++k) {
    const auto bind = [k](starpu_task& task) {
      task.execute_on_a_specific_worker = 1;
      task.workerid = static_cast<unsigned>(k % 2);
    };
    ASSERT_EQ(submit(first, 0, bind), 0);
    ASSERT_EQ(submit(second, 0, bind), 0);
    ASSERT_EQ(submit(third, context, bind), 0);
  }
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  EXPECT_EQ(executed, 180);
  const json outer = statistics();
  const json inner = statistics("stats.ctx" + std::to_string(context) + ".json");
  expect_all_ended(outer);
  expect_all_ended(inner);
  EXPECT_EQ(outer["types"], json::array({"first", "second"}));
  EXPECT_EQ(inner["types"], json::array({"third"}));
  EXPECT_EQ(outer["bound"], 120);
  EXPECT_EQ(outer["ended"], 120);
  EXPECT_EQ(inner["bound"], 60);
  EXPECT_EQ(inner["ended"], 60);
}

std::atomic<int> choosy_ones{0};

void note_choosy(void**, void*) { choosy_ones += choosy(starpu_task_get_current()) ? 1 : 0; }

/// StarPU fills in what the program has left open before it pushes a task.
TEST_F(StarpuFaults, OnlyTasksThatDifferFromTheirCodeletAreChoosy) {
  start(allot_starpu_map);
  starpu_codelet everywhere = codelet_of("everywhere", note_choosy);
  everywhere.opencl_funcs[0] = nothing_opencl;
  choosy_ones = 0;
  for (int k = 0; k < 10; ++k) ASSERT_EQ(submit(everywhere), 0);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  EXPECT_EQ(choosy_ones, 0);
  for (int k = 0; k < 10; ++k) {
    ASSERT_EQ(submit(everywhere, 0, [](starpu_task& task) { task.where = STARPU_CPU; }), 0);
  }
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  EXPECT_EQ(choosy_ones, 10);
  starpu_shutdown();
  expect_all_ended(statistics());
}

std::atomic<bool> device_refuses{false};

int unless_refused(unsigned worker, starpu_task*, unsigned) {
  return device_refuses && starpu_worker_get_type(static_cast<int>(worker)) != STARPU_CPU_WORKER ? 0 : 1;
}

/// The first task may not run on the device, all others may: they are planned there, where they take a
/// quarter of the time.
TEST_F(StarpuFaults, ARestrictedTaskDoesNotDecideForItsType) {
  if (!start_with_device(allot_starpu_map)) GTEST_SKIP() << "no OpenCL device";
  starpu_codelet told = codelet_of("told", nap_long);
  told.opencl_funcs[0] = nap;
  starpu_codelet asked = codelet_of("asked", nap_long);
  asked.opencl_funcs[0] = nap;
  asked.can_execute = unless_refused;
  device_refuses = true;
  ASSERT_EQ(submit(told, 0, [](starpu_task& task) { task.where = STARPU_CPU; }), 0);
  ASSERT_EQ(submit(asked), 0);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  device_refuses = false;
  for (starpu_codelet* codelet : {&told, &asked}) ClosedLoops({codelet}, 6, 300, 0).wait();
  EXPECT_EQ(executed, 602);
  starpu_shutdown();
  const json seen = statistics();
  expect_all_ended(seen);
  ASSERT_EQ(seen["types"], json::array({"told", "asked"}));
  const std::size_t opencl = seen["resources"][0] == "cpu" ? 1 : 0;
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_GT(seen["completions"][i][opencl], 100) << seen["types"][i];
    EXPECT_GT(seen["placements"][i][opencl], 50) << seen["types"][i] << ": by plan, not only by who was idle";
    EXPECT_GT(seen["rates"][i][opencl]["rate"], 0) << seen["types"][i];
  }
}

std::atomic<int> astray{0};

void note_worker(void**, void*) { astray += starpu_worker_get_id() == 1 ? 0 : 1; }

TEST_F(StarpuFaults, TasksForSomeWorkersRunOnNoOthers) {
  start(allot_starpu_map);
  starpu_codelet named = codelet_of("named", note_worker);
  std::uint32_t only_the_second[] = {1U << 1};
  astray = 0;
  for (int k = 0; k < 100; ++k) {
    ASSERT_EQ(submit(named, 0,
                     [&](starpu_task& task) {
                       task.workerids = only_the_second;
                       task.workerids_len = 1;
                     }),
              0);
  }
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  EXPECT_EQ(astray, 0);
  starpu_shutdown();
  expect_all_ended(statistics());
}

TEST_F(StarpuFaults, ADeviceLeavesAndComesBack) {
  if (!start_with_device(allot_starpu_map)) GTEST_SKIP() << "no OpenCL device";
  int workers[] = {0, 1, 2};
  int leaves[] = {device()};
  const unsigned context =
      starpu_sched_ctx_create(workers, 3, "all", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_map, 0);
  starpu_codelet both = codelet_of("both", nap);
  both.opencl_funcs[0] = nap;
  for (int k = 0; k < 3; ++k) {
    ClosedLoops loops({&both}, 6, 400, context);
    starpu_sched_ctx_remove_workers(leaves, 1, context);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    starpu_sched_ctx_add_workers(leaves, 1, context);
    loops.wait();
  }
  EXPECT_EQ(executed, 1200);
  starpu_codelet only_there = codelet_of("only there", nullptr);
  only_there.opencl_funcs[0] = nap;
  for (int k = 0; k < 10; ++k) ASSERT_EQ(submit(only_there, context), 0);
  EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context), 0);
  EXPECT_EQ(executed, 1210);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  const json seen = statistics("stats.ctx" + std::to_string(context) + ".json");
  expect_all_ended(seen);
  EXPECT_EQ(seen["resources"].size(), 2U) << "the device that came back is the one that left";
}

TEST_F(StarpuFaults, ACodeletWithAnEmptyNameHasNone) {
  testing::internal::CaptureStderr();
  start(allot_starpu_map);
  starpu_codelet nameless = codelet_of("", count_one);
  for (int k = 0; k < 10; ++k) ASSERT_EQ(submit(nameless), 0);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_shutdown();
  EXPECT_EQ(executed, 10);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(statistics()["types"], json::array({"codelet"}));
  EXPECT_EQ(statistics()["ended"], 10);
}

std::vector<int> order;

void note(void**, void* argument) {
  order.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(argument)));
}

TEST_F(StarpuFaults, WithinATypePrioritiesAreHonoured) {
  start(allot_starpu_map);
  int worker[] = {0};
  const unsigned context =
      starpu_sched_ctx_create(worker, 1, "one", STARPU_SCHED_CTX_POLICY_STRUCT, &allot_starpu_map, 0);
  starpu_codelet block = codelet_of("block", wait_at_gate);
  starpu_codelet noted = codelet_of("noted", note);
  gate = false;
  order.clear();
  ASSERT_EQ(submit(block, context), 0);
  const std::vector<int> priorities{0, 3, -2, 3, 7, 0};
  for (const int priority : priorities) {
    ASSERT_EQ(submit(noted, context,
                     [&](starpu_task& task) {
                       task.priority = priority;
                       task.cl_arg = reinterpret_cast<void*>(static_cast<std::intptr_t>(priority));
                       task.cl_arg_size = 0;
                     }),
              0);
  }
  gate = true;
  EXPECT_EQ(starpu_task_wait_for_all_in_ctx(context), 0);
  starpu_sched_ctx_delete(context);
  starpu_shutdown();
  EXPECT_THAT(order, testing::ElementsAre(7, 3, 3, 0, 0, -2));
}

TEST_F(StarpuFaults, StarPUMayBeStartedAgain) {
  for (int time = 0; time < 3; ++time) {
    start(allot_starpu_map);
    starpu_codelet a = codelet_of("a", count_one);
    ClosedLoops loops({&a}, 4, 500, 0);
    loops.wait();
    starpu_shutdown();
    EXPECT_EQ(executed, 500);
  }
  for (const char* name : {"stats.json", "stats.2.json", "stats.3.json"}) expect_all_ended(statistics(name));
}

TEST_F(StarpuFaults, TypesMayBeModelsOrFootprints) {
  for (const char* by : {"symbol", "footprint"}) {
    setenv("ALLOT_TYPES", by, 1);
    setenv("ALLOT_STATS", (folder_ / (std::string(by) + ".json")).c_str(), 1);
    start(allot_starpu_map);
    starpu_perfmodel model{};
    model.type = STARPU_HISTORY_BASED;
    model.symbol = "shared_symbol";
    starpu_codelet a = codelet_of("a", count_one);
    starpu_codelet b = codelet_of("b", count_one);
    a.model = b.model = &model;
    a.nbuffers = b.nbuffers = 1;
    a.modes[0] = b.modes[0] = STARPU_R;
    char data[64] = {};
    starpu_data_handle_t small = nullptr;
    starpu_data_handle_t large = nullptr;
    starpu_vector_data_register(&small, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(data), 8, 1);
    starpu_vector_data_register(&large, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(data), 64, 1);
    for (int k = 0; k < 50; ++k) {
      ASSERT_EQ(submit(a, 0, [&](starpu_task& task) { task.handles[0] = k % 2 == 0 ? small : large; }), 0);
      ASSERT_EQ(submit(b, 0, [&](starpu_task& task) { task.handles[0] = small; }), 0);
    }
    EXPECT_EQ(starpu_task_wait_for_all(), 0);
    starpu_data_unregister(small);
    starpu_data_unregister(large);
    starpu_shutdown();
    EXPECT_EQ(executed, 100);
  }
  EXPECT_EQ(statistics("symbol.json")["types"], json::array({"shared_symbol"}));
  const json types = statistics("footprint.2.json")["types"];
  ASSERT_EQ(types.size(), 3U) << "a with each of the two sizes, and b";
  for (const json& name : types)
    EXPECT_THAT(name.get<std::string>(), testing::MatchesRegex("[ab]@[0-9a-f]+"));
}

TEST_F(StarpuFaults, PoliciesAreKnownByTheirNames) {
  EXPECT_EQ(allot_starpu_policy("allot-map"), &allot_starpu_map);
  EXPECT_EQ(allot_starpu_policy("allot-mis"), &allot_starpu_mis);
  EXPECT_EQ(allot_starpu_policy("allot-weighted"), &allot_starpu_weighted);
  EXPECT_EQ(allot_starpu_policy("map"), nullptr);
  EXPECT_EQ(allot_starpu_policy(nullptr), nullptr);
}

}  // namespace
}  // namespace allot::starpu
