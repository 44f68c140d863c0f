#include "apps/allot/options.hpp"

#include <charconv>
#include <cmath>
#include <limits>

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
  command
      .add_option_function<std::string>(
          "--time-limit",
          [&seconds](const std::string& text) {
            const double value = parse_number("--time-limit", text);
            if (!(value > 0))
              throw CLI::ValidationError("--time-limit", "must be above 0, is " + in_quotes(text));
            seconds = value;
          },
          description)
      ->type_name("S");
}

}  // namespace allot::app
