// A program that links the library, as its users do: run by entry_test.py under different variables.
#include <cstdio>

#include "integrations/starpu/allot_starpu.h"

namespace {

void nothing(void**, void*) {}

}  // namespace

int main() {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 2;
  conf.nopencl = 0;
  conf.sched_policy = &allot_starpu_map;
  if (const int answer = starpu_init(&conf); answer != 0) {
    std::printf("starpu_init: %d\n", answer);
    return 1;
  }
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
  return 0;
}
