#include "apps/allot/app.hpp"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/version.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

constexpr const char* kDescription = "Decides where each task runs on a machine of unlike processors.";

const Command* find_command(std::string_view name) {
  for (const Command* command : commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

[[noreturn]] void fail_unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  std::string message = "there is no command " + in_quotes(word) + ".";
  if (const std::string_view meant = nearest(word, names); !meant.empty()) {
    message += " Did you mean '" + std::string(program()) + " " + std::string(meant) + "'?";
  }
  throw Failure(Exit::kUsage, message + "\n'" + std::string(program()) + " --help' lists the commands.");
}

std::vector<std::string> visible_options(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional() && !option->get_group().empty()) names.push_back(option->get_name());
  }
  return names;
}

/// Which commands have the option, or which option of this one was meant.
std::string option_hint(const CLI::App& command, const std::string& word) {
  std::vector<std::string> owners;
  if (const CLI::App* const parent = command.get_parent()) {
    for (const CLI::App* other : parent->get_subcommands([](const CLI::App*) { return true; })) {
      const std::vector<std::string> names = visible_options(*other);
      if (std::find(names.begin(), names.end(), word) != names.end())
        owners.push_back("'" + std::string(program()) + " " + other->get_name() + "'");
    }
  }
  if (!owners.empty()) return " It is an option of " + alternatives(owners) + ".";
  const std::vector<std::string> names = visible_options(command);
  return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

/// What CLI11 found wrong, in our words.
std::string usage_message(const CLI::App& command, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !command.remaining().empty()) {
    const std::string word = command.remaining().front();
    if (!word.starts_with('-')) return "did not expect " + in_quotes(word) + ".";
    return "there is no option " + in_quotes(word) + " here." +
           option_hint(command, word.substr(0, word.find('=')));
  }
  return std::string(error.what()) + ".";
}

/// `allot help solve` is `allot solve --help`.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.resize(std::min<std::size_t>(words.size(), 1));
    words.emplace_back("--help");
  }
  // Inputs are no options, whatever they look like.
  const auto marker = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word == ":::" || word == "::::"; });
  if (marker != words.end() && words.front() == "run") {
    *marker = "--inputs-after=" + *marker;
    std::for_each(marker + 1, words.end(), [](std::string& word) { word.insert(0, "--input=."); });
  }
  return words;
}

Exit dispatch(std::vector<std::string> words, Console& console) {
  CLI::App app(kDescription, std::string(program()));
  bool version = false;
  app.add_flag("--version", version, "print name, version and build commit");
  app.set_help_flag("-h,--help", "print this help");
  std::map<const CLI::App*, Action> actions;
  for (const Command* command : commands()) {
    CLI::App* sub = app.add_subcommand(command->name, command->summary);
    actions[sub] = command->declare(*sub);
  }

  if (!words.empty() && !words.front().starts_with('-') && find_command(words.front()) == nullptr) {
    fail_unknown_command(words.front());
  }
  const CLI::App* chosen = nullptr;
  const auto current = [&]() -> const CLI::App& {
    const std::vector<CLI::App*> parsed = app.get_subcommands();
    return parsed.empty() ? app : *parsed.front();
  };
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the back
    if (!app.get_subcommands().empty()) chosen = app.get_subcommands().front();
  } catch (const CLI::CallForHelp&) {
    const Command* command = find_command(current().get_name());
    console.print(command == nullptr ? general_help(app, console)
                                     : command_help(*command, current(), console));
    return Exit::kOk;
  } catch (const CLI::ParseError& error) {
    const bool general = &current() == &app;
    const std::string prefix = std::string(program()) + (general ? "" : " " + current().get_name());
    throw Failure(Exit::kUsage, usage_message(current(), error) + "\n'" + prefix + " --help' explains.");
  }
  if (version) {
    console.print("{} {} ({})\n", program(), allot::version(), allot::build_commit());
    return Exit::kOk;
  }
  if (chosen == nullptr) {
    console.complain(general_help(app, console));
    return Exit::kUsage;
  }
  return actions.at(chosen)(console);
}

}  // namespace

Exit run(int argc, char** argv, Console& console) noexcept {
  try {
    ::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is seen when writing
    try {
      const Exit status = dispatch(arguments(argc, argv), console);
      console.deliver();
      return status;
    } catch (const Failure& failure) {
      if (*failure.what() != '\0') console.error(failure.what());
      return failure.status();
    } catch (const InvalidModel& error) {
      console.error(error.what());
      return Exit::kInvalidInput;
    } catch (const std::bad_alloc&) {
      console.error("out of memory");
      return Exit::kFailed;
    } catch (const std::exception& error) {
      console.error(std::string("internal error: ") + error.what());
      return Exit::kFailed;
    }
  } catch (...) {
    return Exit::kFailed;
  }
}

}  // namespace allot::app
