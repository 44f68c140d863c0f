// Minimum completion time: where the new task is expected to finish first, from the mean times of the tasks
// there. Unlike load balancing it knows no sizes, but it counts how long the task itself will take.
#include <algorithm>
#include <array>
#include <limits>

#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

/// Resources that are summed up at a time, row by row, since the counts lie in rows.
constexpr std::size_t kBlock = 16;

class MinCompletionTime final : public Policy {
 public:
  /// O(T R).
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const System& system = *situation.system;
    const std::size_t resources = system.resource_count();
    ResourceId best = system.resources_for(i)[0];
    double soonest = std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < resources; begin += kBlock) {
      const std::size_t end = std::min(begin + kBlock, resources);
      std::array<double, kBlock> waiting{};  // sum over the tasks there of 1 / mu
      for (const TaskType l : system.types()) {
        for (std::size_t j = begin; j < end; ++j) {
          waiting[j - begin] += static_cast<double>(situation.count(l, resource_id(j))) *
                                system.seconds_per_task(l, resource_id(j));
        }
      }
      for (std::size_t at = begin; at < end; ++at) {
        const ResourceId j = resource_id(at);
        if (!system.can_run(i, j)) continue;
        const double finish = waiting[at - begin] / static_cast<double>(system.resource(j).servers) +
                              system.seconds_per_task(i, j);
        if (finish < soonest) {
          best = j;
          soonest = finish;
        }
      }
    }
    return best;
  }
};

std::unique_ptr<Policy> make(const System&, const PolicyOptions&) {
  return std::make_unique<MinCompletionTime>();
}

}  // namespace

extern const PolicyInfo min_completion_time;
const PolicyInfo min_completion_time{
    "min-completion-time", "where the task is expected to finish first, by the mean times of the tasks there",
    make};

}  // namespace allot::policies
