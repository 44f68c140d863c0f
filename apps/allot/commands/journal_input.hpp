// Journals on the command line.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/jobs/journal_reader.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {

/// The positional JOURNAL.
inline Option journal_option(std::string& path) {
  return input_option("JOURNAL", path, "the journal of a run, finished or still running")
      .positional()
      .required();
}

/// The names of the task types; empty if the file is not a journal.
inline std::vector<std::string> task_types_in_journal(const std::string& path) {
  std::vector<std::string> names;
  try {
    for (const TaskTotals& total : JournalReader(path).totals()) names.push_back(total.type);
  } catch (const JournalError&) {
    names.clear();
  }
  return names;
}

/// Calls `use` with the journal of that name; throws Failure with the problem if it cannot be read.
template <typename Use>
auto with_journal(const std::string& path, const Use& use) {
  try {
    return use(JournalReader(path));
  } catch (const JournalError& error) {
    std::string text = shown(error.what());
    std::error_code ignored;  // a job file has its journal beside it
    if (std::filesystem::is_regular_file(path + ".journal", ignored))
      text += "; did you mean " + in_quotes(path + ".journal") + "?";
    throw Failure(Exit::kInvalidInput, text);
  }
}

}  // namespace allot::app
