// The help texts, laid out for 80 to 100 columns.
#pragma once

#include <span>
#include <string>

#include "apps/allot/command.hpp"

namespace allot::app {

/// `-n, --dry-run`, `--seed N`
std::string usage_of(const Option& option);
/// The help of an option, with its default.
std::string help_of(const Option& option);

/// All commands with their options, as one JSON document.
std::string help_json();

std::string general_help(std::string_view description, std::span<const Option> options,
                         const Console& console);
std::string command_help(const Command& command, std::span<const Option> options, const Console& console);

}  // namespace allot::app
