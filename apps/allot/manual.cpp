// Manual pages, generated from the same tables as the help.
#include <algorithm>
#include <array>
#include <cctype>

#include "allot/base/version.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

/// Text that roff shows unchanged.
std::string roff(std::string_view text) {
  constexpr std::string_view kSigns = "\\-'`^~";
  constexpr std::array<std::string_view, 6> kNames = {"\\(rs", "\\-", "\\(aq", "\\(ga", "\\(ha", "\\(ti"};
  std::string out;
  for (const char c : text) {
    const bool begins_line = out.empty() || out.back() == '\n';
    if (begins_line && (c == '.' || c == '\'')) out += "\\&";
    const std::size_t sign = kSigns.find(c);
    out += sign < kNames.size() ? kNames[sign] : std::string_view(&c, 1);
  }
  return out;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string page_name(const Command* command) {
  return std::string(program()) + (command == nullptr ? "" : "-" + std::string(command->name));
}

/// The summary without its full stop, for the title of a page.
std::string_view as_title(std::string_view summary) {
  return summary.ends_with('.') ? summary.substr(0, summary.size() - 1) : summary;
}

std::string tagged(const HelpEntry& entry) {
  return ".TP\n.B " + roff(entry.first) + "\n" + roff(entry.second) + "\n";
}

std::string option_entry(const Option& option) {
  std::string names;
  if (option.is_positional) {
    names = "\\fI" + roff(option.name) + "\\fR";
  } else {
    if (!option.letter.empty()) names = "\\fB\\-" + roff(option.letter) + "\\fR, ";
    names += "\\fB" + roff(spelled(option)) + "\\fR";
    if (const std::string value = placeholder(option); !value.empty())
      names += " \\fI" + roff(value) + "\\fR";
  }
  return ".TP\n" + names + "\n" + roff(help_of(option)) + "\n";
}

std::string example_block(std::string_view lines) { return ".SH EXAMPLES\n.nf\n" + roff(lines) + "\n.fi\n"; }

std::string options_section(std::span<const Option> options) {
  std::string text = ".SH OPTIONS\n";
  std::vector<std::string> groups = {""};
  for (const Option& option : options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  for (const std::string& group : groups) {
    if (!group.empty()) text += ".SS " + roff(group) + "\n";
    for (const Option& option : options) {
      if (option.group == group && !option.is_hidden) text += option_entry(option);
    }
    if (group.empty()) text += tagged({"-h, --help", "print a help text"});
  }
  return text;
}

std::string command_sections(const Command& command) {
  const Declared declared = command.declare();
  std::string text = ".SH SYNOPSIS\n.B " + roff(program()) + " " + roff(command.name) + "\n";
  for (const Option& option : declared.options) {
    if (option.is_positional)
      text += option.is_required ? ".I " + roff(option.name) + "\n" : "[\\fI" + roff(option.name) + "\\fR]\n";
  }
  text += "[\\fIoptions\\fR]\n.SH DESCRIPTION\n" + roff(command.summary) + "\n";
  if (!command.no_json.empty()) text += "There is no \\fB\\-\\-json\\fR. " + roff(command.no_json) + "\n";
  text += options_section(declared.options) + example_block(command.example);
  text += ".SH EXIT STATUS\nThe page\n.BR " + roff(page_name(nullptr)) + " (1)\nlists them.\n";
  return text + ".SH SEE ALSO\n.BR " + roff(page_name(nullptr)) + " (1)\n";
}

std::string program_sections() {
  std::string text = ".SH SYNOPSIS\n.B " + roff(program()) + "\n\\fICOMMAND\\fR [\\fIoptions\\fR]\n";
  text += ".SH DESCRIPTION\n" + roff(description()) + "\n.SH COMMANDS\n";
  std::string also;
  for (const Command* command : commands()) {
    text += tagged({std::string(command->name), std::string(command->summary)});
    also += (also.empty() ? "" : " ,\n") + (".BR " + roff(page_name(command))) + " (1)";
  }
  bool ignored = false;
  text += options_section(general_options(ignored)) + ".SH TOPICS\nExplained by\n.BR \"" + roff(program()) +
          " help \"\n\\fITOPIC\\fR.\n";
  for (const Topic& topic : topics()) text += tagged({std::string(topic.name), std::string(title_of(topic))});
  text += example_block(program_example()) + ".SH EXIT STATUS\n";
  for (const HelpEntry& entry : exit_statuses()) text += tagged(entry);
  return text + ".SH SEE ALSO\n" + also + "\n";
}

}  // namespace

std::string manual_page(const Command* command) {
  const std::string name = page_name(command);
  std::string text =
      ".TH " + upper(roff(name)) + " 1 \"\" \"" + roff(program()) + " " + roff(version()) + "\" \"\"\n";
  text += ".SH NAME\n" + roff(name) + " \\- " +
          roff(as_title(command == nullptr ? description() : command->summary)) + "\n";
  return text + (command == nullptr ? program_sections() : command_sections(*command));
}

}  // namespace allot::app
