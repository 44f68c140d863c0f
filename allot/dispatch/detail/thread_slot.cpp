#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {
namespace {

SlotBook<> slots;
std::atomic<std::size_t> sharers{0};

std::size_t shared_slot() noexcept {
  return kOwnSlots + sharers.fetch_add(1, std::memory_order_relaxed) % kSharedSlots;
}

/// Gives the slot back when the thread ends. After that, the thread uses a shared slot.
struct SlotOwner {
  SlotOwner() noexcept {
    const std::size_t own = slots.take();
    slot_of_thread = is_own(own) ? own : shared_slot();
  }
  ~SlotOwner() {
    const std::size_t before = slot_of_thread;
    if (!is_own(before)) return;
    slot_of_thread = shared_slot();
    slots.give_back(before);
  }
  SlotOwner(const SlotOwner&) = delete;
  SlotOwner& operator=(const SlotOwner&) = delete;
};

}  // namespace

std::size_t take_thread_slot() noexcept {
  static thread_local const SlotOwner owner;
  return slot_of_thread;
}

}  // namespace allot::detail
