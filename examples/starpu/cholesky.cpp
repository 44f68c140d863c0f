// The task graph of a tiled Cholesky factorisation, with tasks that sleep as long as the kernels would take:
// a program with a beginning, an end and a critical path, where few tasks are ready at a time. The times have
// the proportions of a processor core and a graphics card: the matrix product gains most there, the
// factorisation of a tile nothing.
//
//   STARPU_SCHED=dmdas cholesky [--tiles N] [--cpus N] [--repeat N] [--calibrate]
//
// Prints the milliseconds of each factorisation; --calibrate as for sleeping.cpp.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "examples/starpu/workers.hpp"

namespace {

struct Kernel {
  const char* name;
  int tiles;  // that it touches; the last is written
  double ms[2];
  starpu_perfmodel model;
  starpu_codelet codelet;
};

Kernel kernels[] = {{"potrf", 1, {4, 4}}, {"trsm", 2, {8, 2}}, {"syrk", 2, {8, 1}}, {"gemm", 3, {16, 1}}};
enum { kPotrf, kTrsm, kSyrk, kGemm };

void sleep_as_told(void* /*buffers*/[], void* argument) {
  nap(static_cast<const Kernel*>(argument)->ms[own_column()]);
}

void submit(Kernel& kernel, int priority, std::vector<starpu_data_handle_t> tiles) {
  starpu_task* const task = starpu_task_create();
  task->cl = &kernel.codelet;
  task->cl_arg = &kernel;
  task->priority = priority;
  for (std::size_t i = 0; i < tiles.size(); ++i) task->handles[i] = tiles[i];
  if (starpu_task_submit(task) != 0) {
    std::fprintf(stderr, "cholesky: no worker can run %s\n", kernel.name);
    std::exit(1);
  }
}

/// The right-looking factorisation, with the priorities that StarPU's own example gives.
double factorise(int n, const std::vector<starpu_data_handle_t>& tile) {
  const auto at = [&](int row, int column_) { return tile[static_cast<std::size_t>(row * n + column_)]; };
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < n; ++k) {
    submit(kernels[kPotrf], 2 * n - 2 * k, {at(k, k)});
    for (int i = k + 1; i < n; ++i) submit(kernels[kTrsm], 2 * n - 2 * k - i, {at(k, k), at(i, k)});
    for (int i = k + 1; i < n; ++i) {
      submit(kernels[kSyrk], 2 * n - 2 * k - 2 * i, {at(i, k), at(i, i)});
      for (int j = k + 1; j < i; ++j)
        submit(kernels[kGemm], 2 * n - 2 * k - i - j, {at(i, k), at(j, k), at(i, j)});
    }
  }
  starpu_task_wait_for_all();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

void calibrate() {
  for (Kernel& kernel : kernels) {
    calibrate_every_worker([&](unsigned worker) {
      starpu_task* const task = starpu_task_create();
      task->cl = &kernel.codelet;
      task->cl_arg = &kernel;
      std::vector<starpu_data_handle_t> tiles(static_cast<std::size_t>(kernel.tiles));
      for (std::size_t t = 0; t < tiles.size(); ++t) {
        starpu_void_data_register(&tiles[t]);
        task->handles[t] = tiles[t];
      }
      submit_to_worker(task, worker);
      for (const starpu_data_handle_t tile : tiles) starpu_data_unregister_submit(tile);
    });
  }
  starpu_task_wait_for_all();
}

}  // namespace

int main(int argc, char** argv) {
  int tiles = 8, cpus = 2, repeat = 5;
  bool calibrating = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    int* const number = word == "--tiles"    ? &tiles
                        : word == "--cpus"   ? &cpus
                        : word == "--repeat" ? &repeat
                                             : nullptr;
    if (word == "--calibrate") {
      calibrating = true;
    } else if (number == nullptr || i + 1 == argc || (*number = std::atoi(argv[++i])) < 1) {
      std::fprintf(stderr, "usage: cholesky [--tiles N] [--cpus N] [--repeat N] [--calibrate]\n");
      return 2;
    }
  }
  tiles = tiles < 2 ? 2 : tiles;
  if (calibrating) setenv("STARPU_CALIBRATE", "2", 1);
  start_starpu("cholesky", static_cast<unsigned>(cpus), 1);
  for (Kernel& kernel : kernels) {
    kernel.model = history_model(kernel.name);
    starpu_codelet_init(&kernel.codelet);
    kernel.codelet.name = kernel.name;
    kernel.codelet.cpu_funcs[0] = sleep_as_told;
    kernel.codelet.opencl_funcs[0] = sleep_as_told;
    kernel.codelet.nbuffers = kernel.tiles;
    for (int t = 0; t < kernel.tiles; ++t)
      kernel.codelet.modes[t] = t + 1 < kernel.tiles ? STARPU_R : STARPU_RW;
    kernel.codelet.model = &kernel.model;
  }
  std::vector<starpu_data_handle_t> tile(static_cast<std::size_t>(tiles * tiles));
  for (auto& handle : tile) starpu_void_data_register(&handle);
  if (calibrating) calibrate();
  for (int run = 0; run < repeat && !calibrating; ++run) std::printf("%.3f\n", factorise(tiles, tile));
  for (auto& handle : tile) starpu_data_unregister(handle);
  starpu_shutdown();
  return 0;
}
