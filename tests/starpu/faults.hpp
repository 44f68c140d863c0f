// What tests share that run the policies inside StarPU when things go wrong, or just otherwise than in a loop
// of equal tasks. Each test is a process of its own.
#pragma once

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

using nlohmann::json;

inline std::atomic<int> executed{0};

inline void count_one(void**, void*) { ++executed; }
inline void nap(void**, void*) {
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  ++executed;
}
inline void nap_long(void**, void*) {
  std::this_thread::sleep_for(std::chrono::milliseconds(4));
  ++executed;
}
inline void nothing_opencl(void**, void*) {}

inline starpu_codelet codelet_of(const char* name, starpu_cpu_func_t function) {
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = function;
  codelet.name = name;
  return codelet;
}

inline int submit(starpu_codelet& codelet, unsigned context = 0,
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

inline std::atomic<bool> gate{false};

inline void wait_at_gate(void**, void*) {
  while (!gate) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Waits until it holds; a minute is for ever.
inline bool comes_true(const std::function<bool()>& condition) {
  for (int k = 0; k < 60'000 && !condition(); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

/// The state of the latest context that has the policy `watching`.
inline Context* watched = nullptr;

inline starpu_sched_policy watching = make_policy("watched", "", [](unsigned context) {
  Settings settings;
  settings.statistics = std::getenv("ALLOT_STATS");
  auto state = std::make_unique<Context>(context, "map", settings);
  watched = state.get();
  attach(context, std::move(state));
});

}  // namespace allot::starpu
