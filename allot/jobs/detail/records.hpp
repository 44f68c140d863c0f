// What the rows of a journal say about its tasks, checked: for the run that goes on with it, and for those
// who only look.
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
  std::int64_t last_run = 0;  ///< that made an attempt at it; 0: none
  std::string type;
  TaskState state;
  bool is_open_attempt = false;
  double last_start_unix = 0;  ///< of its last attempt; 0 without one
};

/// Pages of a database have no checksums of their own; a success must not come out of a flipped bit. A
/// checksum (FNV-1a) over what a task's row says.
std::int64_t seal(std::string_view task, std::string_view type, std::int64_t final_sequence,
                  std::string_view status) noexcept;

/// How far every task has come, by the text of its identity. Throws JournalError(kCorrupt) for what the rows
/// cannot have said when they were written.
std::unordered_map<std::string, KnownTask> load_tasks(const Database& database);

/// Which parts of the work are defined otherwise now, of types that an attempt was made at: lines for a
/// message, or nothing.
std::string changed_work(const Database& database, std::span<const WorkDefinition> work);

}  // namespace allot::detail
