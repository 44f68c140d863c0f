// Placing a task allocates nothing, nor does a population that a policy remembers. Counts every allocation of
// the process, so it has an executable of its own.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <vector>

#include "allot/model/generate.hpp"
#include "allot/policy/policy.hpp"
#include "tests/support/situations.hpp"

namespace {
std::size_t allocations = 0;
}  // namespace

// Not inlined, lest the compiler see a free() meet a new or a delete a malloc().
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace allot {
namespace {

TEST(Policies, AllocateNothingWhenTheyPlaceOrMeetAPopulationAgain) {
  const System system =
      generate({.general = 5, .specialized = 3, .threads = 40, .priorities = true, .seed = 1}).system;
  PolicyOptions options;
  options.assignment = home_assignment(system);
  RandomStream random(1);
  const testing::Tasks tasks = testing::random_tasks(system, random);
  const std::vector<Count> one = testing::population_of(system);
  std::vector<Count> other = one;
  ++other[0];
  for (const PolicyInfo* info : builtin_policies()) {
    SCOPED_TRACE(info->name);
    const auto policy = info->make(system, options);
    std::vector<std::uint32_t> memory(policy->memory_size());
    policy->set_population(one);
    policy->set_population(other);
    const std::size_t before = allocations;
    for (int round = 0; round < 100; ++round) {
      policy->set_population(round % 2 == 0 ? one : other);
      for (const TaskType i : system.types()) policy->place(i, tasks.situation(), memory, random);
    }
    EXPECT_EQ(allocations, before);
  }
}

}  // namespace
}  // namespace allot
