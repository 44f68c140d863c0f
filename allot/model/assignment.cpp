#include "allot/model/assignment.hpp"

namespace allot {

Count Assignment::row_sum(TaskType i) const noexcept {
  Count sum = 0;
  for (const Count n : counts_.row(i)) sum += n;
  return sum;
}

Count Assignment::column_sum(ResourceId j) const noexcept {
  Count sum = 0;
  for (const TaskType i : counts_.type_ids()) sum += counts_(i, j);
  return sum;
}

}  // namespace allot
