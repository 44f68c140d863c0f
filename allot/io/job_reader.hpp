// Job files: a Job, or every problem of the file and of those it names. The shape is in
// docs/reference/jobs.md.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "allot/io/diagnostic.hpp"
#include "allot/io/document.hpp"
#include "allot/jobs/job.hpp"

namespace allot {

/// Reads a job file, `.toml` or `.json` by its extension, with the inputs that it names; `-` is JSON from
/// standard input. Never throws for what is in the files.
ReadResult<Job> read_job(const std::string& path);

/// The same for a text at hand. Paths in it are relative to `folder`; more tasks than `most` are refused.
ReadResult<Job> read_job_text(std::string_view text, FileFormat format, std::string source = {},
                              const std::string& folder = ".", std::size_t most = kMostInputs);

/// Seconds of `30s`, `1.5h`, `500ms`, `2m`, `1d` or a bare number; nothing where it is none of these or not >
/// 0.
std::optional<double> parse_duration(std::string_view text);

}  // namespace allot
