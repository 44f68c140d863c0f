// A queue between threads, first in, first out.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

template <typename Item>
class Queue {
 public:
  void push(const Item& item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
    }
    changed_.notify_one();
  }

  /// Waits for an item; none once the queue is closed.
  std::optional<Item> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (closed_) return std::nullopt;
    const Item item = items_.front();
    items_.pop_front();
    return item;
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  bool closed_ = false;
};
