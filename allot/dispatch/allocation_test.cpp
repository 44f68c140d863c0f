// Placing a task, letting it wait and completing it allocates nothing. Counts every allocation of the
// process, so it has an executable of its own.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "allot/dispatch/lines.hpp"
#include "allot/model/generate.hpp"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// Not inlined, lest the compiler see a free() meet a new or a delete a malloc().
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace allot {
namespace {

/// Allocations of so many rounds, once the thread has made its first.
std::size_t allocations_of(Dispatcher& dispatcher, std::size_t types, int rounds) {
  std::size_t before = 0;
  for (int k = -1; k < rounds; ++k) {
    if (k == 0) before = allocations;
    for (std::size_t i = 0; i < types; ++i) {
      const auto ticket = dispatcher.place(task_type(i));
      dispatcher.complete(*ticket, 1, true);
    }
  }
  return allocations - before;
}

TEST(Dispatcher, AllocatesNothingForATask) {
  DispatcherOptions options;
  options.planning = Planning::kDeferred;     // the planner's thread may allocate
  for (const std::size_t size : {8U, 40U}) {  // counts on the stack, and not
    const System system =
        generate({.general = size, .specialized = 0, .threads = static_cast<Count>(2 * size), .seed = 1})
            .system;
    std::vector<TaskClass> types;
    for (const TaskClass& task : system.tasks()) types.push_back({task.name, task.count, {}, {}, {}});
    std::vector<RatePrior> priors;
    for (const double rate : system.rates().values()) priors.push_back(RatePrior::measured(rate));
    for (const char* policy : {"map", "jsq", "round-robin", "random", "load-balance"}) {
      SCOPED_TRACE(policy);
      options.policy = policy;
      Dispatcher dispatcher(system.resources(), types, priors, options);
      EXPECT_EQ(allocations_of(dispatcher, size, 50), 0U);
    }
  }
}

TEST(Lines, AllocateNothingOnceTheyHaveBeenAsFull) {
  constexpr std::size_t kTypes = 6;
  constexpr std::size_t kResources = 4;
  Lines lines({});
  lines.resize(kTypes, kResources);
  TaskPool<WaitingTask> pool;
  std::size_t before = 0;
  for (int round = 0; round < 50; ++round) {
    if (round == 1) before = allocations;
    for (std::size_t k = 0; k < 100; ++k) {
      WaitingTask& task = pool.make();
      task.ticket = {task_type(k % kTypes), resource_id(k % kResources)};
      task.urgency = static_cast<int>(k % 3);
      k % 2 == 0 ? lines.put(task) : lines.put_unbound(task);
    }
    for (std::size_t k = 0; lines.waiting() > 0; ++k) {
      const ResourceId j = resource_id(k % kResources);
      WaitingTask* const task = lines.take(j, 0.01 * static_cast<double>(k), [](TaskType) { return true; });
      if (task == nullptr) continue;
      lines.served(task->ticket.type, j, 0.01);
      pool.release(*task);
    }
  }
  EXPECT_EQ(allocations - before, 0U);
}

}  // namespace
}  // namespace allot
