#include "integrations/starpu/types.hpp"

namespace allot::starpu {

std::optional<TaskType> TypeTable::find(const TypeKey& key) const noexcept {
  // Three of four slots stay free, so every search ends.
  for (std::size_t at = start(key); slots_[at].used; at = (at + 1) % kSlots) {
    if (slots_[at].key == key) return slots_[at].type;
  }
  return std::nullopt;
}

bool TypeTable::insert(const TypeKey& key, TaskType type) noexcept {
  if (full()) return false;
  std::size_t at = start(key);
  while (slots_[at].used) at = (at + 1) % kSlots;
  slots_[at] = {key, type, true};
  ++size_;
  return true;
}

}  // namespace allot::starpu
