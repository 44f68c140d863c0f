// The job of a command line: a job file, or a command with its inputs and without a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "allot/ask/option.hpp"
#include "allot/jobs/job.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

/// The words of `allot run` that define the job.
struct JobWords {
  std::vector<std::string> words;      ///< a job file, or a command
  std::string marker;                  ///< ":::" or "::::", if given
  std::vector<std::string> inputs;     ///< the words after it
  std::vector<std::string> resources;  ///< NAME[=SERVERS]
  std::vector<std::string> commands;   ///< [RESOURCE=]SCRIPT
  std::vector<std::string> jobs;       ///< -j [RESOURCE=]N[%]
  std::string output;
  std::string name;
  std::optional<double> timeout_s;
  bool null_separated = false;
};

void add_job_options(std::vector<Option>& options, JobWords& words);

struct NamedJob {
  Job job;
  bool is_file = false;
  std::string journal;  ///< its default name
};

/// Reads the job file, or makes a job of the command and its inputs, from the command line or from standard
/// input. Throws Failure after all problems were reported.
NamedJob read_job_words(const JobWords& words, const Console& console);

}  // namespace allot::app
