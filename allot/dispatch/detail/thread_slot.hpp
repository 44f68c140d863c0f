// The slot of the calling thread in data that all threads write.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace allot::detail {

/// Own slots belong to one thread for its lifetime, which writes there without atomic read-modify-write. All
/// further threads share the other slots.
inline constexpr std::size_t kOwnSlots = 64;
inline constexpr std::size_t kSharedSlots = 8;
inline constexpr std::size_t kSlots = kOwnSlots + kSharedSlots;
inline constexpr std::size_t kCacheLine = 64;

/// Whether one thread alone writes to the slot.
constexpr bool is_own(std::size_t slot) noexcept { return slot < kOwnSlots; }

/// Which own slots are taken. The next thread with a slot sees what the previous one wrote there.
template <template <typename> typename Atomic = std::atomic>
class SlotBook {
 public:
  /// The lowest free slot; `kOwnSlots`: none is free.
  std::size_t take() noexcept {
    std::uint64_t taken = taken_.load(std::memory_order_relaxed);
    for (;;) {
      const auto lowest = static_cast<std::size_t>(std::countr_one(taken));
      if (lowest == kOwnSlots) return lowest;
      if (taken_.compare_exchange_weak(taken, taken | std::uint64_t{1} << lowest, std::memory_order_acquire,
                                       std::memory_order_relaxed))
        return lowest;
    }
  }
  void give_back(std::size_t slot) noexcept {
    taken_.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release);
  }

 private:
  Atomic<std::uint64_t> taken_{0};
};

/// The slot of the calling thread; `kSlots`: it has none yet.
inline constinit thread_local std::size_t slot_of_thread = kSlots;
std::size_t take_thread_slot() noexcept;

/// The calling thread's slot, from its first call to its end.
inline std::size_t this_slot() noexcept {
  return slot_of_thread < kSlots ? slot_of_thread : take_thread_slot();
}

/// Adds to a counter of a slot. Returns the previous value.
[[gnu::always_inline]] inline std::uint64_t add_to(std::atomic<std::uint64_t>& counter, std::uint64_t by,
                                                   std::size_t slot) noexcept {
  if (!is_own(slot)) [[unlikely]]
    return counter.fetch_add(by, std::memory_order_relaxed);
  const std::uint64_t before = counter.load(std::memory_order_relaxed);
  counter.store(before + by, std::memory_order_relaxed);
  return before;
}

}  // namespace allot::detail
