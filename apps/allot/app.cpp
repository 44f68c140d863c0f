#include "apps/allot/app.hpp"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/version.hpp"
#include "allot/base/words.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/completion.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

[[noreturn]] void fail_unknown_command(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command* command : commands()) names.push_back(command->name);
  std::string message = "there is no command " + in_quotes(word) + ".";
  if (const std::string_view meant = nearest(word, names); !meant.empty()) {
    message += " Did you mean '" + std::string(program()) + " " + std::string(meant) + "'?";
  }
  throw Failure(Exit::kUsage, message + "\n'" + std::string(program()) + " --help' lists the commands.");
}

std::vector<std::string> visible_options(std::span<const Option> options) {
  std::vector<std::string> names;
  for (const Option& option : options) {
    if (!option.is_positional && !option.is_hidden) names.push_back(spelled(option));
  }
  return names;
}

/// A command of this program and its declaration.
struct Known {
  const Command* command = nullptr;
  CLI::App* parsed = nullptr;
  Declared declared;
};

/// Names the commands that have the option, or suggests a similar option of this command.
std::string option_hint(const Known* chosen, std::span<const Known> all, const std::string& word) {
  if (chosen == nullptr) return "";
  std::vector<std::string> owners;
  for (const Known& other : all) {
    const std::vector<std::string> names = visible_options(other.declared.options);
    if (std::find(names.begin(), names.end(), word) != names.end())
      owners.push_back("'" + std::string(program()) + " " + std::string(other.command->name) + "'");
  }
  if (!owners.empty()) return " It is an option of " + alternatives(owners) + ".";
  const std::vector<std::string> names = visible_options(chosen->declared.options);
  return did_you_mean(word, std::vector<std::string_view>(names.begin(), names.end()));
}

/// Registers an option with the parser, which passes the values to the option.
CLI::Option* bind(CLI::App& command, const Option& option) {
  std::string names = (option.letter.empty() ? "" : "-" + option.letter + ",") + spelled(option);
  if (!option.old_name.empty()) names += ",--" + option.old_name;
  if (std::holds_alternative<FlagValue>(option.value))
    return command.add_flag_callback(names, [&option] { set_option(option, {""}); });
  const auto* const texts = std::get_if<TextsValue>(&option.value);
  CLI::Option* bound = nullptr;
  if (texts != nullptr && !texts->has_commas) {
    bound = command.add_option_function<std::vector<std::string>>(
        names, [&option](const std::vector<std::string>& words) { set_option(option, words); });
    if (!option.is_positional) bound->allow_extra_args(false);
  } else {
    bound = command.add_option_function<std::string>(
        names, [&option](const std::string& word) { set_option(option, {word}); });
  }
  if (option.is_required) bound->required();
  return bound;
}

void bind_all(CLI::App& command, std::span<const Option> options) {
  std::map<std::string, CLI::Option*> bound;
  for (const Option& option : options) bound[option.name] = bind(command, option);
  for (const Option& option : options) {
    if (!option.excludes.empty()) bound[option.name]->excludes(bound.at(option.excludes));
  }
}

/// An error of CLI11 in our own words.
std::string usage_message(const CLI::App& command, const Known* chosen, std::span<const Known> all,
                          const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !command.remaining().empty()) {
    const std::string word = command.remaining().front();
    if (!word.starts_with('-')) return "did not expect " + in_quotes(word) + ".";
    if (word == "--json" && chosen != nullptr && !chosen->command->no_json.empty())
      return "there is no --json. " + std::string(chosen->command->no_json);
    return "there is no option " + in_quotes(word) + " here." +
           option_hint(chosen, all, word.substr(0, word.find('=')));
  }
  return std::string(error.what()) + ".";
}

std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  // The topic may be the name of a command, which the parser would take for a subcommand.
  if (!words.empty() && words.front() == "help") {
    const auto topic = std::stable_partition(words.begin() + 1, words.end(),
                                             [](const std::string& word) { return word.starts_with('-'); });
    words.insert(topic, "--");
  }
  // Inputs are never options, even if they look like one.
  const auto marker = std::find_if(words.begin(), words.end(),
                                   [](const std::string& word) { return word == ":::" || word == "::::"; });
  if (marker != words.end() && words.front() == "run") {
    *marker = "--inputs-after=" + *marker;
    std::for_each(marker + 1, words.end(), [](std::string& word) { word.insert(0, "--input=."); });
  }
  return words;
}

/// A request of the scripts of `allot completion`: 'completion SHELL words', then the unchanged command line,
/// which a parser would not leave unchanged.
std::optional<Shell> asks_for_words(const std::vector<std::string>& words) {
  if (words.size() < 3 || words[0] != "completion" || words[2] != "words") return std::nullopt;
  return words[1] == "zsh" ? Shell::kZsh : words[1] == "fish" ? Shell::kFish : Shell::kBash;
}

Exit dispatch(std::vector<std::string> words, Console& console) {
  if (const auto shell = asks_for_words(words)) {
    console.document(candidates_text(candidates(std::span(words).subspan(3)), *shell));
    return Exit::kOk;
  }
  CLI::App app{std::string(description()), std::string(program())};
  bool version = false;
  const std::vector<Option> general = general_options(version);
  bind_all(app, general);
  app.set_help_flag("-h,--help");
  std::vector<Known> known;
  known.reserve(commands().size());
  for (const Command* command : commands()) {
    known.push_back({command, app.add_subcommand(std::string(command->name)), command->declare()});
    bind_all(*known.back().parsed, known.back().declared.options);
  }

  if (!words.empty() && !words.front().starts_with('-') && find_command(words.front()) == nullptr) {
    fail_unknown_command(words.front());
  }
  const auto chosen = [&]() -> const Known* {
    for (const Known& one : known) {
      if (one.parsed->parsed()) return &one;
    }
    return nullptr;
  };
  const auto fail = [&](const std::string& message) {
    const Known* const one = chosen();
    const std::string prefix =
        std::string(program()) + (one == nullptr ? "" : " " + std::string(one->command->name));
    throw Failure(Exit::kUsage, message + "\n'" + prefix + " --help' explains.");
  };
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes them from the end
  } catch (const CLI::CallForHelp&) {
    const Known* const one = chosen();
    console.print(one == nullptr ? general_help(console)
                                 : command_help(*one->command, one->declared.options, console));
    return Exit::kOk;
  } catch (const CLI::ParseError& error) {
    const Known* const one = chosen();
    fail(usage_message(one == nullptr ? app : *one->parsed, one, known, error));
  } catch (const OptionError& error) {
    fail(std::string(error.what()) + (std::string_view(error.what()).ends_with('.') ? "" : "."));
  }
  if (version) {
    console.print("{} {} ({})\n", program(), allot::version(), allot::build_commit());
    return Exit::kOk;
  }
  if (const Known* const one = chosen()) return one->declared.action(console);
  console.complain(general_help(console));
  return Exit::kUsage;
}

}  // namespace

const Command* find_command(std::string_view name) noexcept {
  for (const Command* command : commands()) {
    if (command->name == name) return command;
  }
  return nullptr;
}

Exit run(int argc, char** argv, Console& console) noexcept {
  try {
    ::signal(SIGPIPE, SIG_IGN);  // a closed reader is noticed when writing
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
