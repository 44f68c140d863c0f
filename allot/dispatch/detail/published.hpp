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

namespace allot::detail {

/// What threads write often is spread over so many cache lines; each thread keeps to one.
inline constexpr std::size_t kStripes = 16;
inline constexpr std::size_t kCacheLine = 64;

/// The stripe of the calling thread: the threads of a process take them in turn.
inline std::size_t this_stripe() noexcept {
  static std::atomic<std::size_t> next{0};
  thread_local const std::size_t mine = next.fetch_add(1, std::memory_order_relaxed) % kStripes;
  return mine;
}

/// Readers announce themselves in their stripe, look, and leave. A value that has been replaced is kept until
/// every stripe was seen without a reader since: a reader that comes later finds the new value. (Announcing,
/// looking, replacing and checking are sequentially consistent, so no reader can be missed.)
template <typename Value>
class Published {
 public:
  class Reader {
   public:
    explicit Reader(const Published& published) noexcept : readers_(published.readers_[this_stripe()].count) {
      readers_.fetch_add(1, std::memory_order_seq_cst);
      value_ = published.value_.load(std::memory_order_seq_cst);
    }
    ~Reader() { readers_.fetch_sub(1, std::memory_order_release); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    Value& operator*() const noexcept { return *value_; }
    Value* operator->() const noexcept { return value_; }

   private:
    std::atomic<std::uint32_t>& readers_;
    Value* value_;
  };

  explicit Published(std::unique_ptr<Value> first) : value_(first.release()) {}
  /// Nobody may be reading any more.
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

  /// Frees what no reader can hold any more. One writer at a time.
  void reclaim() {
    for (std::size_t at = 0; at < retired_.size();) {
      auto& [value, quiet] = retired_[at];
      for (std::size_t s = 0; s < kStripes; ++s) {
        if (readers_[s].count.load(std::memory_order_seq_cst) == 0) quiet.set(s);
      }
      if (!quiet.all()) {
        ++at;
        continue;
      }
      std::swap(retired_[at], retired_.back());
      retired_.pop_back();
    }
  }

  /// For the writer, who needs no announcement.
  Value& current() noexcept { return *value_.load(std::memory_order_relaxed); }

 private:
  struct alignas(kCacheLine) Readers {
    mutable std::atomic<std::uint32_t> count{0};
  };
  struct Retired {
    std::unique_ptr<Value> value;
    std::bitset<kStripes> quiet;  ///< stripes that were seen without a reader
  };

  std::array<Readers, kStripes> readers_;
  std::atomic<Value*> value_;
  std::vector<Retired> retired_;
};

}  // namespace allot::detail
