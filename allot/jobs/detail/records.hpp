// The tasks of a journal, read from its rows and checked: for a run that continues it, and for readers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "allot/jobs/detail/database.hpp"
#include "allot/jobs/job.hpp"
#include "allot/jobs/journal.hpp"

namespace allot::detail {

struct KnownTask {
  std::int64_t id = 0;
  std::int64_t last_run = 0;  ///< the last run that made an attempt at it; 0: none
  std::string type;
  TaskState state;
  bool is_open_attempt = false;
  double last_start_unix = 0;  ///< of its last attempt; 0 without one
};

/// A checksum (FNV-1a) over the contents of a task's row. Database pages have no checksums of their own, and
/// a flipped bit must not turn into a success.
std::int64_t seal(std::string_view task, std::string_view type, std::int64_t final_sequence,
                  std::string_view status) noexcept;

/// The state of every task, by the text of its identity. Throws JournalError(kCorrupt) if the rows contradict
/// each other.
std::unordered_map<std::string, KnownTask> load_tasks(const Database& database);

/// The parts of the work whose definition has changed, for types with at least one attempt: lines for a
/// message, or nothing.
std::string changed_work(const Database& database, std::span<const WorkDefinition> work);

}  // namespace allot::detail
