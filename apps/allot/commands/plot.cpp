// allot plot: the contents of a journal as a page.
#include <filesystem>
#include <string>

#include "allot/base/version.hpp"
#include "allot/report/journal_page.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/journal_input.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::plot_command {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string journal;
  std::string out;
};

Exit run_plot(const Arguments& arguments, Console& console) {
  const std::string out = arguments.out.empty() ? arguments.journal + ".html" : arguments.out;
  const std::string title = fs::path(arguments.journal).filename().string();
  const std::string page = with_journal(arguments.journal, [&](const JournalReader& journal) {
    return journal_page(journal, {title, "allot " + std::string(version())});
  });
  if (out == "-") {
    console.document(std::string_view(page));
    return Exit::kOk;
  }
  write_or_fail(out, page, Readers::kOwner);  // command lines may contain secrets
  console.print("{}\n", shown(out));
  return Exit::kOk;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {journal_option(arguments.journal),
          output_option("out", arguments.out, "the page to write; '-' is standard output")
              .unless_said("JOURNAL.html")
              .shown_as("FILE.html")
              .with_letter("o")};
}

}  // namespace

extern const Command command;
const Command command{"plot", "Draw what a run did: a page with a Gantt chart and throughput over time.",
                      "allot plot jobs.toml.journal\n"
                      "allot plot jobs.toml.journal --out run.html",
                      declared_by(options_of, run_plot),
                      "The command writes a page and prints its path; 'log --json' has the attempts."};

}  // namespace allot::app::plot_command
