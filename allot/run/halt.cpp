#include "allot/run/halt.hpp"

#include "allot/base/numbers.hpp"

namespace allot {

std::optional<HaltRule> parse_halt(std::string_view text, std::string& problem) {
  problem = "must be 'soon,fail=N', 'now,fail=N' or the same with a percentage, such as 'soon,fail=10%'";
  HaltRule rule;
  const std::size_t comma = text.find(',');
  const std::string_view when = text.substr(0, comma);
  if (when != "soon" && when != "now") return std::nullopt;
  rule.now = when == "now";
  constexpr std::string_view kFail = "fail=";
  std::string_view limit = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  if (!limit.starts_with(kFail)) return std::nullopt;
  limit.remove_prefix(kFail.size());
  const bool per_cent = limit.ends_with('%');
  if (per_cent) limit.remove_suffix(1);
  const std::uint64_t value = number_in<std::uint64_t>(limit).value_or(0);
  if (value == 0) return std::nullopt;
  if (per_cent && value > 100) return std::nullopt;
  if (per_cent) {
    rule.fail_share = static_cast<double>(value) / 100;
  } else {
    rule.fail = value;
  }
  problem.clear();
  return rule;
}

}  // namespace allot
