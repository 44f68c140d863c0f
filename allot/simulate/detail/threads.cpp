#include "allot/simulate/detail/threads.hpp"

namespace allot::detail {

double threads_of(const Scenario& scenario) {
  auto threads = static_cast<double>(scenario.system.population());
  for (const ThreadGroup& group : scenario.threads) threads += static_cast<double>(group.count);
  for (const PopulationChange& change : scenario.population)
    threads += static_cast<double>(std::max<Count>(0, change.change));
  return threads;
}

double bytes_per_thread() {
  // Includes its entries in a queue that may have grown and in the order of entry.
  return sizeof(Thread) + sizeof(SizeBuffer) + 2.5 * (sizeof(double) + sizeof(ThreadId)) +
         2 * sizeof(ThreadId);
}

}  // namespace allot::detail
