// The help texts, laid out for 80 to 100 columns.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "apps/allot/command.hpp"

namespace allot::app {

std::string general_help(const CLI::App& app, const Console& console);
std::string command_help(const Command& command, const CLI::App& declared, const Console& console);

}  // namespace allot::app
