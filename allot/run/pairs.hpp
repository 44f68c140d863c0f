// Which types have a working command on which resources.
#pragma once

#include <string>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/jobs/job.hpp"

namespace allot {

/// A pair is usable if the job has a command for it and the command has not been found missing. Whether a
/// worker is connected is not considered. Not thread-safe.
class Pairs {
 public:
  explicit Pairs(const Job& job)
      : usable_(job.tasks.size(), job.resources.size()), why_not_(job.tasks.size()), changed_(false) {
    for (const TaskType i : usable_.type_ids()) {
      for (const ResourceId j : usable_.resource_ids())
        usable_(i, j) = job.tasks[index(i)].commands[index(j)].has_value();
    }
  }

  bool usable(TaskType i, ResourceId j) const noexcept { return usable_(i, j); }
  bool usable(TaskType i) const noexcept {
    for (const ResourceId j : usable_.resource_ids()) {
      if (usable(i, j)) return true;
    }
    return false;
  }
  void disable(TaskType i, ResourceId j, std::string why) {
    const bool was_usable = usable(i);
    usable_(i, j) = false;
    why_not_[i] = std::move(why);
    if (was_usable && !usable(i)) unusable_.push_back(i);
    changed_ = true;
  }
  /// The types that no resource can run any more.
  const std::vector<TaskType>& unusable() const noexcept { return unusable_; }
  /// The problem with the last resource that the type lost.
  const std::string& why_not(TaskType i) const noexcept { return why_not_[i]; }
  /// Whether a pair was disabled since the last call.
  bool take_change() noexcept { return std::exchange(changed_, false); }

 private:
  PerPair<bool> usable_;
  PerType<std::string> why_not_;
  std::vector<TaskType> unusable_;
  bool changed_;
};

}  // namespace allot
