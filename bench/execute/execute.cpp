// What does the executor cost, and what does it gain?
//
// usage: bench_execute [--quick | --box RUNS [SPEED]]
//
// 1. Empty tasks: CPU time of the whole process for a task, one thread submitting, two workers, the same
// number
//    in flight; against oneTBB's task_arena::enqueue. Runs alternate, and medians are compared.
// 2. The box of the README, emulated by tasks that sleep: tasks per second as a part of what the plan
//    promises; against round robin and first fit over two plain pools of threads.
//
// With --box RUNS, the box alone: RUNS executors at the same time, each with threads of its own, and how far
// they differ; with tasks that take 1/SPEED of the time (default 1).
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allot/base/version.hpp"
#include "allot/execute/executor.hpp"
#include "allot/solve/solver.hpp"
#include "bench/support/report.hpp"

#ifdef ALLOT_HAS_TBB
#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#endif

namespace {

using namespace allot;

constexpr std::size_t kInFlight = 1024;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

// ---- empty tasks

/// Nanoseconds of CPU and of the clock for a task.
struct Cost {
  double cpu = 0;
  double wall = 0;
};

template <typename Submit, typename Wait>
Cost cost_of(std::size_t tasks, const Submit& submit, const Wait& wait) {
  const double cpu = bench::cpu_seconds();
  const Clock::time_point begin = Clock::now();
  for (std::size_t k = 0; k < tasks; ++k) submit();
  wait();
  const double scale = 1e9 / static_cast<double>(tasks);
  return {scale * (bench::cpu_seconds() - cpu), scale * to_seconds(Clock::now() - begin)};
}

class OurPool {
 public:
  OurPool() : executor_(setup_, {.backlog = kInFlight}) {}
  Cost with_callbacks(std::size_t tasks) {
    return cost_of(
        tasks, [&] { executor_.submit_then(empty_, [](const TaskResult<void>&) {}); },
        [&] { executor_.wait(); });
  }
  Cost with_futures(std::size_t tasks) {
    return cost_of(
        tasks, [&] { (void)executor_.submit(empty_); }, [&] { executor_.wait(); });
  }

 private:
  ExecutorSetup setup_;
  Place<void> cpu_ = setup_.resource({.name = "cpu", .servers = 2});
  TaskKind<void()> empty_ = setup_.kind<void()>({.name = "empty"}, on(cpu_, [] {}));
  Executor executor_;
};

/// The bound on the number in flight that oneTBB does not have, made as ours is.
class Gate {
 public:
  void enter() {
    if (inside_.fetch_add(1) < kInFlight) return;
    inside_.fetch_sub(1);
    std::unique_lock lock(mutex_);
    waiting_.fetch_add(1);
    changed_.wait(lock, [this] { return inside_.load() <= kInFlight - kInFlight / 4; });
    waiting_.fetch_sub(1);
    inside_.fetch_add(1);
  }
  void leave() {
    const std::size_t left = inside_.fetch_sub(1) - 1;
    if (waiting_.load() == 0 || left > kInFlight - kInFlight / 4) return;
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
  void wait_until_empty() {
    while (inside_.load() > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

 private:
  std::atomic<std::size_t> inside_{0};
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
};

#ifdef ALLOT_HAS_TBB
class TbbPool {
 public:
  Cost run(std::size_t tasks) {
    return cost_of(
        tasks,
        [&] {
          gate_.enter();
          arena_.enqueue([this] { gate_.leave(); });
        },
        [&] { gate_.wait_until_empty(); });
  }
  /// With a future for each task, as ours has.
  Cost run_with_futures(std::size_t tasks) {
    return cost_of(
        tasks,
        [&] {
          gate_.enter();
          std::promise<void> promise;
          const std::future<void> future = promise.get_future();
          arena_.enqueue(Promised{std::move(promise), &gate_});
        },
        [&] { gate_.wait_until_empty(); });
  }

 private:
  struct Promised {
    mutable std::promise<void> promise;
    Gate* gate;
    void operator()() const {
      promise.set_value();
      gate->leave();
    }
  };

  tbb::global_control threads_{tbb::global_control::max_allowed_parallelism, 3};  // this one, and two workers
  tbb::task_arena arena_{2, 0};
  Gate gate_;
};
#endif

void measure_empty_tasks(bool quick) {
  const std::size_t tasks = quick ? 200'000 : 1'000'000;
  const int runs = quick ? 5 : 11;
  OurPool ours;
#ifdef ALLOT_HAS_TBB
  TbbPool tbb;
#endif
  struct Row {
    std::string name;
    std::vector<double> cpu, wall, ratio;
  };
  std::vector<Row> rows{{"oneTBB, task_arena::enqueue", {}, {}, {}},
                        {"oneTBB, the same with std::promise", {}, {}, {}},
                        {"allot, callback", {}, {}, {}},
                        {"allot, std::future", {}, {}, {}},
                        {"std::promise, on one thread", {}, {}, {}}};
  for (int run = 0; run <= runs; ++run) {
    std::vector<Cost> costs;
#ifdef ALLOT_HAS_TBB
    costs.push_back(tbb.run(tasks));
    costs.push_back(tbb.run_with_futures(tasks));
#else
    costs.resize(2);
#endif
    costs.push_back(ours.with_callbacks(tasks));
    costs.push_back(ours.with_futures(tasks));
    costs.push_back(cost_of(
        tasks,
        [] {
          std::promise<void> promise;
          const std::future<void> future = promise.get_future();
          promise.set_value();
        },
        [] {}));
    if (run == 0) continue;  // memory, rates
    for (std::size_t r = 0; r < rows.size(); ++r) {
      rows[r].cpu.push_back(costs[r].cpu);
      rows[r].wall.push_back(costs[r].wall);
      rows[r].ratio.push_back(costs[r].cpu / costs[0].cpu);
    }
  }
  std::printf("Empty tasks, %zu in flight, 1 thread submitting, 2 workers (medians of %d runs of %s):\n\n",
              kInFlight, runs, bench::whole_text(static_cast<double>(tasks)).c_str());
  std::vector<std::vector<std::string>> table{{"", "CPU ns a task", "ns a task", "CPU, against oneTBB"}};
  for (const Row& row : rows) {
    table.push_back({row.name, text("%.0f", median(row.cpu)), text("%.0f", median(row.wall)),
                     text("%.2f", median(row.ratio))});
  }
  bench::print_table(table);
}

// ---- the box

/// The box of the README.
constexpr double kRates[2][2] = {{45, 480}, {14, 120}};
constexpr int kServers[2] = {6, 1};
constexpr int kCount = 6;  // tasks of each kind in flight

double g_speed = 1;

/// Linux lets a thread that sleeps wake 50 us late, to save power; a device would not.
void emulate(std::size_t kind, std::size_t resource) {
#ifdef __linux__
  thread_local const int exact = prctl(PR_SET_TIMERSLACK, 1UL);
  (void)exact;
#endif
  std::this_thread::sleep_for(std::chrono::duration<double>(1 / (g_speed * kRates[kind][resource])));
}

double planned_throughput() {
  const System box({{.name = "cpu", .servers = kServers[0]}, {.name = "gpu", .servers = kServers[1]}},
                   {{.name = "resize", .count = kCount}, {.name = "detect", .count = kCount}},
                   Rates(2, 2,
                         {g_speed * kRates[0][0], g_speed * kRates[0][1], g_speed * kRates[1][0],
                          g_speed * kRates[1][1]}));
  return solve(*find_solver("planned"), {box}).performance.throughput;
}

/// Completions per second after a while.
double measured(const std::atomic<std::size_t>& done, double warm_up, double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(warm_up));
  const std::size_t before = done.load();
  const Clock::time_point begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return static_cast<double>(done.load() - before) / to_seconds(Clock::now() - begin);
}

/// An executor that has the box and always as many tasks in flight. Nothing is known of the rates.
class OurBox {
 public:
  OurBox() : executor_(set_up()) {
    for (int n = 0; n < kCount; ++n) {
      for (std::size_t i = 0; i < 2; ++i) submit(i);
    }
  }
  ~OurBox() {
    stop_ = true;
    executor_.wait();
  }
  const std::atomic<std::size_t>& done() const { return done_; }
  Dispatcher& dispatcher() { return executor_.dispatcher(); }
  /// By the plan, with the rates as learnt.
  double promised() { return executor_.dispatcher().plan()->predicted->throughput; }

 private:
  ExecutorSetup set_up() {
    ExecutorSetup setup;
    const auto cpu = setup.resource({.name = "cpu", .servers = kServers[0]});
    const auto gpu = setup.resource({.name = "gpu", .servers = kServers[1]});
    for (std::size_t i = 0; i < 2; ++i) {
      kinds_.push_back(setup.kind<void()>({.name = i == 0 ? "resize" : "detect"},
                                          on(cpu, [i] { emulate(i, 0); }), on(gpu, [i] { emulate(i, 1); })));
    }
    return setup;
  }
  void submit(std::size_t i) {
    executor_.submit_then(kinds_[i], [this, i](const TaskResult<void>&) {
      ++done_;
      if (!stop_) submit(i);
    });
  }

  std::vector<TaskKind<void()>> kinds_;
  std::atomic<std::size_t> done_{0};
  std::atomic<bool> stop_{false};
  Executor executor_;
};

/// Two pools of threads as people write them. Round robin: a task goes to each pool in turn. First fit: to
/// the first that has a thread free, else to the one whose thread is free next.
double plain_throughput(bool round_robin, double warm_up, double seconds) {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::size_t> queues[2];  // first fit: all wait in the first one
  bool stop = false;
  std::size_t next_pool = 0;
  std::atomic<std::size_t> done{0};
  const auto submit = [&](std::size_t kind) {
    queues[round_robin ? next_pool++ % 2 : 0].push_back(kind);
    changed.notify_all();
  };
  const auto serve = [&](std::size_t pool) {
    std::unique_lock lock(mutex);
    std::deque<std::size_t>& queue = queues[round_robin ? pool : 0];
    for (;;) {
      changed.wait(lock, [&] { return stop || !queue.empty(); });
      if (stop) return;
      const std::size_t kind = queue.front();
      queue.pop_front();
      lock.unlock();
      emulate(kind, pool);
      lock.lock();
      ++done;
      submit(kind);
    }
  };
  {
    const std::lock_guard lock(mutex);
    for (int n = 0; n < kCount; ++n) {
      for (std::size_t i = 0; i < 2; ++i) submit(i);
    }
  }
  std::vector<std::thread> threads;
  for (std::size_t pool = 0; pool < 2; ++pool) {
    for (int k = 0; k < kServers[pool]; ++k) threads.emplace_back(serve, pool);
  }
  const double result = measured(done, warm_up, seconds);
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  changed.notify_all();
  for (std::thread& thread : threads) thread.join();
  return result;
}

void measure_box(bool quick) {
  const double warm_up = quick ? 5 : 15;
  const double seconds = quick ? 5 : 20;
  const double plan = planned_throughput();
  double ours = 0;
  double promised = 0;
  {
    OurBox box;
    ours = measured(box.done(), warm_up, seconds);
    promised = box.promised();
  }
  std::printf(
      "\nThe box (6 cores and a GPU, 45/480 and 14/120 tasks a second, 6 of each kind in flight):\n\n");
  std::vector<std::vector<std::string>> table{{"", "tasks/s", "part of the plan", "ours against it"}};
  const auto row = [&](const std::string& name, double throughput) {
    table.push_back(
        {name, text("%.1f", throughput), text("%.3f", throughput / plan), text("%.2f", ours / throughput)});
  };
  row("the plan", plan);
  row("the plan, by times as they were", promised);
  row("allot, rates learnt", ours);
  row("first fit, two pools", plain_throughput(false, warm_up, seconds));
  row("round robin, two pools", plain_throughput(true, warm_up, seconds));
  bench::print_table(table);
}

void measure_boxes(std::size_t runs) {
  constexpr std::size_t kSeconds = 10;
  const double plan = planned_throughput();
  struct Run {
    std::vector<double> parts;  // of the plan, in each second
    double after_a_while = 0;
    std::string seen;
  };
  std::vector<Run> all(runs);
  std::vector<std::thread> threads;
  for (Run& run : all) {
    threads.emplace_back([&run, plan] {
      OurBox box;
      for (std::size_t second = 0; second < kSeconds; ++second)
        run.parts.push_back(measured(box.done(), 0, 1) / plan);
      for (std::size_t second = kSeconds / 2; second < kSeconds; ++second)
        run.after_a_while += run.parts[second] / (kSeconds - kSeconds / 2);
      const DispatchStatistics seen = box.dispatcher().statistics();
      for (const std::uint64_t completions : seen.completions) run.seen += " " + std::to_string(completions);
      run.seen += text(", %.1f tasks/s by the plan", box.promised());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::sort(all.begin(), all.end(),
            [](const Run& a, const Run& b) { return a.after_a_while < b.after_a_while; });
  std::printf("Parts of the plan in seconds 6 to 10 of %zu runs: least %.3f, 5%% below %.3f, median %.3f\n",
              runs, all.front().after_a_while, all[runs / 20].after_a_while, all[runs / 2].after_a_while);
  for (std::size_t worst = 0; worst < std::min<std::size_t>(3, runs); ++worst) {
    std::printf(" ");
    for (const double part : all[worst].parts) std::printf(" %.3f", part);
    std::printf("; completions by pair%s\n", all[worst].seen.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  const int boxes = (argc == 3 || argc == 4) && std::string_view(argv[1]) == "--box" ? std::atoi(argv[2]) : 0;
  if (boxes > 0 && argc == 4) g_speed = std::atof(argv[3]);
  if ((argc > 1 && !quick && boxes < 1) || !(g_speed > 0)) {
    std::fprintf(stderr, "usage: bench_execute [--quick | --box RUNS [SPEED]]\n");
    return 2;
  }
  std::printf("allot %s, %s, %u hardware threads\n\n", std::string(version()).c_str(),
              bench::processor().c_str(), std::thread::hardware_concurrency());
  if (boxes > 0) {
    measure_boxes(static_cast<std::size_t>(boxes));
    return 0;
  }
  measure_empty_tasks(quick);
  measure_box(quick);
}
