// Options that several commands declare, parsed strictly: `--seed 1x` is an error, not 1.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/allot/text.hpp"

namespace allot::app {

/// Throws CLI::ValidationError unless the text is a finite number.
double parse_number(const std::string& option, const std::string& text);
/// Seconds of `90`, `10m`, `1.5h` or `500ms`. Throws CLI::ValidationError unless it is a time above 0, or 0
/// where that is allowed.
double parse_seconds(const std::string& option, const std::string& text, bool may_be_zero = false);
/// A part of `0.05` or `5%`. Throws CLI::ValidationError unless it lies between 0 and 1, 0 included where
/// that is allowed.
double parse_part(const std::string& option, const std::string& text, bool may_be_zero = false);
/// Throws CLI::ValidationError unless the text is a whole number from `least` to `most`.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

/// An option whose value is one of a few words.
template <typename Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& target,
                        std::vector<std::pair<std::string, Value>> choices, const std::string& description) {
  std::string label;
  for (const auto& [word, value] : choices) label += (label.empty() ? "" : "|") + word;
  return command
      .add_option_function<std::string>(
          name,
          [name, &target, choices = std::move(choices)](const std::string& text) {
            std::vector<std::string> words;
            for (const auto& [word, value] : choices) {
              if (word == text) {
                target = value;
                return;
              }
              words.push_back(word);
            }
            throw CLI::ValidationError(name, "must be " + alternatives(words) + ", is " + in_quotes(text));
          },
          description)
      ->type_name(label);
}

/// An option whose value is a whole number from `least` to `most`.
template <typename Value>
CLI::Option* add_whole(CLI::App& command, const std::string& name, Value& target, std::uint64_t least,
                       std::uint64_t most, const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [=, &target](const std::string& text) {
            target = static_cast<Value>(parse_whole(name, text, least, most));
          },
          description)
      ->type_name("N");
}

/// An option whose value is a time above 0: seconds, or with a unit.
template <typename Value>
CLI::Option* add_seconds(CLI::App& command, const std::string& name, Value& target,
                         const std::string& description, bool may_be_zero = false) {
  return command
      .add_option_function<std::string>(
          name, [=, &target](const std::string& text) { target = parse_seconds(name, text, may_be_zero); },
          description)
      ->type_name("TIME");
}

/// An option whose value is a part: 0.05 or 5%.
template <typename Value>
CLI::Option* add_part(CLI::App& command, const std::string& name, Value& target,
                      const std::string& description, bool may_be_zero = false) {
  return command
      .add_option_function<std::string>(
          name, [=, &target](const std::string& text) { target = parse_part(name, text, may_be_zero); },
          description)
      ->type_name("P");
}

/// `--json`
void add_json(CLI::App& command, bool& json);
/// `--seed N`
void add_seed(CLI::App& command, std::uint64_t& seed);
/// `--time-limit TIME`
void add_time_limit(CLI::App& command, std::optional<double>& seconds, const std::string& description);

}  // namespace allot::app
