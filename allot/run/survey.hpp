// The state of a job before a run: what the journal says about each task, what must be done again, and which
// files are in the way. Read-only; `allot run --dry-run` shows it, and `allot run` acts on it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "allot/jobs/job.hpp"
#include "allot/jobs/journal.hpp"

namespace allot {

/// Which tasks with a final record are done again.
struct RedoRule {
  bool missing = false;  ///< tasks that succeeded and whose output is missing
  bool changed = false;  ///< tasks with an input that is newer than the start of their last attempt
  std::vector<std::string> patterns;  ///< tasks whose identity, or whose type's name, matches (fnmatch)
  bool empty() const noexcept { return !missing && !changed && patterns.empty(); }
};

struct SurveyOptions {
  JournalOptions journal = {};  ///< the options with which it will be opened
  RedoRule redo = {};
  bool fresh = false;  ///< the journal will be moved aside: nothing is done yet
};

struct Survey {
  std::vector<TaskState> states;    ///< by item, as the run would find them
  std::vector<std::size_t> redone;  ///< items with a final record that are pending again
  std::vector<std::size_t>
      blocked;  ///< items to do whose output exists, although none of their attempts made it
  std::vector<std::string> unmatched;  ///< patterns without a matching task
};

/// Throws JournalError like a run: kCorrupt, kIo, kChanged. The journal may be missing.
Survey survey_job(const Job& job, std::span<const JobItem> items, const std::string& journal_path,
                  const SurveyOptions& options);

}  // namespace allot
