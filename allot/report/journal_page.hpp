// The contents of a journal as one page that opens offline: what ran where and when, and how fast.
#pragma once

#include <string>

#include "allot/jobs/journal_reader.hpp"

namespace allot {

struct JournalPageInfo {
  std::string title;
  std::string version;  ///< of the program, shown at the top
};

/// One HTML document that fetches nothing: a Gantt chart of all slots, throughput over time with the
/// predictions of the plans, and tables. The same journal gives the same bytes. The size is bounded: if there
/// are too many attempts to draw each, the chart shows how busy a slot was instead. Throws JournalError.
std::string journal_page(const JournalReader& journal, const JournalPageInfo& info);

}  // namespace allot
