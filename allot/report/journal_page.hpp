// What a journal shows: who ran what when, and how fast it went, as one page that opens offline.
#pragma once

#include <string>

#include "allot/jobs/journal_reader.hpp"

namespace allot {

struct JournalPageInfo {
  std::string title;
  std::string version;  ///< of the program, shown at the top
};

/// One HTML document, nothing fetched from anywhere: a Gantt chart of all slots, throughput over time with
/// what the plans predicted, and tables. The same journal gives the same bytes. Its size is bounded: where
/// there are too many attempts to be told apart, the chart shows how busy a slot was instead. Throws
/// JournalError.
std::string journal_page(const JournalReader& journal, const JournalPageInfo& info);

}  // namespace allot
