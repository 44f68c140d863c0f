// Input files on the command line.
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

/// The scenario of a file. Notes go to standard error; problems too, before Failure is thrown.
Scenario read_scenario_or_fail(const std::string& path, const Console& console);

/// The value, or Failure after all problems were written.
template <typename Value>
Value value_or_fail(ReadResult<Value> result, const Console& console) {
  if (result) return std::move(result).value();
  for (const Diagnostic& diagnostic : result.diagnostics()) console.error(to_string(diagnostic));
  throw Failure(Exit::kInvalidInput, "");
}

/// The names of the task types in a scenario or a job file; empty if it cannot be read.
std::vector<std::string> task_types_in(const std::string& path);
/// The same for the names of its resources.
std::vector<std::string> resources_in(const std::string& path);

/// The last line of a file that is not empty, within its last 2000 bytes; empty if there is none.
std::string last_line(const std::string& path);

/// Writes a file completely or not at all; throws Failure if it cannot be written.
void write_or_fail(const std::string& path, std::string_view text, Readers readers);

}  // namespace allot::app
