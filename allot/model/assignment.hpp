// The state n of the paper: how many tasks of each type are at each resource.
#pragma once

#include <cstddef>
#include <span>

#include "allot/base/per.hpp"

namespace allot {

/// n(i, j) = number of i-type tasks at resource j: the paper's task scheduling matrix N. A plain value; it
/// does not know which system it belongs to; `is_placement` in system.hpp checks that.
class Assignment {
 public:
  Assignment() = default;
  /// All zero.
  Assignment(std::size_t types, std::size_t resources) : counts_(types, resources) {}

  Count operator()(TaskType i, ResourceId j) const noexcept { return counts_(i, j); }
  Count& operator()(TaskType i, ResourceId j) noexcept { return counts_(i, j); }

  std::size_t types() const noexcept { return counts_.types(); }
  std::size_t resources() const noexcept { return counts_.resources(); }
  std::span<const Count> values() const noexcept { return counts_.values(); }

  /// All zero, with this shape; storage is reused.
  void reset(std::size_t types, std::size_t resources) { counts_.assign(types, resources, 0); }

  Count row_sum(TaskType i) const noexcept;
  Count column_sum(ResourceId j) const noexcept;

  friend bool operator==(const Assignment&, const Assignment&) = default;

 private:
  PerPair<Count> counts_;
};

}  // namespace allot
