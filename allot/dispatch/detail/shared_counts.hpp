// What all threads of a dispatcher share: how many tasks are at each resource, and where the next may go.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/detail/by_slot.hpp"
#include "allot/dispatch/detail/places.hpp"
#include "allot/dispatch/detail/sample_ring.hpp"
#include "allot/dispatch/detail/thread_slot.hpp"
#include "allot/policy/policy.hpp"

namespace allot::detail {

/// Whether tasks of a type may go to a resource.
enum class Access : std::uint8_t {
  kClosed,   ///< no
  kTryOnly,  ///< only a task that tests whether it works again
  kOpen,
};

/// Counters of one slot: see `add_to`. They are modulo 2^64, so that a thread may subtract what another has
/// added.
struct alignas(kCacheLine) Tally {
 private:
  /// Other threads read loads, so nothing else shares their cache lines, nor that of the vector itself.
  static constexpr std::size_t kApart = kCacheLine / sizeof(std::uint64_t);
  std::vector<std::atomic<std::uint64_t>> loads_;

 public:
  Tally(std::size_t types, std::size_t resources, const RandomStream& stream)
      : loads_(resources + 2 * kApart), pairs(types, resources), random(stream), others(resources, 0) {}

  struct OfPair {
    std::atomic<std::uint64_t> completions{0};
    std::atomic<std::uint64_t> tasks{0};  ///< placed minus left: see `counts_by_slot`
  };

  alignas(kCacheLine) std::atomic<std::uint64_t> placed{0};
  std::atomic<std::uint64_t> explored{0};
  std::atomic<std::uint64_t> unseen{0};
  std::atomic<std::uint64_t> open_starts{0};  ///< ns: sum over all placed minus sum over all ended
  std::atomic<std::uint64_t> responses{0};    ///< ns, sum over all ended
  std::atomic<std::uint64_t> draws{0};        ///< blocks of random numbers given out by a shared slot
  PerPair<OfPair> pairs;
  SampleRing samples;

  /// After this many decisions, the loads of other slots are read again, whatever time the host passes.
  static constexpr int kMostUnread = 64;

  // For a slot of one thread: only that thread uses these members.
  RandomStream random;
  std::vector<Count> others;         ///< sums of the loads of all other slots when last read
  std::uint64_t others_read_ns = 0;  ///< time of that read
  int decisions = kMostUnread;       ///< decisions since then

  /// What the policy looks at for this resource and those after it: tasks, or nanoseconds of work.
  std::atomic<std::uint64_t>* loads(ResourceId first = resource_id(0)) noexcept {
    return &loads_[kApart + index(first)];
  }
};

/// Whether tasks are counted by slot, because no decision looks at the tasks of a pair.
constexpr bool counts_by_slot(Looks looks) noexcept {
  return looks == Looks::kNothing || looks == Looks::kTotals || looks == Looks::kWork;
}

/// A tally for each slot that has been used, made at its first use.
class Tallies {
 public:
  Tallies(std::size_t types, std::size_t resources, std::uint64_t seed)
      : types_(types), resources_(resources), seed_(seed), spare_(make(kOwnSlots)) {}

  /// Null if there is no memory for it; never for the first shared slot.
  Tally* of(std::size_t slot) noexcept {
    if (Tally* const made = tallies_.of(slot)) return made;
    return make_one(slot);
  }
  auto begin() const noexcept { return tallies_.all().begin(); }
  auto end() const noexcept { return tallies_.all().end(); }
  auto others(std::size_t slot) const noexcept { return tallies_.others(slot); }
  bool is_alone(std::size_t slot) const noexcept { return tallies_.is_alone(slot); }

 private:
  std::unique_ptr<Tally> make(std::size_t slot) const {
    return std::make_unique<Tally>(types_, resources_, RandomStream(seed_, slot));
  }
  [[gnu::noinline]] Tally* make_one(std::size_t slot) noexcept {
    try {
      return tallies_.put(slot, make(slot));
    } catch (const std::bad_alloc&) {
      return slot == kOwnSlots ? take_spare() : nullptr;
    }
  }
  Tally* take_spare() noexcept {
    const std::lock_guard lock(spare_mutex_);
    return spare_ ? tallies_.put(kOwnSlots, std::move(spare_)) : tallies_.of(kOwnSlots);
  }

  std::size_t types_;
  std::size_t resources_;
  std::uint64_t seed_;
  BySlot<Tally> tallies_;
  std::mutex spare_mutex_;
  std::unique_ptr<Tally> spare_;
};

/// Fixed room for types and resources, so that nothing ever moves. Every cell is a separate atomic: values
/// read from several cells are from about the same moment.
class SharedCounts {
 public:
  SharedCounts(std::size_t type_room, std::size_t resource_room, std::uint64_t seed)
      : places(type_room, resource_room),
        words_((resource_room + 63) / 64),
        failures_(type_room, resource_room),
        access_(type_room, resource_room),
        trials_(type_room * words_),
        waiting_(type_room),
        servers_(resource_room),
        lost_(resource_room),
        tallies_(type_room, resource_room, seed) {}

  std::size_t type_room() const noexcept { return places.types(); }
  std::size_t resource_room() const noexcept { return places.resources(); }

  std::atomic<std::size_t> types{0};
  std::atomic<std::size_t> resources{0};

  Places<> places;
  /// The tasks of a pair, with the interface of an atomic. The numbers of slots are from about the same
  /// moment: a task may seem to have ended before it was placed.
  struct Tasks {
    const SharedCounts& counts;
    TaskType type;
    ResourceId resource;
    Count load(std::memory_order order) const noexcept {
      auto tasks = static_cast<std::uint64_t>(counts.places.count(type, resource));
      for (const Tally& tally : counts.tallies_) tasks += tally.pairs(type, resource).tasks.load(order);
      return std::max<Count>(0, static_cast<Count>(tasks));
    }
  };
  Tasks count(TaskType i, ResourceId j) const noexcept { return {*this, i, j}; }
  std::atomic<std::uint64_t>& failures(TaskType i, ResourceId j) noexcept { return failures_(i, j); }

  Access access(TaskType i, ResourceId j) const noexcept {
    return access_(i, j).load(std::memory_order_relaxed);
  }
  void set_access(TaskType i, ResourceId j, Access access) noexcept {
    access_(i, j).store(access, std::memory_order_relaxed);
  }
  /// Tasks that wait without being bound to a resource.
  std::atomic<Count>& waiting(TaskType i) noexcept { return waiting_[i]; }
  std::atomic<Count>& servers(ResourceId j) noexcept { return servers_[j]; }
  std::atomic<bool>& lost(ResourceId j) noexcept { return lost_[j]; }

  /// Trials: pairs that the planner wants to try with one task each.
  void ask_for_trial(TaskType i, ResourceId j) noexcept {
    word(i, j).fetch_or(bit(j), std::memory_order_relaxed);
  }
  void drop_trial(TaskType i, ResourceId j) noexcept {
    word(i, j).fetch_and(~bit(j), std::memory_order_relaxed);
  }
  bool trial_asked_for(TaskType i, ResourceId j) noexcept {
    return (word(i, j).load(std::memory_order_relaxed) & bit(j)) != 0;
  }
  bool has_trial(TaskType i) const noexcept {
    for (std::size_t w = 0; w < words_; ++w) {
      if (trials_[index(i) * words_ + w].load(std::memory_order_relaxed) != 0) return true;
    }
    return false;
  }
  /// Takes a trial of the type; `kNowhere`: there is none.
  [[gnu::noinline]] ResourceId take_trial(TaskType i) noexcept {
    for (std::size_t w = 0; w < words_; ++w) {
      std::atomic<std::uint64_t>& trials = trials_[index(i) * words_ + w];
      for (std::uint64_t left = trials.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
        const std::uint64_t lowest = left & (~left + 1);
        if ((trials.fetch_and(~lowest, std::memory_order_relaxed) & lowest) == 0) continue;
        const ResourceId j = resource_id(w * 64 + static_cast<std::size_t>(std::countr_zero(lowest)));
        if (access(i, j) != Access::kClosed) return j;
      }
    }
    return kNowhere;
  }

  Tallies& tallies() noexcept { return tallies_; }

 private:
  std::atomic<std::uint64_t>& word(TaskType i, ResourceId j) noexcept {
    return trials_[index(i) * words_ + index(j) / 64];
  }
  static std::uint64_t bit(ResourceId j) noexcept { return std::uint64_t{1} << (index(j) % 64); }

  std::size_t words_;  ///< words of 64 trials per type
  PerPair<std::atomic<std::uint64_t>> failures_;
  PerPair<std::atomic<Access>> access_;
  std::vector<std::atomic<std::uint64_t>> trials_;
  PerType<std::atomic<Count>> waiting_;
  PerResource<std::atomic<Count>> servers_;
  PerResource<std::atomic<bool>> lost_;
  Tallies tallies_;
};

}  // namespace allot::detail
