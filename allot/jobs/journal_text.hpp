// Attempts of a journal for other programs: one line of JSON or CSV each.
#pragma once

#include <string>

#include "allot/jobs/attempt.hpp"

namespace allot {

/// One JSON object on one line, without the line end. Bytes that are not UTF-8 are replaced.
std::string attempt_json(const AttemptRow& attempt);

/// The names of the columns, without a line end.
std::string attempt_csv_header();
/// One record, without a line end at its end (fields may contain line ends, quoted).
std::string attempt_csv(const AttemptRow& attempt);

}  // namespace allot
