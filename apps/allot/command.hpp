// The interface of a subcommand. To add one, write a file with a `Command`, and add one word: for a question
// to allot/CMakeLists.txt, for any other command to the CMakeLists.txt here.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "allot/ask/option.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// Does the work. Results go to the console's buffer, which is written to standard output in one piece
/// afterwards.
using Action = std::function<Exit(Console&)>;

/// The options, and the action after parsing them; the action owns the variables that the options set.
struct Declared {
  std::vector<Option> options;
  Action action;
};

struct Command {
  std::string_view name;
  std::string_view summary;  ///< one line, for the list of commands and the top of the help
  std::string_view example;  ///< command lines, for the end of the help
  std::function<Declared()> declare;
  std::string_view no_json = {};  ///< for a command without `--json`: what it gives instead, as a sentence
};

/// Null if there is none.
const Command* find_command(std::string_view name) noexcept;

/// For commands that are not questions: `options` set the arguments, and `run` does the work with them.
template <typename Arguments, typename Run>
std::function<Declared()> declared_by(std::vector<Option> (*options)(Arguments&), Run run) {
  return [=]() -> Declared {
    const auto arguments = std::make_shared<Arguments>();
    return {options(*arguments), [=](Console& console) { return run(*arguments, console); }};
  };
}

/// All commands, in the order of the lists.
std::span<const Command* const> commands() noexcept;
/// The name of the program, and command lines for the end of its help.
std::string_view program() noexcept;
std::string_view program_example() noexcept;

}  // namespace allot::app
