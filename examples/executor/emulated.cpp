// Cores and a device, two kinds of task, and an executor that is given no rates. The
// device is emulated: its tasks sleep, and each of its servers keeps a buffer, as a real one would keep a
// stream.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "allot/execute/executor.hpp"

namespace {

void work(double milliseconds) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(milliseconds));
}

struct Device {
  std::vector<std::byte> buffer = std::vector<std::byte>(1 << 20);
};

}  // namespace

int main() {
  allot::ExecutorSetup setup;
  const auto cpu = setup.resource({.name = "cpu", .servers = 6});
  const auto gpu = setup.resource({.name = "gpu"}, [] { return Device(); });
  const auto resize = setup.kind<int(int)>({.name = "resize"},  //
                                           on(cpu, [](int photo) { return work(22), photo; }),
                                           on(gpu, [](Device&, int photo) { return work(2), photo; }));
  const auto detect =
      setup.kind<void(int)>({.name = "detect"},  //
                            on(cpu, [](int) { work(71); }), on(gpu, [](Device&, int) { work(8); }));
  allot::Executor executor(setup, {.backlog = 1000});

  // A future for one kind, a callback for the other.
  std::atomic<int> detected{0};
  std::vector<std::future<int>> resized;
  for (int photo = 0; photo < 200; ++photo) {
    resized.push_back(executor.submit(resize, photo));
    executor.submit_then(
        detect, [&](const allot::TaskResult<void>& result) { detected += result.ok() ? 1 : 0; }, photo);
  }
  int sum = 0;
  for (auto& photo : resized) sum += photo.get();
  executor.wait();
  std::printf("resized %zu (%d), detected %d\n", resized.size(), sum, detected.load());
}
