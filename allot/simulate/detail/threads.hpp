// The threads of a simulation, their present tasks, and the random numbers for task sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/model/scenario.hpp"
#include "allot/simulate/detail/queues.hpp"
#include "allot/size/distribution.hpp"

namespace allot::detail {

/// The purpose of a stream of random numbers. A stream is identified by random seed, purpose, replication and
/// thread, so that the k-th task of a thread has the same size under every policy.
enum class Purpose : std::uint64_t { kSizes, kStart, kPolicy, kArrivals, kOpenSizes };

inline std::uint64_t stream_id(Purpose purpose, std::uint32_t replication,
                               std::uint32_t thread = 0) noexcept {
  return (static_cast<std::uint64_t>(purpose) << 56) | (std::uint64_t{replication & 0xffffffU} << 32) |
         thread;
}

/// Sizes drawn ahead, a block at a time.
struct SizeBuffer {
  std::uint64_t stream = 0;
  std::uint64_t block = 0;
  std::uint32_t used = RandomStream::kBlock;
  double sizes[RandomStream::kBlock] = {};

  double next(const Distribution& distribution, std::uint64_t seed) noexcept {
    if (used == RandomStream::kBlock) refill(distribution, seed);
    return sizes[used++];
  }

  std::uint64_t drawn() const noexcept {
    return block * RandomStream::kBlock - (RandomStream::kBlock - used);
  }

  [[gnu::noinline]] void refill(const Distribution& distribution, std::uint64_t seed) noexcept {
    RandomStream random(seed, stream, block++);
    distribution.sample(random, sizes);
    used = 0;
  }
};

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

struct Thread {
  double entered = 0;
  double size = 0;
  double next_size = 0;  // drawn one task ahead, so that it is available at once
  std::uint64_t task = 0;
  std::uint32_t type = 0;
  std::uint32_t resource = 0;
  std::uint32_t group = kNone;  // of threads that change type
  std::uint32_t step = 0;       // in the group's sequence
  std::uint32_t open = kNone;   // the open class it belongs to: leaves when done
  bool alive = true;
};

/// All threads; those that have left keep their place until another takes it.
class Threads {
 public:
  Threads(const Distribution& sizes, std::uint64_t seed, std::uint32_t replication) noexcept
      : sizes_(sizes), seed_(seed), replication_(replication) {}

  void reserve(std::size_t count) {
    threads_.reserve(count);
    buffers_.reserve(count);
  }

  std::size_t size() const noexcept { return threads_.size(); }
  Thread& operator[](ThreadId id) noexcept { return threads_[id]; }
  const Thread& operator[](ThreadId id) const noexcept { return threads_[id]; }
  auto begin() noexcept { return threads_.begin(); }
  auto end() noexcept { return threads_.end(); }

  /// Whether one more thread would exceed `most`.
  bool is_full(std::uint64_t most) const noexcept { return free_.empty() && threads_.size() >= most; }

  ThreadId add(std::uint32_t type) {
    Thread thread;
    thread.type = type;
    ThreadId id = 0;
    if (free_.empty()) {
      id = static_cast<ThreadId>(threads_.size());
      threads_.push_back(thread);
      buffers_.emplace_back();
    } else {
      id = free_.back();
      free_.pop_back();
      threads_[id] = thread;
      buffers_[id] = {};
    }
    buffers_[id].stream = stream_id(Purpose::kSizes, replication_, births_++);
    threads_[id].next_size = buffers_[id].next(sizes_, seed_);
    return id;
  }

  void remove(ThreadId id) {
    threads_[id].alive = false;
    free_.push_back(id);
  }

  /// Marks the threads added so far as present from the start.
  void are_founders() noexcept { founders_ = births_; }

  /// The order in which threads enter: as added, or at random.
  std::vector<ThreadId> entry_order(bool is_random) {
    std::vector<ThreadId> order(threads_.size());
    std::iota(order.begin(), order.end(), ThreadId{0});
    if (!is_random) return order;
    RandomStream random(seed_, stream_id(Purpose::kStart, replication_));
    for (std::size_t left = order.size(); left > 1; --left)
      std::swap(order[left - 1], order[random.below(left)]);
    // If sizes never vary, the rhythm of the start lasts forever. So each thread begins at a random point
    // within a task, which makes replications as different as the start can.
    if (sizes_.variance() == 0) {
      for (Thread& thread : threads_) thread.next_size *= random.uniform();
    }
    return order;
  }

  /// The size of the thread's next task.
  [[gnu::always_inline]] double next_size(ThreadId id) noexcept {
    return std::exchange(threads_[id].next_size, buffers_[id].next(sizes_, seed_));
  }

  /// Prefetches what `next_size` will need: with many threads, it is in no cache.
  [[gnu::always_inline]] void fetch(ThreadId id) const noexcept {
    __builtin_prefetch(&threads_[id], 1);
    const SizeBuffer& buffer = buffers_[id];
    __builtin_prefetch(&buffer, 1);
    __builtin_prefetch(buffer.sizes + RandomStream::kBlock / 2);
  }

  /// The fewest tasks that a founder has completed, among those still present that `counts` accepts.
  template <typename Counts>
  std::uint64_t fewest_turns(const Counts& counts) const noexcept {
    std::uint64_t fewest = ~std::uint64_t{0};
    for (ThreadId id = 0; id < threads_.size(); ++id) {
      const bool is_founder = static_cast<std::uint32_t>(buffers_[id].stream) < founders_;
      if (!threads_[id].alive || threads_[id].open != kNone || !is_founder || !counts(threads_[id])) continue;
      // One size is drawn ahead, and one belongs to the present task.
      fewest = std::min(fewest, buffers_[id].drawn() - 2);
    }
    return fewest;
  }

  /// Seconds that tasks have been in the system: the sum, and that of the oldest.
  double ages(double now) const noexcept {
    double sum = 0;
    for (const Thread& thread : threads_) sum += thread.alive ? now - thread.entered : 0.0;
    return sum;
  }
  double oldest(double now) const noexcept {
    double oldest = 0;
    for (const Thread& thread : threads_) {
      if (thread.alive) oldest = std::max(oldest, now - thread.entered);
    }
    return oldest;
  }

 private:
  const Distribution& sizes_;
  std::uint64_t seed_;
  std::uint32_t replication_;
  std::vector<Thread> threads_;
  std::vector<SizeBuffer> buffers_;
  std::vector<ThreadId> free_;
  std::uint32_t births_ = 0;
  std::uint32_t founders_ = 0;  // the number of births at the start
};

/// The largest number of threads in a scenario, without arrivals.
double threads_of(const Scenario& scenario);
/// The approximate number of bytes per thread in an engine.
double bytes_per_thread();

}  // namespace allot::detail
