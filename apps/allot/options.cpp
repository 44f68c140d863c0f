#include "apps/allot/options.hpp"

#include <charconv>
#include <cmath>
#include <limits>

#include "allot/io/duration.hpp"

namespace allot::app {

double parse_number(const std::string& option, const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || !std::isfinite(value)) {
    throw CLI::ValidationError(option, "needs a number, not " + in_quotes(text));
  }
  return value;
}

double parse_seconds(const std::string& option, const std::string& text, bool may_be_zero) {
  if (const auto seconds = parse_duration(text)) return *seconds;
  double value = -1;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc{} && value == 0 && (at == end || parse_duration("1" + std::string(at, end)))) {
    if (may_be_zero) return 0;
    throw CLI::ValidationError(option, "must be above 0, is " + in_quotes(text));
  }
  if (error == std::errc{} && at == end && value < 0) {
    throw CLI::ValidationError(
        option, (may_be_zero ? "must not be negative, is " : "must be above 0, is ") + in_quotes(text));
  }
  throw CLI::ValidationError(
      option,
      "needs a time, in seconds or such as '500ms', '90s', '10m', '1.5h' or '1d', not " + in_quotes(text));
}

double parse_part(const std::string& option, const std::string& text, bool may_be_zero) {
  const bool is_percent = text.ends_with('%');
  const double value =
      parse_number(option, is_percent ? text.substr(0, text.size() - 1) : text) / (is_percent ? 100 : 1);
  if ((value > 0 || (may_be_zero && value == 0)) && value < 1) return value;
  throw CLI::ValidationError(
      option, "must be between 0 and 1, or 0% and 100%, is " + in_quotes(text) +
                  (value >= 1 && value < 100 && !is_percent ? "; for percent write '" + text + "%'" : ""));
}

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || at != end || value < least || value > most) {
    const std::string range = most == std::numeric_limits<std::uint64_t>::max()
                                  ? "of at least " + std::to_string(least)
                                  : "from " + std::to_string(least) + " to " + std::to_string(most);
    throw CLI::ValidationError(option, "needs a whole number " + range + ", not " + in_quotes(text));
  }
  return value;
}

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "one JSON document instead of text");
}

void add_seed(CLI::App& command, std::uint64_t& seed) {
  add_whole(command, "--seed", seed, 0, std::numeric_limits<std::uint64_t>::max(),
            "of the random numbers (default 1); the same seed gives the same result");
}

void add_time_limit(CLI::App& command, std::optional<double>& seconds, const std::string& description) {
  add_seconds(command, "--time-limit", seconds, description);
}

}  // namespace allot::app
