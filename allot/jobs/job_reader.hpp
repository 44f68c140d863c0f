// Job files: a Job, or all problems of the file and of the files that it names. The format is in
// docs/reference/jobs.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "allot/format/diagnostic.hpp"
#include "allot/format/document.hpp"
#include "allot/jobs/job.hpp"

namespace allot {

/// Reads a job file, `.toml` or `.json` by its extension, with the inputs that it names; `-` is JSON from
/// standard input, which may also be one of the `inputs_from`. Never throws because of the contents of files.
ReadResult<Job> read_job(const std::string& path);

/// A job of one task type, given without a file.
struct JobCommand {
  struct Part {
    std::string resource;  ///< empty: all
    std::string script;    ///< for `sh -c`
  };
  std::string name = "task";                             ///< of the type
  std::vector<std::pair<std::string, Count>> resources;  ///< names and servers
  std::vector<Part> commands;
  std::optional<std::string> output;
  std::optional<double> timeout_s;
  InputTable inputs;
};

/// The job that a file with this content would give: the same rules, the same messages.
ReadResult<Job> make_job(const JobCommand& command);

/// The same for a text in memory. Paths in it are relative to `folder`; more than `most` tasks are refused.
ReadResult<Job> read_job_text(std::string_view text, FileFormat format, std::string source = {},
                              const std::string& folder = ".", std::size_t most = kMostInputs);

}  // namespace allot
