// CUDA streams under an executor: a GPU with four servers, each with its own stream and buffers, and cores
// for the same work. The sums are checked.
#include <cuda_runtime.h>

#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "allot/execute/executor.hpp"

/// On the device, in add_up.cu.
void add_up(const float* numbers, int count, double* sum, cudaStream_t stream);

namespace {

constexpr int kNumbers = 1 << 20;

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/// The state of a server of the GPU, made once, on its thread.
class Stream {
 public:
  Stream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaMalloc(&numbers_, kNumbers * sizeof(float)));
    check(cudaMalloc(&sum_, sizeof(double)));
  }
  ~Stream() {
    cudaFree(sum_);
    cudaFree(numbers_);
    cudaStreamDestroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  double sum(const std::vector<float>& numbers) {
    double result = 0;
    check(cudaMemcpyAsync(numbers_, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice,
                          stream_));
    check(cudaMemsetAsync(sum_, 0, sizeof(double), stream_));
    add_up(numbers_, static_cast<int>(numbers.size()), sum_, stream_);
    check(cudaGetLastError());
    check(cudaMemcpyAsync(&result, sum_, sizeof(double), cudaMemcpyDeviceToHost, stream_));
    check(cudaStreamSynchronize(stream_));  // the server is busy until its result is ready
    return result;
  }

 private:
  cudaStream_t stream_ = nullptr;
  float* numbers_ = nullptr;
  double* sum_ = nullptr;
};

}  // namespace

int main() {
  allot::ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 4});
  const auto gpu = setup.resource({.name = "gpu", .servers = 4}, [] { return Stream(); });
  const auto sum = setup.kind<double(const std::vector<float>*)>(
      {.name = "sum"},
      on(cpu,
         [](const std::vector<float>* numbers) {
           return std::accumulate(numbers->begin(), numbers->end(), 0.0);
         }),
      on(gpu, [](Stream& stream, const std::vector<float>* numbers) { return stream.sum(*numbers); }));
  allot::Executor executor(setup);

  std::vector<float> numbers(kNumbers);
  for (int k = 0; k < kNumbers; ++k) numbers[k] = static_cast<float>(k % 100);
  const double expected = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  std::vector<std::future<double>> sums;
  for (int k = 0; k < 2000; ++k) sums.push_back(executor.submit(sum, &numbers));
  int wrong = 0;
  for (auto& one : sums) wrong += one.get() == expected ? 0 : 1;
  executor.wait();
  const allot::FeedStatistics all = executor.statistics();
  std::printf("%zu sums, %d of them wrong: %llu on cpu, %llu on gpu\n", sums.size(), wrong,
              static_cast<unsigned long long>(all.pairs(sum.id(), cpu.id).completed),
              static_cast<unsigned long long>(all.pairs(sum.id(), gpu.id).completed));
  return wrong == 0 ? 0 : 1;
}
