// One value for each slot of threads that has been used.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>

#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {

/// Values are only added. A later pass over all values misses none: a slot is marked before its value becomes
/// visible.
template <typename Value, template <typename> typename Atomic = std::atomic, std::size_t kSize = kSlots>
class BySlot {
 public:
  BySlot() = default;
  ~BySlot() {
    for (Atomic<Value*>& value : values_) delete value.load(std::memory_order_relaxed);
  }
  BySlot(const BySlot&) = delete;
  BySlot& operator=(const BySlot&) = delete;

  /// Null: there is none yet.
  Value* of(std::size_t slot) const noexcept { return values_[slot].load(std::memory_order_acquire); }
  /// Returns the slot's value from now on: this one, or that of a thread that was quicker.
  Value* put(std::size_t slot, std::unique_ptr<Value> value) noexcept {
    marks_[slot / 64].fetch_or(std::uint64_t{1} << (slot % 64), std::memory_order_relaxed);
    Value* present = nullptr;
    if (!values_[slot].compare_exchange_strong(present, value.get(), std::memory_order_acq_rel,
                                               std::memory_order_acquire))
      return present;
    return value.release();
  }

  /// Whether no other slot has been used.
  bool is_alone(std::size_t slot) const noexcept {
    std::uint64_t others = 0;
    for (std::size_t word = 0; word < marks_.size(); ++word) {
      const std::uint64_t own = slot / 64 == word ? std::uint64_t{1} << (slot % 64) : 0;
      others |= marks_[word].load(std::memory_order_relaxed) & ~own;
    }
    return others == 0;
  }

  /// Visits all values, except that of one slot.
  class Iterator {
   public:
    Iterator(const BySlot& all, std::size_t except) noexcept : all_(&all), except_(except), left_(marks()) {
      ++*this;
    }
    Value& operator*() const noexcept { return *value_; }
    Iterator& operator++() noexcept {
      do {
        while (left_ == 0) {
          value_ = nullptr;
          if (++word_ == all_->marks_.size()) return *this;
          left_ = marks();
        }
        value_ = all_->of(64 * word_ + static_cast<std::size_t>(std::countr_zero(left_)));
        left_ &= left_ - 1;
      } while (value_ == nullptr);  // another thread is just adding it
      return *this;
    }
    bool operator==(std::default_sentinel_t) const noexcept { return value_ == nullptr; }

   private:
    std::uint64_t marks() const noexcept {
      const std::uint64_t marks = all_->marks_[word_].load(std::memory_order_relaxed);
      return except_ / 64 == word_ ? marks & ~(std::uint64_t{1} << (except_ % 64)) : marks;
    }
    const BySlot* all_;
    std::size_t except_;
    std::size_t word_ = 0;
    std::uint64_t left_;  ///< marks of the word
    Value* value_ = nullptr;
  };
  struct Range {
    const BySlot* all;
    std::size_t except;
    Iterator begin() const noexcept { return Iterator(*all, except); }
    std::default_sentinel_t end() const noexcept { return {}; }
  };
  Range all() const noexcept { return {this, kNone}; }
  Range others(std::size_t slot) const noexcept { return {this, slot}; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::array<Atomic<Value*>, kSize> values_{};
  std::array<Atomic<std::uint64_t>, (kSize + 63) / 64> marks_{};
};

}  // namespace allot::detail
