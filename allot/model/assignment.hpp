// The state n of the paper: how many tasks of each type sit at each resource.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allot/model/ids.hpp"

namespace allot {

/// n(i, j) = number of i-type tasks at resource j: the paper's task scheduling matrix N. A plain value; it
/// does not know which system it belongs to; `is_placement` in system.hpp checks that.
class Assignment {
 public:
  Assignment() = default;
  /// All zero.
  Assignment(std::size_t types, std::size_t resources)
      : types_(types), resources_(resources), counts_(types * resources) {}

  Count operator()(TaskType i, ResourceId j) const noexcept {
    return counts_[index(i) * resources_ + index(j)];
  }
  Count& operator()(TaskType i, ResourceId j) noexcept { return counts_[index(i) * resources_ + index(j)]; }

  std::size_t types() const noexcept { return types_; }
  std::size_t resources() const noexcept { return resources_; }
  std::span<const Count> values() const noexcept { return counts_; }

  /// All zero, with this shape; storage is reused.
  void reset(std::size_t types, std::size_t resources) {
    types_ = types;
    resources_ = resources;
    counts_.assign(types * resources, 0);
  }

  Count row_sum(TaskType i) const noexcept;
  Count column_sum(ResourceId j) const noexcept;

  friend bool operator==(const Assignment&, const Assignment&) = default;

 private:
  std::size_t types_ = 0;
  std::size_t resources_ = 0;
  std::vector<Count> counts_;
};

}  // namespace allot
