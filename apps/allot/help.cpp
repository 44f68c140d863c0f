#include "apps/allot/help.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kTextColumn = 36;  // where descriptions begin
constexpr std::size_t kWidest = 100;

const HelpEntry kHelp = {"-h, --help", "print this help"};

}  // namespace

std::string heading(const Console& console, std::string_view text) {
  return "\n" + console.styled(Style::kBold, text) + "\n";
}

std::string entries(const Console& console, const std::vector<HelpEntry>& list) {
  std::size_t longest = 0;
  for (const HelpEntry& entry : list) longest = std::max(longest, display_width(entry.first));
  const std::size_t width = std::min(console.width(), kWidest);
  // In a narrow terminal, descriptions of long options are on the next line.
  const std::size_t column = std::min(longest + 4, width < 80 ? width / 3 : kTextColumn);
  std::string text;
  for (const auto& [name, description] : list) {
    text += "  " + name;
    const std::size_t at = 2 + display_width(name);
    text += at + 2 <= column ? std::string(column - at, ' ') : "\n" + std::string(column, ' ');
    text += wrapped(description, width, column) + "\n";
  }
  return text;
}

namespace {

/// `command line   # remark` with the remark dimmed.
std::string examples(const Console& console, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    // A continued line is indented.
    const bool goes_on = lines.starts_with(' ');
    text +=
        "  " + (goes_on ? "" : console.styled(Style::kDim, "$ ")) + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

}  // namespace

std::string usage_of(const Option& option) {
  if (option.is_positional) return option.name;
  const std::string name = (option.letter.empty() ? "" : "-" + option.letter + ", ") + spelled(option);
  const std::string value = placeholder(option);
  return value.empty() ? name : name + " " + value;
}

std::string help_of(const Option& option) {
  const std::string initial = default_of(option);
  // The help of a word option already names its default.
  if (initial.empty() || option.is_positional || option.help.find("(default") != std::string::npos)
    return option.help;
  return option.help + (option.absent.empty() ? " (default " : " (default: ") + initial + ")";
}

std::vector<HelpEntry> exit_statuses() {
  return {{"0", "done"},
          {"1", "failed: a task failed, there is no feasible answer, or output could not be written"},
          {"2", "invalid usage"},
          {"3", "invalid input"},
          {"4", "run: the journal is locked, belongs to other work, or is damaged"},
          {"5", "run: the journal, or another file of the run, cannot be written"},
          {"6", "run: halted because too many tasks failed"},
          {"7", "run: the time limit expired before everything was done"},
          {"130", "interrupted; run: 129 by HUP, 143 by TERM"}};
}

std::string_view description() noexcept {
  return "Decides where each task runs on a machine with CPUs, GPUs and accelerators.";
}

std::vector<Option> general_options(bool& version) {
  return {flag_option("version", version, "print name, version and build commit").with_letter("V")};
}

std::string general_help(const Console& console) {
  std::string text = wrapped(description(), std::min(console.width(), kWidest), 0) + "\n";
  text += heading(console, "Usage");
  text += "  " + std::string(program()) + " COMMAND [options]\n";
  text += heading(console, "Commands");
  std::vector<HelpEntry> list;
  for (const Command* command : commands()) list.emplace_back(command->name, command->summary);
  text += entries(console, list);
  text += heading(console, "Topics");
  list.clear();
  for (const Topic& topic : topics()) list.emplace_back(topic.name, title_of(topic));
  text += entries(console, list);
  text += heading(console, "Options");
  list.clear();
  bool ignored = false;
  for (const Option& option : general_options(ignored)) list.emplace_back(usage_of(option), help_of(option));
  list.emplace_back(kHelp);
  text += entries(console, list);
  text += heading(console, "Example");
  text += examples(console, program_example());
  const std::string name(program());
  text += "\n" +
          wrapped("'" + name + " COMMAND --help' explains a command, '" + name + " help TOPIC' a topic.",
                  std::min(console.width(), kWidest), 0) +
          "\n";
  text += heading(console, "Exit status");
  text += entries(console, exit_statuses());
  return text;
}

std::string command_help(const Command& command, std::span<const Option> options, const Console& console) {
  std::string text = wrapped(command.summary, std::min(console.width(), kWidest), 0) + "\n";
  std::string usage = "  " + std::string(program()) + " " + std::string(command.name);
  std::vector<HelpEntry> positional;
  std::vector<std::string> groups = {""};
  for (const Option& option : options) {
    if (option.is_positional) {
      usage += option.is_required ? " " + option.name : " [" + option.name + "]";
      positional.emplace_back(option.name, help_of(option));
    } else if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  text += heading(console, "Usage");
  text += usage + " [options]\n";
  if (!positional.empty()) text += "\n" + entries(console, positional);
  for (const std::string& group : groups) {
    std::vector<HelpEntry> list;
    for (const Option& option : options) {
      if (!option.is_positional && !option.is_hidden && option.group == group)
        list.emplace_back(usage_of(option), help_of(option));
    }
    if (group.empty()) list.emplace_back(kHelp);
    text += heading(console, group.empty() ? "Options" : group);
    text += entries(console, list);
  }
  if (!command.no_json.empty()) {
    text += "\n" +
            wrapped("There is no --json. " + std::string(command.no_json), std::min(console.width(), kWidest),
                    0) +
            "\n";
  }
  text += heading(console, "Example");
  text += examples(console, command.example);
  return text;
}

}  // namespace allot::app
