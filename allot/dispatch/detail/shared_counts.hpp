// What all threads of a dispatcher share: how many tasks are where, and where the next may go.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/dispatch/detail/published.hpp"
#include "allot/dispatch/detail/sample_ring.hpp"

namespace allot::detail {

/// Whether tasks of a type may go to a resource.
enum class Access : std::uint8_t {
  kClosed,   ///< no
  kTryOnly,  ///< only a task sent to find out whether it works again
  kOpen,
};

/// Counters of one stripe. Sums of times are modulo 2^64, which differences do not mind.
struct alignas(kCacheLine) Tally {
  std::atomic<std::uint64_t> placed{0};
  std::atomic<std::uint64_t> ended{0};
  std::atomic<std::uint64_t> explored{0};
  std::atomic<std::uint64_t> unseen{0};
  std::atomic<std::uint64_t> starts{0};        ///< ns, of all placed
  std::atomic<std::uint64_t> ended_starts{0};  ///< ns, of all ended
  std::atomic<std::uint64_t> ends{0};          ///< ns, of all ended
  std::atomic<std::uint64_t> draws{0};         ///< blocks of random numbers given out
  SampleRing samples;
};

/// Fixed room for types and resources, so that nothing ever moves. Every cell is an atomic of its own: what
/// is read of several cells is of about the same moment.
class SharedCounts {
 public:
  SharedCounts(std::size_t type_room, std::size_t resource_room)
      : words_((resource_room + 63) / 64),
        counts_(type_room, resource_room),
        completions_(type_room, resource_room),
        failures_(type_room, resource_room),
        access_(type_room, resource_room),
        trials_(type_room * words_),
        waiting_(type_room),
        servers_(resource_room),
        lost_(resource_room) {}

  std::size_t type_room() const noexcept { return counts_.types(); }
  std::size_t resource_room() const noexcept { return counts_.resources(); }

  std::atomic<std::size_t> types{0};
  std::atomic<std::size_t> resources{0};

  std::atomic<Count>& count(TaskType i, ResourceId j) noexcept { return counts_(i, j); }
  const std::atomic<Count>& count(TaskType i, ResourceId j) const noexcept { return counts_(i, j); }
  std::atomic<std::uint64_t>& completions(TaskType i, ResourceId j) noexcept { return completions_(i, j); }
  std::atomic<std::uint64_t>& failures(TaskType i, ResourceId j) noexcept { return failures_(i, j); }

  Access access(TaskType i, ResourceId j) const noexcept {
    return access_(i, j).load(std::memory_order_relaxed);
  }
  void set_access(TaskType i, ResourceId j, Access access) noexcept {
    access_(i, j).store(access, std::memory_order_relaxed);
  }
  /// Tasks that wait for no resource in particular.
  std::atomic<Count>& waiting(TaskType i) noexcept { return waiting_[i]; }
  std::atomic<Count>& servers(ResourceId j) noexcept { return servers_[j]; }
  std::atomic<bool>& lost(ResourceId j) noexcept { return lost_[j]; }

  /// Trials: pairs that the planner asks to have tried, one task each.
  void ask_for_trial(TaskType i, ResourceId j) noexcept {
    word(i, j).fetch_or(bit(j), std::memory_order_relaxed);
  }
  void drop_trial(TaskType i, ResourceId j) noexcept {
    word(i, j).fetch_and(~bit(j), std::memory_order_relaxed);
  }
  bool trial_asked_for(TaskType i, ResourceId j) noexcept {
    return (word(i, j).load(std::memory_order_relaxed) & bit(j)) != 0;
  }
  /// Takes one of the type, if there is one.
  std::optional<ResourceId> take_trial(TaskType i) noexcept {
    for (std::size_t w = 0; w < words_; ++w) {
      std::atomic<std::uint64_t>& trials = trials_[index(i) * words_ + w];
      for (std::uint64_t left = trials.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
        const std::uint64_t lowest = left & (~left + 1);
        if ((trials.fetch_and(~lowest, std::memory_order_relaxed) & lowest) == 0) continue;
        const ResourceId j = resource_id(w * 64 + static_cast<std::size_t>(std::countr_zero(lowest)));
        if (access(i, j) != Access::kClosed) return j;
      }
    }
    return std::nullopt;
  }

  Tally& tally() noexcept { return tallies_[this_stripe()]; }
  std::array<Tally, kStripes>& tallies() noexcept { return tallies_; }

 private:
  std::atomic<std::uint64_t>& word(TaskType i, ResourceId j) noexcept {
    return trials_[index(i) * words_ + index(j) / 64];
  }
  static std::uint64_t bit(ResourceId j) noexcept { return std::uint64_t{1} << (index(j) % 64); }

  std::size_t words_;  ///< of 64 trials, for each type
  PerPair<std::atomic<Count>> counts_;
  PerPair<std::atomic<std::uint64_t>> completions_;
  PerPair<std::atomic<std::uint64_t>> failures_;
  PerPair<std::atomic<Access>> access_;
  std::vector<std::atomic<std::uint64_t>> trials_;
  PerType<std::atomic<Count>> waiting_;
  PerResource<std::atomic<Count>> servers_;
  PerResource<std::atomic<bool>> lost_;
  std::array<Tally, kStripes> tallies_;
};

}  // namespace allot::detail
