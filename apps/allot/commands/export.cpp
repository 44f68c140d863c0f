// allot export: recordings in the formats of other programs.
#include <fstream>
#include <string>

#include "allot/base/error.hpp"
#include "allot/report/journal_trace.hpp"
#include "allot/report/simulation_trace.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/journal_input.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::export_command {
namespace {

enum class Format { kTrace };

struct Arguments {
  Format format = Format::kTrace;
  std::string file;
  std::string out;
};

bool is_simulated(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line(kSimulationTraceHeader.size(), '\0');
  return file.read(line.data(), static_cast<std::streamsize>(line.size())) && line == kSimulationTraceHeader;
}

std::string trace_of(const std::string& path) {
  if (!is_simulated(path))
    return with_journal(path, [](const JournalReader& journal) { return journal_trace(journal); });
  std::ifstream file(path, std::ios::binary);
  try {
    return simulation_trace(file);
  } catch (const InvalidModel& error) {
    throw Failure(Exit::kInvalidInput, shown(path) + ": " + shown(error.what()));
  }
}

Exit run_export(const Arguments& arguments, Console& console) {
  const std::string document = trace_of(arguments.file);
  if (arguments.out.empty() || arguments.out == "-") {
    console.document(document);
    return Exit::kOk;
  }
  // Readable only by its owner, because it contains file names.
  write_or_fail(arguments.out, document, Readers::kOwner);
  console.print("{}\n", shown(arguments.out));
  return Exit::kOk;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {word_option("FORMAT", arguments.format, {"trace"},
                      "trace: for ui.perfetto.dev and chrome://tracing (JSON)")
              .positional()
              .required(),
          input_option("FILE", arguments.file, "a journal, or a file written by 'simulate --trace'")
              .positional()
              .required(),
          output_option("out", arguments.out, "the file to write, always JSON")
              .unless_said("standard output")
              .shown_as("FILE")
              .with_letter("o")};
}

}  // namespace

extern const Command command;
const Command command{"export", "Export what a run or a simulation did, as a trace for Perfetto.",
                      "allot export trace jobs.toml.journal -o run.json    # open it in ui.perfetto.dev\n"
                      "allot simulate box.toml --policy map --trace events.csv\n"
                      "allot export trace events.csv -o simulated.json",
                      declared_by(options_of, run_export), "The output is JSON in any case."};

}  // namespace allot::app::export_command
