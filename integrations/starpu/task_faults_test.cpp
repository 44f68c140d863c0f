// Tasks that are bound, restricted, internal to StarPU, or of another type than they seem.
#include "tests/starpu/faults.hpp"

namespace allot::starpu {
namespace {

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

void touch(void** buffers, void*) {
  reinterpret_cast<char*>(STARPU_VECTOR_GET_PTR(buffers[0]))[0] += 1;
  starpu_usleep(500);
}
void touch_on_device(void**, void*) { starpu_usleep(200); }

/// With ALLOT_BUSES, plans reckon with the way to a device and with its memory.
TEST_F(StarpuFaults, BusesAndMemoryOfDevicesArePlannedWith) {
  setenv("ALLOT_BUSES", "1", 1);
  const bool has_device = start_with_device(allot_starpu_map);
  if (!has_device) {
    unsetenv("ALLOT_BUSES");
    GTEST_SKIP() << "no OpenCL device";
  }
  starpu_codelet work = codelet_of("work", touch);
  work.opencl_funcs[0] = touch_on_device;
  work.where = STARPU_CPU | STARPU_OPENCL;
  work.nbuffers = 1;
  work.modes[0] = STARPU_RW;
  std::vector<char> data(4'000'000);
  std::vector<starpu_data_handle_t> handles(4);
  for (starpu_data_handle_t& handle : handles) {
    starpu_vector_data_register(&handle, -1, 0, static_cast<std::uint32_t>(data.size() / handles.size()), 1);
  }
  starpu_codelet fill = codelet_of("fill", touch);
  fill.nbuffers = 1;
  fill.modes[0] = STARPU_W;
  for (const starpu_data_handle_t handle : handles)
    ASSERT_EQ(submit(fill, 0, [&](starpu_task& task) { task.handles[0] = handle; }), 0);
  for (int k = 0; k < 200; ++k) {
    ASSERT_EQ(submit(work, 0,
                     [&](starpu_task& task) { task.handles[0] = handles[static_cast<std::size_t>(k) % 4]; }),
              0);
  }
  for (const starpu_data_handle_t handle : handles) starpu_data_unregister_no_coherency(handle);
  starpu_shutdown();
  unsetenv("ALLOT_BUSES");
  expect_all_ended(statistics());
  const json seen = statistics();
  ASSERT_TRUE(seen.contains("capacities"));
  ASSERT_FALSE(seen["capacities"].empty());
  EXPECT_EQ(seen["capacities"][0]["name"], "bus opencl0");
  EXPECT_EQ(seen["capacities"][0]["shared"], true);
  for (const json& need : seen["needs"]) EXPECT_EQ(need["resource"], "opencl0");
  EXPECT_EQ(seen["failed_solves"], 0);
}

}  // namespace

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

namespace {

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
  ::testing::internal::CaptureStderr();
  start(allot_starpu_map);
  starpu_codelet nameless = codelet_of("", count_one);
  for (int k = 0; k < 10; ++k) ASSERT_EQ(submit(nameless), 0);
  EXPECT_EQ(starpu_task_wait_for_all(), 0);
  starpu_shutdown();
  EXPECT_EQ(executed, 10);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
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
  EXPECT_THAT(order, ::testing::ElementsAre(7, 3, 3, 0, 0, -2));
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
    EXPECT_THAT(name.get<std::string>(), ::testing::MatchesRegex("[ab]@[0-9a-f]+"));
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
