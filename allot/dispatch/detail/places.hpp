// How many tasks of each type are at each resource, for threads that make decisions concurrently.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/dispatch/detail/thread_slot.hpp"

namespace allot::detail {

/// No resource: cheaper to return than an `optional`, which is written in two parts and read as one.
inline constexpr ResourceId kNowhere = resource_id(0xffff'ffff);

/// A cell for each pair counts the places of its tasks. A place that a thread frees stays in the cell, and
/// the thread's slot *holds* it, one for each type: if the thread's next task of the type goes there, no
/// other thread is involved. So the tasks of a pair are the count of its cell minus the held places.
///
/// Every change is one atomic step on one word. A thread takes a held place by swapping it for nothing; a
/// cell grows only if it still has the value that the decision saw. So concurrent decisions never fill a
/// resource beyond what one of them found right; `interleavings_test.cpp` checks all orders of steps.
template <template <typename> typename Atomic = std::atomic>
class Places {
 public:
  Places(std::size_t types, std::size_t resources)
      : lines_((types + kPerLine - 1) / kPerLine), cells_(types, resources), held_(kOwnSlots * lines_) {}

  std::size_t types() const noexcept { return cells_.types(); }
  std::size_t resources() const noexcept { return cells_.resources(); }

  /// Tasks of the pair.
  Count count(TaskType i, ResourceId j) const noexcept {
    Count tasks = cells_(i, j).load(std::memory_order_relaxed);
    for (std::size_t s = 0; s < used_.load(std::memory_order_relaxed); ++s)
      tasks -= held(s, i).load(std::memory_order_relaxed) == index(j) + 1 ? 1 : 0;
    return tasks;
  }
  /// The same if no place is ever held.
  const Atomic<Count>& cell(TaskType i, ResourceId j) const noexcept { return cells_(i, j); }

  void add(TaskType i, ResourceId j, Count tasks = 1) noexcept {
    cells_(i, j).fetch_add(tasks, std::memory_order_relaxed);
  }
  void remove(TaskType i, ResourceId j, Count tasks = 1) noexcept {
    cells_(i, j).fetch_sub(tasks, std::memory_order_relaxed);
  }
  /// Adds a task if the cell still counts `tasks`; otherwise false.
  bool add_to(TaskType i, ResourceId j, Count tasks) noexcept {
    return cells_(i, j).compare_exchange_strong(tasks, tasks + 1, std::memory_order_relaxed);
  }

  /// Like `remove`, but the slot holds the place if the slot belongs to one thread and holds none of the
  /// type.
  void leave(TaskType i, ResourceId j, std::size_t slot) noexcept {
    if (!is_own(slot)) return remove(i, j);
    Atomic<std::uint32_t>& mine = held(slot, i);
    if (mine.load(std::memory_order_relaxed) != 0) return remove(i, j);
    std::size_t used = used_.load(std::memory_order_relaxed);
    while (used <= slot && !used_.compare_exchange_weak(used, slot + 1, std::memory_order_relaxed)) {
    }
    mine.store(static_cast<std::uint32_t>(index(j) + 1), std::memory_order_relaxed);
  }

  /// Adds one task of the type where `decide()` says, given the tasks of the type at each resource in `row`;
  /// none if the answer is not a resource. After some retries, the task is counted even if others have come
  /// meanwhile.
  template <typename Decide>
  [[gnu::always_inline]] ResourceId take(TaskType i, std::span<Count> row, std::size_t slot,
                                         const Decide& decide) noexcept {
    if (is_own(slot)) {
      Atomic<std::uint32_t>& mine = held(slot, i);
      const std::uint32_t place = mine.load(std::memory_order_relaxed);
      if (is_in(row, place)) {
        read(i, row);
        --row[place - 1];
        const ResourceId j = decide();
        if (index(j) + 1 == place ? swap_for_nothing(mine, place) : index(j) >= row.size()) return j;
      }
    }
    return take_any(i, row, decide);
  }

 private:
  template <typename Decide>
  [[gnu::noinline]] ResourceId take_any(TaskType i, std::span<Count> row, const Decide& decide) noexcept {
    std::array<std::uint32_t, kOwnSlots> seen;
    for (int attempt = 0;; ++attempt) {
      read(i, row);
      const std::size_t used = used_.load(std::memory_order_relaxed);
      for (std::size_t s = 0; s < used; ++s) {
        seen[s] = held(s, i).load(std::memory_order_relaxed);
        if (is_in(row, seen[s])) --row[seen[s] - 1];
      }
      const ResourceId j = decide();
      if (index(j) >= row.size()) return j;
      // All threads take the held place of the lowest slot: of two that saw the same places, one decides
      // again.
      std::size_t holder = 0;
      while (holder < used && seen[holder] != index(j) + 1) ++holder;
      if (holder < used ? swap_for_nothing(held(holder, i), seen[holder]) : add_to(i, j, row[index(j)]))
        return j;
      if (attempt < kRetries) continue;
      add(i, j);
      return j;
    }
  }

  static constexpr int kRetries = 16;
  static constexpr std::size_t kPerLine = kCacheLine / sizeof(std::uint32_t);
  struct alignas(kCacheLine) Line {
    std::array<Atomic<std::uint32_t>, kPerLine> held{};  ///< 1 + the resource; 0: nothing
  };

  Atomic<std::uint32_t>& held(std::size_t slot, TaskType i) noexcept {
    return held_[slot * lines_ + index(i) / kPerLine].held[index(i) % kPerLine];
  }
  const Atomic<std::uint32_t>& held(std::size_t slot, TaskType i) const noexcept {
    return held_[slot * lines_ + index(i) / kPerLine].held[index(i) % kPerLine];
  }
  /// Whether there is a place, at a resource that the plan of this row already has.
  static bool is_in(std::span<Count> row, std::uint32_t place) noexcept { return place - 1 < row.size(); }
  static bool swap_for_nothing(Atomic<std::uint32_t>& held, std::uint32_t place) noexcept {
    return held.compare_exchange_strong(place, 0, std::memory_order_relaxed);
  }
  void read(TaskType i, std::span<Count> row) const noexcept {
    const Atomic<Count>* const cells = &cells_(i, resource_id(0));
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = cells[j].load(std::memory_order_relaxed);
  }

  std::size_t lines_;  ///< of held places, for each slot
  PerPair<Atomic<Count>> cells_;
  std::vector<Line> held_;
  Atomic<std::size_t> used_{0};  ///< slots up to here may hold places
};

}  // namespace allot::detail
