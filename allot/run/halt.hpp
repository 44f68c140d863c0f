// When to give up a run: after a number of failed tasks, or a share of the ended ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace allot {

/// `soon,fail=3`: no more starts once 3 tasks have failed; `now,fail=10%`: running tasks are ended as well.
struct HaltRule {
  bool now = false;                   ///< end running tasks; otherwise let them finish
  std::optional<std::uint64_t> fail;  ///< failed tasks
  std::optional<double> fail_share;   ///< failed tasks / tasks with a final record, checked from 3 failures
                                      ///< on

  bool reached(std::uint64_t failed, std::uint64_t ended) const noexcept {
    if (fail && failed >= *fail) return true;
    return fail_share && failed >= 3 && ended > 0 &&
           static_cast<double>(failed) >= *fail_share * static_cast<double>(ended);
  }
  friend bool operator==(const HaltRule&, const HaltRule&) = default;
};

/// Absent if the text is not a rule; `problem` then describes the correct form.
std::optional<HaltRule> parse_halt(std::string_view text, std::string& problem);

}  // namespace allot
