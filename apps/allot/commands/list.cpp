// allot list: the built-ins, each with a line of description.
#include "allot/ask/questions/list.hpp"

#include <optional>
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

enum class Kind { kSolvers, kPolicies, kDistributions, kDisciplines };

struct Arguments : Asked<Question> {
  using Asked::Asked;
  std::optional<Kind> kind;
  std::vector<Option> more() {
    return {word_option("KIND", kind, {"solvers", "policies", "distributions", "disciplines"},
                        "solvers, policies, distributions or disciplines; without it, all of them")
                .positional()};
  }
};

Exit run_list(Arguments& arguments, Console& console) {
  Listing listing = builtin_listing();
  const auto keep_if = [&](Kind kind, std::vector<Named>& entries) {
    if (arguments.kind.value_or(kind) != kind) entries.clear();
  };
  keep_if(Kind::kSolvers, listing.solvers);
  keep_if(Kind::kPolicies, listing.policies);
  keep_if(Kind::kDistributions, listing.distributions);
  keep_if(Kind::kDisciplines, listing.disciplines);
  if (arguments.asking.json()) {
    console.document(listing_json(listing));
    return Exit::kOk;
  }
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
