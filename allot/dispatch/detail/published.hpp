// A value that readers use without a lock while a writer replaces it.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {

/// A thread with its own slot pins the value that it reads and leaves it pinned: until it is replaced, the
/// next read costs two loads. Other threads announce themselves in their shared slot, read, and leave. A
/// replaced value is kept until it is pinned nowhere and every shared slot has been seen without a reader
/// since. (Pinning or announcing, reading, replacing and checking are sequentially consistent, so no reader
/// can be missed.)
template <typename Value, template <typename> typename Atomic = std::atomic, std::size_t kOwn = kOwnSlots,
          std::size_t kShared = kSharedSlots>
class Published {
 public:
  class Reader {
   public:
    [[gnu::always_inline]] explicit Reader(const Published& published,
                                           std::size_t slot = this_slot()) noexcept
        : readers_(slot < kOwn ? nullptr : &published.readers_[slot - kOwn].count),
          value_(readers_ == nullptr ? published.pin(slot) : published.announce(*readers_)) {}
    ~Reader() {
      if (readers_ != nullptr) readers_->fetch_sub(1, std::memory_order_release);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    Value& operator*() const noexcept { return *value_; }
    Value* operator->() const noexcept { return value_; }

   private:
    Atomic<std::uint32_t>* readers_;  // null: the slot is the thread's own
    Value* value_;
  };

  explicit Published(std::unique_ptr<Value> first) : value_(first.release()) {}
  /// No thread may still be reading.
  ~Published() { delete value_.load(std::memory_order_relaxed); }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  /// One writer at a time.
  void replace(std::unique_ptr<Value> next) {
    retired_.reserve(retired_.size() + 1);
    retired_.push_back(
        {std::unique_ptr<Value>(value_.exchange(next.release(), std::memory_order_seq_cst)), {}});
    reclaim();
  }

  /// Frees values that no reader can still hold. One writer at a time.
  void reclaim() {
    for (std::size_t at = 0; at < retired_.size();) {
      if (is_held(retired_[at])) {
        ++at;
        continue;
      }
      std::swap(retired_[at], retired_.back());
      retired_.pop_back();
    }
  }

  /// For the writer, which needs no announcement.
  Value& current() noexcept { return *value_.load(std::memory_order_relaxed); }

 private:
  struct alignas(kCacheLine) Readers {
    mutable Atomic<std::uint32_t> count{0};
  };
  struct alignas(kCacheLine) Pin {
    mutable Atomic<Value*> value{nullptr};
  };
  struct Retired {
    std::unique_ptr<Value> value;
    std::bitset<kShared> quiet;  ///< shared slots that were seen without a reader
  };

  /// A pinned value cannot be freed, so if the pinned pointer equals the present one, it is the present
  /// value.
  Value* pin(std::size_t slot) const noexcept {
    Atomic<Value*>& mine = pins_[slot].value;
    Value* value = value_.load(std::memory_order_acquire);
    if (value == mine.load(std::memory_order_relaxed)) return value;
    for (;;) {
      mine.store(value, std::memory_order_seq_cst);
      Value* const now = value_.load(std::memory_order_seq_cst);
      if (now == value) return value;
      value = now;
    }
  }
  Value* announce(Atomic<std::uint32_t>& readers) const noexcept {
    readers.fetch_add(1, std::memory_order_seq_cst);
    return value_.load(std::memory_order_seq_cst);
  }
  bool is_held(Retired& retired) const noexcept {
    for (const Pin& pin : pins_) {
      if (pin.value.load(std::memory_order_seq_cst) == retired.value.get()) return true;
    }
    for (std::size_t s = 0; s < kShared; ++s) {
      if (readers_[s].count.load(std::memory_order_seq_cst) == 0) retired.quiet.set(s);
    }
    return !retired.quiet.all();
  }

  std::array<Readers, kShared> readers_;
  std::array<Pin, kOwn> pins_;
  Atomic<Value*> value_;
  std::vector<Retired> retired_;
};

}  // namespace allot::detail
