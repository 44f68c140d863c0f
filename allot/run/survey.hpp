// How a job stands before a run: what the journal says of each task, what is to be done again, and which
// files are in the way. Looks only; `allot run --dry-run` shows it, and `allot run` acts on it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "allot/jobs/job.hpp"
#include "allot/jobs/journal.hpp"

namespace allot {

/// Which tasks that have their final record are to be done again.
struct RedoRule {
  bool missing = false;  ///< those that succeeded and whose output is gone
  bool changed = false;  ///< those of which an input is newer than the start of their last attempt
  std::vector<std::string> patterns;  ///< those whose identity, or whose type's name, matches (fnmatch)
  bool empty() const noexcept { return !missing && !changed && patterns.empty(); }
};

struct SurveyOptions {
  JournalOptions journal = {};  ///< with which it is going to be opened
  RedoRule redo = {};
  bool fresh = false;  ///< the journal is going to be moved aside: nothing is done yet
};

struct Survey {
  std::vector<TaskState> states;    ///< by item, as the run would find them
  std::vector<std::size_t> redone;  ///< items with a final record that are pending again
  std::vector<std::size_t>
      blocked;  ///< items to be done whose output exists, though none of their attempts made it
  std::vector<std::string> unmatched;  ///< patterns that no task matches
};

/// Throws JournalError as a run would: kCorrupt, kIo, kChanged. There need not be a journal.
Survey survey_job(const Job& job, std::span<const JobItem> items, const std::string& journal_path,
                  const SurveyOptions& options);

}  // namespace allot
