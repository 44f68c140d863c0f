// Completions on their way from the threads that report them to the planner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "allot/base/ids.hpp"
#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {

/// One task that has ended.
struct Sample {
  TaskType type{};
  ResourceId resource{};
  double busy_seconds = 0;
  std::uint64_t start_ns = 0;  ///< when it was placed
  std::uint64_t end_ns = 0;
  bool ok = true;
  bool explores = false;
};

/// A queue of fixed size: any number of threads add, one takes, none waits. (Vyukov's bounded queue: a
/// running number in each slot says whether it is free or full, and for which round.)
template <typename Item, std::size_t kSize, template <typename> typename Atomic = std::atomic>
class Ring {
 public:
  static constexpr std::size_t kCapacity = kSize;

  Ring() : slots_(new Slot[kSize]) {
    for (std::size_t at = 0; at < kSize; ++at) slots_[at].turn.store(at, std::memory_order_relaxed);
  }

  /// False if it is full. `alone`: no other thread adds.
  bool put(const Item& item, bool alone = false) noexcept {
    std::uint64_t at = head_.load(std::memory_order_relaxed);
    for (;;) {
      Slot& slot = slots_[at % kSize];
      const std::uint64_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == at) {
        if (alone) {
          head_.store(at + 1, std::memory_order_relaxed);
        } else if (!head_.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) {
          continue;
        }
        slot.item = item;
        slot.turn.store(at + 1, std::memory_order_release);
        return true;
      }
      if (turn < at) return false;  // the item of the last round is still there
      at = head_.load(std::memory_order_relaxed);
    }
  }

  /// False if it is empty, or if the next item is just being added. One thread at a time.
  bool take(Item& item) noexcept {
    Slot& slot = slots_[tail_ % kSize];
    if (slot.turn.load(std::memory_order_acquire) != tail_ + 1) return false;
    item = slot.item;
    slot.turn.store(tail_ + kSize, std::memory_order_release);
    ++tail_;
    return true;
  }

 private:
  struct Slot {
    Atomic<std::uint64_t> turn{0};
    Item item;
  };

  std::unique_ptr<Slot[]> slots_;
  alignas(kCacheLine) Atomic<std::uint64_t> head_{0};
  alignas(kCacheLine) std::uint64_t tail_ = 0;
};

using SampleRing = Ring<Sample, 512>;

}  // namespace allot::detail
