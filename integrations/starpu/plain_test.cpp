// A program that knows nothing of allot: run by entry_test.py under different variables.
#include <starpu.h>

#include <cstdio>
#include <cstdlib>

namespace {

void nothing(void**, void*) {}

}  // namespace

int main() {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 2;
  conf.nopencl = 0;
  if (starpu_init(&conf) != 0) return 1;
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
  return 0;
}
