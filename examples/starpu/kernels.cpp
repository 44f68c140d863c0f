// A closed loop of StarPU tasks that compute, each kernel written for CPU workers and in OpenCL: scaling a
// vector, a small matrix product, and the lengths of Collatz sequences, whose branches a wide device
// dislikes. A task that ends is followed at once by another of its kind; every result is checked in the end.
//
//   STARPU_SCHED=dmda kernels [--cpus N] [--devices N] [--warmup S] [--seconds S] [--in-flight N] [--json]
#include <starpu_opencl.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "examples/starpu/workers.hpp"

namespace {

using Clock = std::chrono::steady_clock;

constexpr char kSource[] = R"(
__kernel void scale(__global const float* in, __global float* out, unsigned n) {
  const size_t i = get_global_id(0);
  out[i] = 3 * in[i];
}
__kernel void product(__global const float* in, __global float* out, unsigned n) {
  const size_t row = get_global_id(0) / n, column = get_global_id(0) % n;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) sum += in[row * n + k] * in[n * n + k * n + column];
  out[get_global_id(0)] = sum;
}
__kernel void collatz(__global const float* in, __global float* out, unsigned n) {
  const size_t i = get_global_id(0);
  uint steps = 0;
  for (ulong x = (ulong)in[i]; x > 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
  out[i] = steps;
}
)";

void scale(const float* in, float* out, unsigned n) {
  for (unsigned i = 0; i < n; ++i) out[i] = 3 * in[i];
}

void product(const float* in, float* out, unsigned n) {
  std::memset(out, 0, sizeof(float) * n * n);
  for (unsigned row = 0; row < n; ++row)
    for (unsigned k = 0; k < n; ++k)
      for (unsigned column = 0; column < n; ++column)
        out[row * n + column] += in[row * n + k] * in[n * n + k * n + column];
}

void collatz(const float* in, float* out, unsigned n) {
  for (unsigned i = 0; i < n; ++i) {
    unsigned steps = 0;
    for (auto x = static_cast<std::uint64_t>(in[i]); x > 1; ++steps) x = x % 2 == 0 ? x / 2 : 3 * x + 1;
    out[i] = static_cast<float>(steps);
  }
}

/// What is computed: in -> out, of which n is the length or the edge.
struct Kernel {
  const char* name;
  void (*on_cpu)(const float*, float*, unsigned);
  unsigned n;
  unsigned edge_power;  // out has n^edge_power values
  std::vector<float> in, expected;
  starpu_data_handle_t in_handle = nullptr;
  starpu_perfmodel model;
  starpu_codelet codelet;
  std::atomic<std::uint64_t> done[2] = {};  // on CPU workers, on devices

  unsigned out_size() const { return edge_power == 2 ? n * n : n; }
};

/// One of the tasks in flight, with a result of its own.
struct Place {
  Kernel* kernel;
  std::vector<float> out;
  starpu_data_handle_t handle = nullptr;
};

std::deque<Kernel> kernels;
std::deque<Place> places;
starpu_opencl_program program;
std::atomic<bool> ending{false};

void run_on_cpu(void* buffers[], void* argument) {
  const Kernel& kernel = *static_cast<Kernel*>(argument);
  kernel.on_cpu(reinterpret_cast<const float*>(STARPU_VECTOR_GET_PTR(buffers[0])),
                reinterpret_cast<float*>(STARPU_VECTOR_GET_PTR(buffers[1])), kernel.n);
}

void run_on_device(void* buffers[], void* argument) {
  const Kernel& kernel = *static_cast<Kernel*>(argument);
  const auto in = reinterpret_cast<cl_mem>(STARPU_VECTOR_GET_DEV_HANDLE(buffers[0]));
  const auto out = reinterpret_cast<cl_mem>(STARPU_VECTOR_GET_DEV_HANDLE(buffers[1]));
  cl_kernel compiled;
  cl_command_queue queue;
  const std::size_t items = kernel.out_size();
  cl_int error = starpu_opencl_load_kernel(&compiled, &queue, &program, kernel.name,
                                           starpu_worker_get_devid(starpu_worker_get_id()));
  if (error == CL_SUCCESS) error = clSetKernelArg(compiled, 0, sizeof in, &in);
  if (error == CL_SUCCESS) error = clSetKernelArg(compiled, 1, sizeof out, &out);
  if (error == CL_SUCCESS) error = clSetKernelArg(compiled, 2, sizeof kernel.n, &kernel.n);
  if (error == CL_SUCCESS)
    error = clEnqueueNDRangeKernel(queue, compiled, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
  if (error != CL_SUCCESS) STARPU_OPENCL_REPORT_ERROR(error);
  clFinish(queue);
  starpu_opencl_release_kernel(compiled);
}

void completed(void* argument);

void submit(Place& place) {
  starpu_task* const task = starpu_task_create();
  task->cl = &place.kernel->codelet;
  task->cl_arg = place.kernel;
  task->handles[0] = place.kernel->in_handle;
  task->handles[1] = place.handle;
  task->callback_func = completed;
  task->callback_arg = &place;
  if (starpu_task_submit(task) != 0) {
    std::fprintf(stderr, "kernels: no worker can run %s\n", place.kernel->name);
    std::exit(1);
  }
}

void completed(void* argument) {
  auto& place = *static_cast<Place*>(argument);
  const bool device = own_column() != 0;
  place.kernel->done[device].fetch_add(1, std::memory_order_relaxed);
  if (!ending.load(std::memory_order_relaxed)) submit(place);
}

void add_kernel(const char* name, void (*on_cpu)(const float*, float*, unsigned), unsigned n,
                unsigned edge_power) {
  Kernel& kernel = kernels.emplace_back();
  kernel.name = name;
  kernel.on_cpu = on_cpu;
  kernel.n = n;
  kernel.edge_power = edge_power;
  kernel.in.resize(edge_power == 2 ? 2 * n * n : n);
  for (std::size_t i = 0; i < kernel.in.size(); ++i) kernel.in[i] = static_cast<float>(i % 1000 + 1);
  kernel.expected.resize(kernel.out_size());
  on_cpu(kernel.in.data(), kernel.expected.data(), n);
  starpu_vector_data_register(&kernel.in_handle, STARPU_MAIN_RAM,
                              reinterpret_cast<std::uintptr_t>(kernel.in.data()),
                              static_cast<std::uint32_t>(kernel.in.size()), sizeof(float));
  kernel.model = history_model(name);
  starpu_codelet_init(&kernel.codelet);
  kernel.codelet.name = name;
  kernel.codelet.cpu_funcs[0] = run_on_cpu;
  kernel.codelet.opencl_funcs[0] = run_on_device;
  kernel.codelet.nbuffers = 2;
  kernel.codelet.modes[0] = STARPU_R;
  kernel.codelet.modes[1] = STARPU_W;
  kernel.codelet.model = &kernel.model;
}

/// The number of values that are not as the CPU computed them before.
std::size_t wrong(const Place& place) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < place.out.size(); ++i) {
    const float expected = place.kernel->expected[i];
    if (!(std::abs(place.out[i] - expected) <= 1e-4f * std::abs(expected))) ++count;
  }
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  double cpus = 1, devices = 1, warmup = 1, seconds = 3, in_flight = 6;
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    double* const number = word == "--cpus"        ? &cpus
                           : word == "--devices"   ? &devices
                           : word == "--warmup"    ? &warmup
                           : word == "--seconds"   ? &seconds
                           : word == "--in-flight" ? &in_flight
                                                   : nullptr;
    char* end = nullptr;
    if (word == "--json") {
      json = true;
    } else if (number != nullptr &&
               (*number = std::strtod(value, &end), end != value && *end == '\0' && *number >= 0)) {
      ++i;
    } else {
      std::fprintf(
          stderr,
          "usage: kernels [--cpus N] [--devices N] [--warmup S] [--seconds S] [--in-flight N] [--json]\n");
      return 2;
    }
  }
  start_starpu("kernels", static_cast<unsigned>(cpus), static_cast<unsigned>(devices));
  if (starpu_opencl_load_opencl_from_string(kSource, &program, nullptr) != 0) {
    std::fprintf(stderr, "kernels: the OpenCL source does not compile\n");
    return 1;
  }
  add_kernel("scale", scale, 1 << 18, 1);
  add_kernel("product", product, 128, 2);
  add_kernel("collatz", collatz, 1 << 13, 1);
  for (int n = 0; n < static_cast<int>(in_flight); ++n)
    for (Kernel& kernel : kernels) {
      Place& place = places.emplace_back(Place{&kernel, std::vector<float>(kernel.out_size())});
      starpu_vector_data_register(&place.handle, STARPU_MAIN_RAM,
                                  reinterpret_cast<std::uintptr_t>(place.out.data()), kernel.out_size(),
                                  sizeof(float));
    }
  for (Place& place : places) submit(place);

  const auto snapshot = [] {
    std::vector<double> done;
    for (const Kernel& kernel : kernels)
      for (const auto& count : kernel.done) done.push_back(static_cast<double>(count.load()));
    return done;
  };
  std::this_thread::sleep_for(std::chrono::duration<double>(warmup));
  const std::vector<double> before = snapshot();
  const auto begin = Clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  std::vector<double> done = snapshot();
  const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
  ending = true;
  starpu_task_wait_for_all();

  std::size_t errors = 0;
  for (Place& place : places) {
    starpu_data_unregister(place.handle);  // fetches the result
    errors += wrong(place);
  }
  for (Kernel& kernel : kernels) starpu_data_unregister(kernel.in_handle);
  starpu_opencl_unload_opencl(&program);
  starpu_shutdown();

  double total = 0;
  for (std::size_t i = 0; i < done.size(); ++i) total += done[i] -= before[i];
  std::printf(
      json ? "{\"throughput\": %.3f, \"wrong\": %zu, \"types\": {" : "%.2f tasks/s, %zu wrong values\n",
      total / elapsed, errors);
  for (std::size_t i = 0; i < kernels.size(); ++i)
    std::printf(json ? "%s\"%s\": {\"throughput\": %.3f, \"done\": [%.0f, %.0f]}"
                     : "%s  %-8s %9.2f/s  done:  cpu %.0f  ocl %.0f\n",
                json && i > 0 ? ", " : "", kernels[i].name, (done[2 * i] + done[2 * i + 1]) / elapsed,
                done[2 * i], done[2 * i + 1]);
  if (json) std::printf("}}\n");
  return errors == 0 ? 0 : 1;
}
