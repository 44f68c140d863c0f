#include "allot/worker/task.hpp"

#include <array>

namespace allot {

std::string_view to_string(TaskStatus status) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"ok", "failed", "timeout", "killed", "lost"};
  const auto at = static_cast<std::size_t>(status);
  return at < kNames.size() ? kNames[at] : "lost";
}

}  // namespace allot
