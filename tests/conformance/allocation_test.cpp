// MapSolver promises not to allocate once it has seen a system of a size. Counts every allocation of the
// process, so it has an executable of its own.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "allot/model/generate.hpp"
#include "allot/solve/map.hpp"

namespace {
std::size_t allocations = 0;
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

TEST(Counting, SeesAnAllocation) {
  const std::size_t before = allocations;
  auto* const number = new std::size_t(before);
  EXPECT_EQ(*number, before);
  delete number;
  EXPECT_GT(allocations, before);
}

TEST(MapSolver, AllocatesNothingOnceItHasSeenASystemOfTheSize) {
  MapSolver solver;
  Assignment assignment;
  const SolveOptions options;
  // The longest climb of these systems has been seen after the first round; the second must not allocate.
  std::vector<System> systems;
  for (std::uint64_t seed = 0; seed < 100; ++seed) systems.push_back(generate({.seed = seed}).system);
  for (const System& system : systems) solver.solve(system, assignment, options);
  const std::size_t before = allocations;
  for (const System& system : systems) solver.solve(system, assignment, options);
  EXPECT_EQ(allocations, before);
}

TEST(MapSolver, AllocatesNothingWhenOnlyTheCountsChange) {
  MapSolver solver;
  Assignment assignment;
  const SolveOptions options;
  const System system = generate({.general = 4, .specialized = 2, .threads = 72, .seed = 9}).system;
  std::vector<System> populations;
  for (Count n = 0; n < 20; ++n) {
    const Count counts[] = {n, 20 - n, 12, n, 12, 20 - n};
    populations.push_back(system.with_counts(counts));
  }
  solver.solve(system, assignment, options);
  const std::size_t before = allocations;
  for (const System& population : populations) solver.solve(population, assignment, options);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace allot
