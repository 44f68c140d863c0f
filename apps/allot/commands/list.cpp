// allot list: what is built in, with a line on each.
#include "allot/ask/questions/list.hpp"

#include <string>
#include <vector>

#include "apps/allot/asking.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::list_command {
namespace {

void print_group(Console& console, const std::string& title, const std::vector<Named>& entries) {
  if (entries.empty()) return;
  std::size_t column = 0;
  for (const Named& entry : entries) column = std::max(column, display_width(entry.name) + 4);
  console.line(title, Style::kBold);
  for (const Named& entry : entries) {
    std::string text(entry.summary);
    if (entry.objectives.size() == 1)
      text += " (" + std::string(to_string(entry.objectives.front())) + " only)";
    if (!entry.parameters.empty())
      text += " (" + std::string(entry.name) + ":" + std::string(entry.parameters) + ")";
    console.print("  {}{}{}\n", entry.name, std::string(column - 2 - display_width(entry.name), ' '),
                  wrapped(text, console.width(), column));
  }
  console.gap();
}

Exit run_list(Asked<Question>& list, Console& console) {
  if (list.asking.json()) {
    console.document(list.question.json());
    return Exit::kOk;
  }
  const Listing listing = builtin_listing();
  print_group(console, "Solvers", listing.solvers);
  print_group(console, "Policies", listing.policies);
  print_group(console, "Distributions", listing.distributions);
  print_group(console, "Disciplines", listing.disciplines);
  return Exit::kOk;
}

}  // namespace

extern const Command command;
const Command command = asking_command("list", run_list);

}  // namespace allot::app::list_command
