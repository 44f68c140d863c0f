// The contents of a journal as a trace.
#pragma once

#include <string>

#include "allot/jobs/journal_reader.hpp"

namespace allot {

/// Trace events: a process per resource with a thread per slot, and a slice per attempt with all that the
/// journal knows of it. A process for the runs, with their other events. Per type, counters of the running
/// and the waiting tasks (waiting: no final record, and not running). An attempt without a recorded end lasts
/// until the last known moment of its run, or until the next attempt on its slot, and is marked. The same
/// journal gives the same bytes. Throws JournalError.
std::string journal_trace(const JournalReader& journal);

}  // namespace allot
