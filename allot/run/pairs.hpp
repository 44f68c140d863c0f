// Which types can run on which resources, as far as their commands are concerned.
#pragma once

#include <string>
#include <vector>

#include "allot/jobs/job.hpp"
#include "allot/model/ids.hpp"

namespace allot {

/// A pair is usable while the job has a command for it and nobody has found that the command is not there.
/// Whether a worker is there is another question. Not thread-safe.
class Pairs {
 public:
  explicit Pairs(const Job& job)
      : resources_(job.resources.size()), why_not_(job.tasks.size()), changed_(false) {
    for (const JobTask& task : job.tasks) {
      for (const auto& command : task.commands) usable_.push_back(command.has_value());
    }
  }

  bool usable(TaskType i, ResourceId j) const noexcept { return usable_[at(i, j)]; }
  bool usable(TaskType i) const noexcept {
    for (std::size_t j = 0; j < resources_; ++j) {
      if (usable(i, resource_id(j))) return true;
    }
    return false;
  }
  void disable(TaskType i, ResourceId j, std::string why) {
    usable_[at(i, j)] = false;
    why_not_[index(i)] = std::move(why);
    changed_ = true;
  }
  /// What was wrong with the last resource that the type lost.
  const std::string& why_not(TaskType i) const noexcept { return why_not_[index(i)]; }
  /// Whether something was disabled since this was asked last.
  bool take_change() noexcept { return std::exchange(changed_, false); }

 private:
  std::size_t at(TaskType i, ResourceId j) const noexcept { return index(i) * resources_ + index(j); }

  std::size_t resources_;
  std::vector<bool> usable_;  // type by resource
  std::vector<std::string> why_not_;
  bool changed_;
};

}  // namespace allot
