#include "allot/ask/question.hpp"

#include <algorithm>
#include <chrono>

namespace allot {

StopLimits Attendance::limits(const std::optional<double>& time_limit_s) const {
  constexpr double kForever = 1e9;  // seconds; more would overflow the clock
  StopLimits limits;
  limits.flag = flag;
  if (time_limit_s && *time_limit_s < kForever) {
    const std::chrono::duration<double> left(std::max(0.0, *time_limit_s - used_s));
    limits.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
  }
  return limits;
}

const QuestionInfo* find_question(std::string_view name) noexcept {
  for (const QuestionInfo* question : all_questions()) {
    if (question->name == name) return question;
  }
  return nullptr;
}

}  // namespace allot
