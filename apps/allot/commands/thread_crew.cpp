#include "apps/allot/commands/crew.hpp"

namespace allot::app {

bool work_for_another(const SweepJob&) { return false; }

std::unique_ptr<Workers> hire_workers(const SweepJob&, unsigned threads) {
  return std::make_unique<ThreadWorkers>(threads);
}

}  // namespace allot::app
