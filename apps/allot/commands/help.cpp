// allot help: explains a command or a topic; also for programs and for `man`.
#include "apps/allot/help.hpp"

#include <string>
#include <vector>

#include "allot/base/words.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::help_command {
namespace {

struct Arguments {
  std::string topic;
  bool json = false;
  bool man = false;
};

std::vector<std::string> all_topics() {
  std::vector<std::string> names;
  for (const Command* known : commands()) names.emplace_back(known->name);
  for (const Topic& topic : topics()) {
    if (find_command(topic.name) == nullptr) names.emplace_back(topic.name);
  }
  return names;
}

const Topic* topic_called(std::string_view name) {
  for (const Topic& topic : topics()) {
    if (topic.name == name) return &topic;
  }
  return nullptr;
}

Exit run_help(const Arguments& arguments, Console& console) {
  if (arguments.json && arguments.topic.empty()) {
    console.document(help_json());
    return Exit::kOk;
  }
  const Command* const about = find_command(arguments.topic);
  if (arguments.man && (about != nullptr || arguments.topic.empty())) {
    console.document(manual_page(about));
    return Exit::kOk;
  }
  if (arguments.topic.empty()) {
    console.print(general_help(console));
    return Exit::kOk;
  }
  // 'sweep' is both a command and a topic.
  const Topic* const topic = topic_called(arguments.topic);
  if (arguments.json && (about != nullptr || topic != nullptr)) {
    console.document(help_json(about, topic, console));
    return Exit::kOk;
  }
  if (about != nullptr) console.print(command_help(*about, about->declare().options, console));
  if (about != nullptr && topic != nullptr) console.print("\n");
  if (about == nullptr && topic != nullptr && arguments.man)
    throw Failure(Exit::kUsage, "--man: commands have manual pages, topics do not.");
  if (topic != nullptr) console.print(topic_help(*topic, console));
  if (about != nullptr || topic != nullptr) return Exit::kOk;
  if (const std::string where = explained(arguments.topic); !where.empty()) {
    console.print(where);
    return Exit::kOk;
  }
  const std::vector<std::string> names = all_topics();
  throw Failure(Exit::kUsage,
                "there is no command or topic " + in_quotes(arguments.topic) + "." +
                    did_you_mean(arguments.topic, std::vector<std::string_view>(names.begin(), names.end())) +
                    "\n'" + std::string(program()) + " help' lists them.");
}

std::vector<Option> options_of(Arguments& arguments) {
  return {text_option("TOPIC", arguments.topic, "a command or a topic; without one, the overview")
              .suggesting(all_topics())
              .positional(),
          flag_option("json", arguments.json, "one JSON document: all commands and options, or the TOPIC"),
          flag_option("man", arguments.man, "the manual page of the command, or of the program, in roff")
              .not_with("json")};
}

}  // namespace

extern const Command command;
const Command command{"help", "Explain a command or a topic, such as scenario files.",
                      "allot help solve        # the same as 'allot solve --help'\n"
                      "allot help scenario     # what a scenario file holds, with an example\n"
                      "allot help --man run | man -l -",
                      declared_by(options_of, run_help)};

}  // namespace allot::app::help_command
