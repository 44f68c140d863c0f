// Which type a task is of: keys of tasks, and the types that have been seen.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allot/base/ids.hpp"

namespace allot::starpu {

/// What tasks of one type have in common. Two words, so that a codelet that has been freed is not mistaken
/// for another one at the same place: the second is of what the codelet holds.
struct TypeKey {
  std::uintptr_t where = 0;
  std::uint64_t what = 0;
  friend bool operator==(const TypeKey&, const TypeKey&) = default;
};

/// Types that are planned for. Programs have a few; what comes beyond goes where it is expected to end first,
/// and all of that together counts as one more type.
inline constexpr std::size_t kMostTypes = 64;

/// Joins words to a hash (a step of FNV over words, mixed).
constexpr std::uint64_t join(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

/// Not thread-safe. O(1), no allocation.
class TypeTable {
 public:
  std::optional<TaskType> find(const TypeKey& key) const noexcept;
  /// The table has room for `kMostTypes` keys; returns whether there was any left.
  bool insert(const TypeKey& key, TaskType type) noexcept;
  bool full() const noexcept { return size_ == kMostTypes; }

 private:
  static constexpr std::size_t kSlots = 4 * kMostTypes;
  struct Slot {
    TypeKey key;
    TaskType type{};
    bool used = false;
  };
  static std::size_t start(const TypeKey& key) noexcept { return join(key.where, key.what) % kSlots; }

  std::array<Slot, kSlots> slots_;
  std::size_t size_ = 0;
};

}  // namespace allot::starpu
