// The type of a task: keys of tasks, and the known types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "allot/base/ids.hpp"

namespace allot::starpu {

/// The common key of tasks of one type. It has two words, so that a freed codelet is not mistaken for another
/// one at the same address: the second word depends on the codelet's contents.
struct TypeKey {
  std::uintptr_t where = 0;
  std::uint64_t what = 0;
  friend bool operator==(const TypeKey&, const TypeKey&) = default;
};

/// Maximum types in plans. Programs have a few; tasks of further types go where they are expected to end
/// first, and together they count as one more type.
inline constexpr std::size_t kMostTypes = 64;

/// Mixes a word into a hash (a step of FNV over words, mixed).
constexpr std::uint64_t join(std::uint64_t hash, std::uint64_t word) noexcept {
  hash = (hash ^ word) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32);
}

/// Not thread-safe. O(1), no allocation.
class TypeTable {
 public:
  std::optional<TaskType> find(const TypeKey& key) const noexcept;
  /// Inserts the key; returns false if the table already has `kMostTypes` keys.
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
