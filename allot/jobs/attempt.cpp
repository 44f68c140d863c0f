#include "allot/jobs/attempt.hpp"

#include <array>

namespace allot {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"started", "ok", "failed", "timeout", "killed", "lost"};

}  // namespace

std::string_view to_string(AttemptStatus status) noexcept {
  const auto at = static_cast<std::size_t>(status);
  return at < kNames.size() ? kNames[at] : "";
}

std::optional<AttemptStatus> parse_status(std::string_view text) noexcept {
  for (std::size_t at = 0; at < kNames.size(); ++at) {
    if (kNames[at] == text) return static_cast<AttemptStatus>(at);
  }
  return std::nullopt;
}

std::string kept_output(const std::string& folder, std::int64_t task_id, int attempt) {
  return folder + "/" + std::to_string(task_id) + "." + std::to_string(attempt);
}

}  // namespace allot
