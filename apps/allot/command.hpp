// What a subcommand is. Adding one is a file with a `Command` in it, and one word in CMakeLists.txt.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

#include "apps/allot/console.hpp"
#include "apps/allot/exit.hpp"

namespace allot::app {

/// Does the work. Results go to the console's buffer, which reaches standard output in one piece afterwards.
using Action = std::function<Exit(Console&)>;

struct Command {
  const char* name;
  const char* summary;  ///< one line, for the list of commands and the top of the help
  const char* example;  ///< command lines, for the end of the help
  /// Declares the options, and returns what to do once they have been parsed.
  Action (*declare)(CLI::App& command);
};

/// All commands, in the order of the list in CMakeLists.txt.
std::span<const Command* const> commands() noexcept;
/// What the program is called, and command lines for the end of its help.
std::string_view program() noexcept;
std::string_view program_example() noexcept;

}  // namespace allot::app
