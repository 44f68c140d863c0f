// What all threads of a dispatcher share: how many tasks are where, and where the next may go.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/base/random.hpp"
#include "allot/dispatch/detail/places.hpp"
#include "allot/dispatch/detail/sample_ring.hpp"
#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {

/// Whether tasks of a type may go to a resource.
enum class Access : std::uint8_t {
  kClosed,   ///< no
  kTryOnly,  ///< only a task sent to find out whether it works again
  kOpen,
};

/// Counters of one slot: see `add_to`. Sums of times are modulo 2^64, which differences do not mind.
struct alignas(kCacheLine) Tally {
  Tally(std::size_t types, std::size_t resources, const RandomStream& stream)
      : completions(types, resources), random(stream) {}

  std::atomic<std::uint64_t> placed{0};
  std::atomic<std::uint64_t> explored{0};
  std::atomic<std::uint64_t> unseen{0};
  std::atomic<std::uint64_t> open_starts{0};  ///< ns: of all placed, less those of all ended
  std::atomic<std::uint64_t> responses{0};    ///< ns, of all ended
  std::atomic<std::uint64_t> draws{0};        ///< blocks of random numbers given out by a shared slot
  PerPair<std::atomic<std::uint64_t>> completions;
  SampleRing samples;
  RandomStream random;  ///< of an own slot
};

/// A tally for each slot that has been used. Made when it is used first.
class Tallies {
 public:
  Tallies(std::size_t types, std::size_t resources, std::uint64_t seed)
      : types_(types), resources_(resources), seed_(seed) {
    make(kOwnSlots);  // there is one in any case
  }
  ~Tallies() {
    for (std::atomic<Tally*>& tally : tallies_) delete tally.load(std::memory_order_relaxed);
  }
  Tallies(const Tallies&) = delete;
  Tallies& operator=(const Tallies&) = delete;

  /// Null if there is no memory for it.
  Tally* of(std::size_t slot) noexcept {
    if (Tally* const made = tallies_[slot].load(std::memory_order_acquire)) return made;
    return make(slot, std::nothrow);
  }

  class Iterator {
   public:
    Iterator(std::atomic<Tally*>* at, std::atomic<Tally*>* end) noexcept : at_(at), end_(end) { skip(); }
    Tally& operator*() const noexcept { return *at_->load(std::memory_order_acquire); }
    Iterator& operator++() noexcept {
      ++at_;
      skip();
      return *this;
    }
    bool operator==(const Iterator& other) const noexcept { return at_ == other.at_; }

   private:
    void skip() noexcept {
      while (at_ != end_ && at_->load(std::memory_order_acquire) == nullptr) ++at_;
    }
    std::atomic<Tally*>* at_;
    std::atomic<Tally*>* end_;
  };
  Iterator begin() noexcept { return {tallies_.data(), tallies_.data() + kSlots}; }
  Iterator end() noexcept { return {tallies_.data() + kSlots, tallies_.data() + kSlots}; }

 private:
  Tally* make(std::size_t slot) {
    auto made = std::make_unique<Tally>(types_, resources_, RandomStream(seed_, slot));
    Tally* present = nullptr;
    if (!tallies_[slot].compare_exchange_strong(present, made.get(), std::memory_order_acq_rel))
      return present;  // another thread of the slot was quicker
    return made.release();
  }
  [[gnu::noinline]] Tally* make(std::size_t slot, std::nothrow_t) noexcept {
    try {
      return make(slot);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }

  std::size_t types_;
  std::size_t resources_;
  std::uint64_t seed_;
  std::array<std::atomic<Tally*>, kSlots> tallies_{};
};

/// Fixed room for types and resources, so that nothing ever moves. Every cell is an atomic of its own: what
/// is read of several cells is of about the same moment.
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
  /// Tasks of a pair, in the form of an atomic.
  struct Tasks {
    const Places<>& places;
    TaskType type;
    ResourceId resource;
    Count load(std::memory_order) const noexcept { return places.count(type, resource); }
  };
  Tasks count(TaskType i, ResourceId j) const noexcept { return {places, i, j}; }
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
  /// Takes one of the type; `kNowhere`: there is none.
  ResourceId take_trial(TaskType i) noexcept {
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

  std::size_t words_;  ///< of 64 trials, for each type
  PerPair<std::atomic<std::uint64_t>> failures_;
  PerPair<std::atomic<Access>> access_;
  std::vector<std::atomic<std::uint64_t>> trials_;
  PerType<std::atomic<Count>> waiting_;
  PerResource<std::atomic<Count>> servers_;
  PerResource<std::atomic<bool>> lost_;
  Tallies tallies_;
};

}  // namespace allot::detail
