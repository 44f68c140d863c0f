// Two threads with a queue each, and a dispatcher that decides which queue a task joins. It is given no
// rates. When a task ends, another of its type follows.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "queue.hpp"

using namespace allot;

/// Takes the place of real work: milliseconds for each type on each resource, which the dispatcher does not
/// know.
double work(const Ticket& task) {
  constexpr int kMilliseconds[2][2] = {{2, 3}, {4, 20}};
  const auto begin = Clock::now();
  std::this_thread::sleep_for(
      std::chrono::milliseconds(kMilliseconds[index(task.type)][index(task.resource)]));
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

int main() {
  Dispatcher dispatcher(
      {{.name = "big", .discipline = Discipline::kFcfs}, {.name = "little", .discipline = Discipline::kFcfs}},
      {{.name = "a", .count = 6}, {.name = "b", .count = 6}}, std::vector<RatePrior>(4));
  Queue<Ticket> queues[2];
  const auto submit = [&](TaskType type) {
    if (const auto task = dispatcher.place(type)) queues[index(task->resource)].push(*task);
  };
  const auto serve = [&](Queue<Ticket>& queue) {
    while (const auto task = queue.pop()) {
      dispatcher.complete(*task, work(*task), true);
      submit(task->type);
    }
  };
  std::thread big([&] { serve(queues[0]); });
  std::thread little([&] { serve(queues[1]); });
  for (int k = 0; k < 12; ++k) submit(task_type(k % 2));

  std::this_thread::sleep_for(std::chrono::seconds(1));
  for (auto& queue : queues) queue.close();
  big.join();
  little.join();
  std::printf("%.0f tasks per second; the plan promises %.0f\n", dispatcher.statistics().throughput,
              dispatcher.plan()->predicted->throughput);
}
