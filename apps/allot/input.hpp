// Files that are named on the command line.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/base/own_file.hpp"
#include "allot/format/diagnostic.hpp"
#include "allot/model/scenario.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// The positional FILE.
Option file_option(std::string& path);

/// The scenario of a file. Notes go to standard error, and so does every problem before Failure is thrown.
Scenario read_scenario_or_fail(const std::string& path, const Console& console);

/// What was read, or Failure after every problem with it.
template <typename Value>
Value value_or_fail(ReadResult<Value> result, const Console& console) {
  if (result) return std::move(result).value();
  for (const Diagnostic& diagnostic : result.diagnostics()) console.error(to_string(diagnostic));
  throw Failure(Exit::kInvalidInput, "");
}

/// The names of the task types in a scenario or a job file; none where it cannot be read.
std::vector<std::string> task_types_in(const std::string& path);

/// The last line of a file that is not empty, of its last 2000 bytes; nothing where there is none.
std::string last_line(const std::string& path);

/// Writes a file, whole or not at all; Failure where it cannot be written.
void write_or_fail(const std::string& path, std::string_view text, Readers readers);

}  // namespace allot::app
