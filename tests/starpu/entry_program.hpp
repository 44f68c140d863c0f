// What the programs of entry_test.py do: they start StarPU, twice, run some tasks, and say what they find in
// the environment.
#pragma once

#include <starpu.h>

#include <cstdio>
#include <cstdlib>

inline void nothing(void** /*buffers*/, void* /*argument*/) {}

/// The status of the program; without a policy StarPU chooses one.
inline int run_twice(starpu_sched_policy* policy) {
  for (int time = 0; time < 2; ++time) {
    starpu_conf conf;
    starpu_conf_init(&conf);
    conf.ncpus = 2;
    conf.nopencl = 0;
    conf.sched_policy = policy;
    if (const int answer = starpu_init(&conf); answer != 0) {
      std::printf("starpu_init: %d\n", answer);
      return 1;
    }
    const char* const choice = std::getenv("STARPU_SCHED");
    std::printf("STARPU_SCHED is %s\n", choice == nullptr ? "not set" : choice);
    starpu_codelet codelet;
    starpu_codelet_init(&codelet);
    codelet.cpu_funcs[0] = nothing;
    codelet.name = "nothing";
    for (int k = 0; k < 10; ++k) {
      starpu_task* const task = starpu_task_create();
      task->cl = &codelet;
      if (starpu_task_submit(task) != 0) return 2;
    }
    starpu_task_wait_for_all();
    starpu_shutdown();
  }
  return 0;
}
