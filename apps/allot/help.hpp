// The help texts, formatted for 80 to 100 columns, and the manual pages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/allot/command.hpp"

namespace allot::app {

/// `-n, --dry-run`, `--seed N`
std::string usage_of(const Option& option);
/// The help of an option, with its default.
std::string help_of(const Option& option);

/// All commands with their options, as one JSON document.
std::string help_json();
struct Topic;
/// A command, a topic, or what is both; at least one is not null.
std::string help_json(const Command* command, const Topic* topic, const Console& console);

/// What to type, and what it does.
using HelpEntry = std::pair<std::string, std::string>;
/// In two columns.
std::string entries(const Console& console, const std::vector<HelpEntry>& list);
std::string heading(const Console& console, std::string_view text);
/// The meaning of each exit status.
std::vector<HelpEntry> exit_statuses();

/// One sentence about the program.
std::string_view description() noexcept;
/// Options of the program itself: `--version`.
std::vector<Option> general_options(bool& version);
std::string general_help(const Console& console);
std::string command_help(const Command& command, std::span<const Option> options, const Console& console);

/// A help topic besides the commands.
struct Topic {
  std::string_view name;
  std::string_view text;  ///< the first line is the title; a line `@x@` is replaced by table x
};
/// From the files in apps/allot/topics.
std::span<const Topic> topics() noexcept;
std::string topic_help(const Topic& topic, const Console& console, bool has_styles = true);
/// A word that is no command and no topic: what it means, and where it is explained. Empty if it is not
/// known.
std::string explained(std::string_view word);
inline std::string_view title_of(const Topic& topic) { return topic.text.substr(0, topic.text.find('\n')); }

/// For `man`, in roff format: the page of a command, or of the program.
std::string manual_page(const Command* command);

}  // namespace allot::app
