#include "allot/model/assignment.hpp"

namespace allot {

Count Assignment::row_sum(TaskType i) const noexcept {
  Count sum = 0;
  for (std::size_t j = 0; j < resources_; ++j) sum += (*this)(i, resource_id(j));
  return sum;
}

Count Assignment::column_sum(ResourceId j) const noexcept {
  Count sum = 0;
  for (std::size_t i = 0; i < types_; ++i) sum += (*this)(task_type(i), j);
  return sum;
}

}  // namespace allot
