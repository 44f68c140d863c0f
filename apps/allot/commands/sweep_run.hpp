// Shared by `reproduce` and `sweep`: runs experiments into a folder, shows the progress, and writes the
// report.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "allot/ask/option.hpp"
#include "allot/report/report.hpp"
#include "allot/sweep/sweep.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

struct SweepArguments {
  std::string folder;
  unsigned jobs = 0;
  bool json = false;
};

/// `--out`, `--jobs` and `--json`.
void add_sweep_options(std::vector<Option>& options, SweepArguments& arguments, const std::string& folder);

/// Does the units that FOLDER/store.sqlite lacks; creates the folder and the store if necessary. Failed units
/// are reported on standard error. Throws Failure if the store cannot be used, or after Ctrl-C. Absent in a
/// process that only worked for another: it has nothing more to do.
std::optional<SweepOutcome> run_job(const SweepJob& job, const SweepArguments& arguments,
                                    const Console& console);

/// Writes the report: index.html, data/ and figures/ in the folder. `title`: of a user's sweep; empty for the
/// paper's experiments. Throws Failure.
void write_files(const std::string& folder, const std::string& title, const Effort& effort,
                 std::span<const Reported> reported);

/// "in 3.2 s", "nothing was left to do"
std::string work_done(const SweepOutcome& outcome, double seconds);

}  // namespace allot::app
