// A cache of results by population.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::detail {

/// Remembers a value for each population, without allocation for a population that it has seen. Values do not
/// move. When the cache is full, all are forgotten.
template <typename Value>
class ByPopulation {
 public:
  /// Room for as many as fit into about 64 MiB, if each has a few numbers per pair.
  explicit ByPopulation(const System& system) noexcept {
    const std::size_t entry = 256 + 16 * system.type_count() * system.resource_count();
    limit_ = std::clamp<std::size_t>((std::size_t{64} << 20) / entry, 64, 65'536);
  }

  /// Null: not known.
  const Value* find(std::span<const Count> threads_by_type) const noexcept {
    const auto known = values_.find(threads_by_type);
    return known == values_.end() ? nullptr : &known->second;
  }
  /// May forget all earlier values.
  const Value* remember(std::span<const Count> threads_by_type, Value value) {
    if (values_.size() >= limit_) values_.clear();
    return &values_
                .insert_or_assign(std::vector<Count>(threads_by_type.begin(), threads_by_type.end()),
                                  std::move(value))
                .first->second;
  }

 private:
  /// Lets a population be looked up without copying it.
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): so the standard calls it
    std::size_t operator()(std::span<const Count> counts) const noexcept {
      std::uint64_t hash = counts.size();
      for (const Count n : counts) {
        hash = (hash ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): so the standard calls it
    bool operator()(std::span<const Count> a, std::span<const Count> b) const noexcept {
      return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }
  };

  std::size_t limit_ = 0;
  std::unordered_map<std::vector<Count>, Value, Hash, Equal> values_;
};

}  // namespace allot::detail
