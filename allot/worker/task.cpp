#include "allot/worker/task.hpp"

namespace allot {

std::string_view to_string(TaskStatus status) noexcept {
  switch (status) {
    case TaskStatus::kOk:
      return "ok";
    case TaskStatus::kFailed:
      return "failed";
    case TaskStatus::kTimeout:
      return "timeout";
    case TaskStatus::kKilled:
      return "killed";
    case TaskStatus::kLost:
      return "lost";
  }
  return "lost";
}

}  // namespace allot
