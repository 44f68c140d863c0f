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

/// `--json`
void add_json(CLI::App& command, bool& json);
/// `--seed N`
void add_seed(CLI::App& command, std::uint64_t& seed);
/// `--time-limit S`
void add_time_limit(CLI::App& command, std::optional<double>& seconds, const std::string& description);

}  // namespace allot::app
