// Parses the values of options strictly: `--seed 1x` is an error, not 1.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "allot/ask/option.hpp"

namespace allot::app {

/// The given text is not a value of the option: `what()` names the option and describes a correct value.
class OptionError : public std::runtime_error {
 public:
  OptionError(const std::string& option, const std::string& problem)
      : std::runtime_error(option + ": " + problem) {}
};

// All throw OptionError, naming `option`.

/// A finite number.
double parse_number(const std::string& option, const std::string& text);
/// A whole number from `least` to `most`.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most);

/// `--time-limit`
std::string spelled(const Option& option);
/// The placeholder for the value in a usage line: `TIME`, `a|b`; empty for a flag.
std::string placeholder(const Option& option);

/// Sets an option from its words: one word, except for several texts.
void set_option(const Option& option, const std::vector<std::string>& words);

/// `--json`
Option json_option(bool& json);
/// `--seed`
Option seed_option(std::uint64_t& seed);

}  // namespace allot::app
