#include "apps/allot/help.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kTextColumn = 36;  // where descriptions begin
constexpr std::size_t kWidest = 100;

using Entry = std::pair<std::string, std::string>;  // what to type, and what it does

std::string heading(const Console& console, std::string_view text) {
  return "\n" + console.styled(Style::kBold, text) + "\n";
}

std::string entries(const Console& console, const std::vector<Entry>& list) {
  std::size_t longest = 0;
  for (const Entry& entry : list) longest = std::max(longest, display_width(entry.first));
  const std::size_t width = std::min(console.width(), kWidest);
  // Where there is little room, descriptions of long options stand below them.
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

/// `command line   # remark` with the remark dimmed.
std::string examples(const Console& console, std::string_view lines) {
  std::string text;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    // A line that goes on is indented.
    const bool goes_on = lines.starts_with(' ');
    text +=
        "  " + (goes_on ? "" : console.styled(Style::kDim, "$ ")) + std::string(lines.substr(0, end)) + "\n";
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

std::string label(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string name = option.get_name(false, true);
  for (std::size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
    name.insert(at + 1, 1, ' ');
  const std::string type = option.get_type_name();
  return option.get_expected_min() == 0 || type.empty() ? name : name + " " + type;
}

}  // namespace

std::string general_help(const CLI::App& app, const Console& console) {
  std::string text = wrapped(app.get_description(), std::min(console.width(), kWidest), 0) + "\n";
  text += heading(console, "Usage");
  text += "  " + std::string(program()) + " COMMAND [options]\n";
  text += heading(console, "Commands");
  std::vector<Entry> list;
  for (const Command* command : commands()) list.emplace_back(command->name, command->summary);
  text += entries(console, list);
  text += heading(console, "Options");
  list.clear();
  for (const CLI::Option* option : app.get_options())
    list.emplace_back(label(*option), option->get_description());
  text += entries(console, list);
  text += heading(console, "Example");
  text += examples(console, program_example());
  text += "\n'" + std::string(program()) + " COMMAND --help' explains a command.\n";
  text += heading(console, "Exit status");
  text +=
      entries(console,
              {{"0", "done"},
               {"1", "the work failed: tasks failed, no feasible answer, a result that could not be written"},
               {"2", "wrong usage"},
               {"3", "invalid input"},
               {"4", "run: the journal is locked, belongs to other work, or is damaged"},
               {"5", "run: the journal, or another file of the run, cannot be written"},
               {"6", "run: halted, since too many tasks failed"},
               {"7", "run: the time limit was over before all was done"},
               {"130", "interrupted; run: 129 by HUP, 143 by TERM"}});
  return text;
}

std::string command_help(const Command& command, const CLI::App& declared, const Console& console) {
  std::string text = wrapped(command.summary, std::min(console.width(), kWidest), 0) + "\n";
  std::string usage = "  " + std::string(program()) + " " + command.name;
  std::vector<Entry> positional;
  std::vector<std::string> groups;
  for (const CLI::Option* option : declared.get_options()) {
    if (option->get_positional()) {
      usage += " " + option->get_name(true);
      positional.emplace_back(label(*option), option->get_description());
    } else if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end()) {
      groups.push_back(option->get_group());
    }
  }
  text += heading(console, "Usage");
  text += usage + " [options]\n";
  if (!positional.empty()) text += "\n" + entries(console, positional);
  // CLI11 declares --help first; it reads better last.
  for (const std::string& group : groups) {
    if (group.empty()) continue;  // hidden
    std::vector<Entry> list;
    for (const CLI::Option* option : declared.get_options()) {
      if (!option->get_positional() && option->get_group() == group) {
        list.emplace_back(label(*option), option->get_description());
      }
    }
    if (group == "Options") std::rotate(list.begin(), list.begin() + 1, list.end());
    text += heading(console, group);
    text += entries(console, list);
  }
  text += heading(console, "Example");
  text += examples(console, command.example);
  return text;
}

}  // namespace allot::app
