// What a journal holds, as a trace.
#pragma once

#include <string>

#include "allot/jobs/journal_reader.hpp"

namespace allot {

/// Trace events: a process per resource with a thread per slot, a slice per attempt with what the journal
/// knows of it; a process of the runs with what happened besides, and of each type the tasks that run and
/// that wait (without a final record, and not running). An attempt whose end nobody recorded lasts until the
/// end of what is known of its run, or until the next one on its slot, and says so. The same journal gives
/// the same bytes. Throws JournalError.
std::string journal_trace(const JournalReader& journal);

}  // namespace allot
