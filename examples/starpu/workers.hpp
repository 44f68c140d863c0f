// What the programs of this folder share: a StarPU with so many CPU workers and OpenCL devices, naps of a
// known length, and the calibration of StarPU's models.
#pragma once

#include <starpu.h>
#include <sys/prctl.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

/// 0 for a CPU worker, 1 + d for the OpenCL device d.
inline std::size_t column(unsigned worker) {
  return starpu_worker_get_type(static_cast<int>(worker)) == STARPU_CPU_WORKER
             ? 0
             : 1 + static_cast<std::size_t>(starpu_worker_get_devid(static_cast<int>(worker)));
}

/// For use in tasks and their callbacks.
inline std::size_t own_column() { return column(static_cast<unsigned>(starpu_worker_get_id())); }

/// A sleeper may be woken a tenth of a millisecond late: the last bit is waited out awake, so that rates are
/// as told.
inline void nap(double milliseconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds kAwake{200};
  const std::chrono::duration<double, std::milli> time(milliseconds);
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(time);
  if (time > kAwake) std::this_thread::sleep_until(end - kAwake);
  while (Clock::now() < end) {
  }
}

/// Starts StarPU with PoCL's devices, which are processors in disguise; settings of the environment are kept.
/// Ends the program with status 77 where there are no such workers.
inline void start_starpu(const char* program, unsigned cpus, unsigned devices) {
  std::string basic;
  for (unsigned d = 0; d < devices; ++d) basic += "basic ";
  setenv("POCL_DEVICES", basic.c_str(), 0);
  setenv("STARPU_OPENCL_ON_CPUS", "1", 0);
  setenv("STARPU_WORKERS_NOBIND", "1", 0);
  prctl(PR_SET_TIMERSLACK, 1);  // workers inherit it
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = static_cast<int>(cpus);
  conf.ncuda = 0;
  conf.nopencl = static_cast<int>(devices);
  if (const int error = starpu_init(&conf); error != 0) {
    std::fprintf(stderr, "%s: StarPU does not start: %s\n", program, std::strerror(-error));
    std::exit(error == -ENODEV ? 77 : 1);
  }
  if (starpu_cpu_worker_get_count() != cpus || starpu_opencl_worker_get_count() != devices) {
    std::fprintf(stderr, "%s: %u CPU and %u OpenCL workers where %u and %u are wanted\n", program,
                 starpu_cpu_worker_get_count(), starpu_opencl_worker_get_count(), cpus, devices);
    starpu_shutdown();
    std::exit(77);
  }
}

/// A model that StarPU fills with what it measures and keeps in STARPU_HOME under this name.
inline starpu_perfmodel history_model(const char* symbol) {
  starpu_perfmodel model;
  std::memset(&model, 0, sizeof model);
  model.type = STARPU_HISTORY_BASED;
  model.symbol = symbol;
  return model;
}

/// Calls `submit_to(worker)` for every worker, often enough for StarPU to trust its models; all workers work
/// at a time, because idle ones poll and would take the cores.
template <typename SubmitTo>
void calibrate_every_worker(const SubmitTo& submit_to) {
  constexpr int kTimes = 20;
  for (unsigned worker = 0; worker < starpu_worker_get_count(); ++worker) {
    for (int time = 0; time < kTimes; ++time) submit_to(worker);
  }
}

/// The task is for this worker only. Ends the program where that cannot run it.
inline void submit_to_worker(starpu_task* task, unsigned worker) {
  task->execute_on_a_specific_worker = 1;
  task->workerid = worker;
  if (starpu_task_submit(task) != 0) std::exit(1);
}
