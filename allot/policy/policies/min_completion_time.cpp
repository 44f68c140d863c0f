// Minimum completion time: where the new task is expected to finish first, from the mean times of the tasks
// there. Unlike load balancing, it does not know sizes, but it includes the time of the task itself.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

/// The number of resources that are summed together, since counts are stored in rows.
constexpr std::size_t kBlock = 8;
using Seconds = std::array<double, kBlock>;
using FullBlock =
    std::integral_constant<std::size_t, kBlock>;  // known at compile time: the sums stay in registers

class MinCompletionTime final : public Policy {
 public:
  explicit MinCompletionTime(const System& system)
      : types_(system.type_count()), resources_(system.resource_count()), seconds_(types_, resources_) {
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) seconds_(i, j) = system.seconds_per_task(i, j);
    }
    for (const Resource& resource : system.resources())
      servers_.push_back(static_cast<double>(resource.servers));
  }

  /// O(T R), or O(R) if the host has the sums.
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const bool sums_are_there = situation.counts.empty();
    const double* const alone = seconds_.row(i).data();
    auto best = static_cast<std::uint32_t>(index(situation.system->resources_for(i)[0]));
    double soonest = std::numeric_limits<double>::infinity();
    for (std::size_t begin = 0; begin < resources_; begin += kBlock) {
      const std::size_t width = resources_ - begin;
      Seconds sums;
      if (!sums_are_there)
        sums =
            width >= kBlock ? waiting_at(begin, FullBlock(), situation) : waiting_at(begin, width, situation);
      const double* const waiting = sums_are_there ? &situation.remaining[begin] : sums.data();
      for (std::size_t k = 0; k < kBlock && k < width; ++k) {
        if (alone[begin + k] == 0) continue;  // cannot run there
        const double finish = waiting[k] / servers_[begin + k] + alone[begin + k];
        // Without branches, which would be unpredictable.
        const std::uint32_t sooner = finish < soonest ? ~std::uint32_t{0} : 0;
        best ^= (best ^ static_cast<std::uint32_t>(begin + k)) & sooner;
        soonest = std::min(finish, soonest);
      }
    }
    return resource_id(best);
  }

 private:
  /// The sum over the tasks there of 1 / mu, for `width` resources from `begin`.
  template <typename Width>
  Seconds waiting_at(std::size_t begin, Width width, const Situation& situation) const noexcept {
    const Count* n = situation.counts.data() + begin;
    const double* seconds = seconds_.values().data() + begin;
    Seconds sums{};
    for (std::size_t l = 0; l < types_; ++l, n += resources_, seconds += resources_) {
      for (std::size_t k = 0; k < width; ++k) sums[k] += static_cast<double>(n[k]) * seconds[k];
    }
    return sums;
  }

  std::size_t types_;
  std::size_t resources_;
  PerPair<double> seconds_;  // 1 / mu; 0: cannot run there
  std::vector<double> servers_;
};

std::unique_ptr<Policy> make(const System& system, const PolicyOptions&) {
  return std::make_unique<MinCompletionTime>(system);
}

}  // namespace

extern const PolicyInfo min_completion_time;
const PolicyInfo min_completion_time{
    .name = "min-completion-time",
    .summary = "where the task is expected to finish first, by mean task times",
    .make = make,
    .looks_at = Looks::kWork};

}  // namespace allot::policies
