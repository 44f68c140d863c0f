// Tasks by the (virtual) time at which they will finish.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace allot::detail {

using ThreadId = std::uint32_t;

inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// For some tens of tasks: an unordered array that is scanned completely.
class ScanQueue {
 public:
  void push(double finish, ThreadId thread) {
    if (size_ == finish_.size()) grow();
    finish_[size_] = finish;
    threads_[size_] = thread;
    ++size_;
  }
  /// Finds the first task again after pushes and pops.
  void settle() noexcept {
    const double* finish = finish_.data();
    std::size_t first = 0;
    double least = kNever;
    for (std::size_t at = 0; at < size_; ++at) {
      const bool less = finish[at] < least;
      first = less ? at : first;
      least = less ? finish[at] : least;
    }
    first_ = first;
    least_ = least;
  }
  /// The least finish, or kNever. Valid after `settle`.
  double first_finish() const noexcept { return least_; }
  ThreadId pop() noexcept {
    const ThreadId thread = threads_[first_];
    --size_;
    finish_[first_] = finish_[size_];
    threads_[first_] = threads_[size_];
    return thread;
  }
  /// Subtracts `by` from every finish and returns the new sum.
  double shift(double by) noexcept {
    double sum = 0;
    for (std::size_t at = 0; at < size_; ++at) sum += finish_[at] -= by;
    least_ -= by;
    return sum;
  }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  /// Calls `use` with each thread and its finish.
  template <typename Use>
  void for_each(Use&& use) const {
    for (std::size_t at = 0; at < size_; ++at) use(threads_[at], finish_[at]);
  }

 private:
  [[gnu::noinline]] void grow() {
    finish_.resize(size_ == 0 ? 8 : 2 * size_);
    threads_.resize(finish_.size());
  }

  std::vector<double> finish_;  // the first `size_` count
  std::vector<ThreadId> threads_;
  std::size_t size_ = 0;
  std::size_t first_ = 0;
  double least_ = kNever;
};

/// For many tasks: a heap with four children per node.
class HeapQueue {
 public:
  void push(double finish, ThreadId thread) {
    std::size_t at = entries_.size();
    entries_.push_back({finish, thread});
    while (at > 0) {
      const std::size_t parent = (at - 1) / 4;
      if (entries_[parent].finish <= finish) break;
      entries_[at] = entries_[parent];
      at = parent;
    }
    entries_[at] = {finish, thread};
  }
  void settle() noexcept {}
  double first_finish() const noexcept { return entries_.empty() ? kNever : entries_.front().finish; }
  ThreadId first_thread() const noexcept { return entries_.empty() ? 0 : entries_.front().thread; }
  ThreadId pop() noexcept {
    const ThreadId thread = entries_.front().thread;
    const Entry last = entries_.back();
    entries_.pop_back();
    const std::size_t size = entries_.size();
    if (size == 0) return thread;
    Entry* const entries = entries_.data();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 4 * at + 1) {
      std::size_t least = child;
      if (child + 4 <= size) {  // without branches, since which one is least is unpredictable
        const std::size_t left = child + (entries[child + 1].finish < entries[child].finish ? 1 : 0);
        const std::size_t right = child + 2 + (entries[child + 3].finish < entries[child + 2].finish ? 1 : 0);
        least = entries[right].finish < entries[left].finish ? right : left;
      } else {
        for (std::size_t other = child + 1; other < size; ++other) {
          if (entries[other].finish < entries[least].finish) least = other;
        }
      }
      if (entries[least].finish >= last.finish) break;
      entries[at] = entries[least];
      at = least;
    }
    entries_[at] = last;
    return thread;
  }
  double shift(double by) noexcept {
    double sum = 0;
    for (Entry& entry : entries_) sum += entry.finish -= by;
    return sum;
  }
  bool empty() const noexcept { return entries_.empty(); }
  std::size_t size() const noexcept { return entries_.size(); }
  /// Calls `use` with each thread and its finish.
  template <typename Use>
  void for_each(Use&& use) const {
    for (const Entry& entry : entries_) use(entry.thread, entry.finish);
  }

 private:
  struct Entry {
    double finish;
    ThreadId thread;
  };
  std::vector<Entry> entries_;
};

/// In the order of arrival: a ring that grows.
template <typename Item>
class FifoQueue {
 public:
  [[gnu::always_inline]] void push(const Item& item) {
    if (size_ == ring_.size()) grow();
    ring_[(head_ + size_) & (ring_.size() - 1)] = item;
    ++size_;
  }
  const Item& front() const noexcept { return ring_[head_]; }
  Item pop() noexcept {
    const Item item = ring_[head_];
    head_ = (head_ + 1) & (ring_.size() - 1);
    --size_;
    return item;
  }
  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

 private:
  [[gnu::noinline]] void grow() {
    std::vector<Item> larger(ring_.empty() ? 8 : 2 * ring_.size());
    for (std::size_t at = 0; at < size_; ++at) larger[at] = ring_[(head_ + at) & (ring_.size() - 1)];
    ring_ = std::move(larger);
    head_ = 0;
  }

  std::vector<Item> ring_;  // its size is a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

/// Which resource is due first, for any number of resources: a tournament, O(log R) to update.
class DueTree {
 public:
  explicit DueTree(std::size_t resources) {
    while (leaves_ < resources) leaves_ *= 2;
    due_.assign(leaves_, kNever);
    winner_.assign(2 * leaves_, 0);
    for (std::size_t at = 0; at < leaves_; ++at) winner_[leaves_ + at] = static_cast<std::uint32_t>(at);
    for (std::size_t at = leaves_ - 1; at > 0; --at) decide(at);
  }
  void set(std::size_t resource, double due) noexcept {
    due_[resource] = due;
    for (std::size_t at = (leaves_ + resource) / 2; at > 0; at /= 2) decide(at);
  }
  /// Ties: the lowest index.
  std::size_t first() const noexcept { return leaves_ == 1 ? 0 : winner_[1]; }
  double due(std::size_t resource) const noexcept { return due_[resource]; }

 private:
  void decide(std::size_t at) noexcept {
    const std::uint32_t left = winner_[2 * at];
    const std::uint32_t right = winner_[2 * at + 1];
    winner_[at] = due_[right] < due_[left] ? right : left;
  }

  std::size_t leaves_ = 1;
  std::vector<double> due_;
  std::vector<std::uint32_t> winner_;
};

/// The same for a few resources: scans all of them.
class DueScan {
 public:
  explicit DueScan(std::size_t resources) : due_(resources, kNever) {}
  void set(std::size_t resource, double due) noexcept { due_[resource] = due; }
  std::size_t first() const noexcept {
    const double* due = due_.data();
    std::size_t first = 0;
    double least = due[0];
    for (std::size_t at = 1; at < due_.size(); ++at) {
      const bool less = due[at] < least;
      first = less ? at : first;
      least = less ? due[at] : least;
    }
    return first;
  }
  double due(std::size_t resource) const noexcept { return due_[resource]; }

 private:
  std::vector<double> due_;
};

}  // namespace allot::detail
