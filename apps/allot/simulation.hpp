// What the commands that simulate share: their options, what they read, progress, and the trace.
#pragma once

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/io/trace_csv.hpp"
#include "allot/simulate/simulate.hpp"
#include "apps/allot/console.hpp"
#include "apps/allot/progress.hpp"

namespace allot::app {

struct SimulationArguments {
  std::string file;
  std::string distribution = "exponential";
  std::string assignment;
  std::string probabilities;
  std::string trace;
  bool json = false;
  SimulateOptions options;
};

/// Declares all options but those that name policies.
void add_simulation_options(CLI::App& command, SimulationArguments& arguments);

/// The policy of that name; else Failure with the names there are and the one that was most likely meant.
const PolicyInfo& policy_or_fail(const std::string& option, const std::string& name);

/// Sizes as `--distribution` says. An unknown name or parameter is wrong usage, a bad file invalid input.
std::unique_ptr<const Distribution> sizes_or_fail(const std::string& spec);

/// The policy options with what `--assignment` and `--probabilities` name, if they were given. Where counts
/// vary, an assignment need not place every thread.
PolicyOptions policy_options_or_fail(const SimulationArguments& arguments, const Scenario& scenario,
                                     const Console& console);

/// `--probabilities`
void add_probabilities(CLI::App& command, std::string& path);
/// Failure when a policy lacks what it needs or was given what it does not take.
void check_policy_files(std::string_view option, const PolicyInfo& policy, const std::string& assignment,
                        const std::string& probabilities);

/// Lines below the system: threads that change type, changes of the population, arrivals. Nothing where
/// counts are constant.
void print_work(Console& console, const Scenario& scenario);

/// "12.41 ± 0.02": as many digits as the interval makes sense of.
std::string with_interval(const Estimate& value);
/// "1.450 ± 0.003 s"
std::string duration_with_interval(const Estimate& value);
/// "10 replications of 100,000 completions after 400 of warm-up"
std::string effort(const SimulationResult& result);

/// The file of `--trace`. Its destructor says nothing: `close` throws Failure when the file could not be
/// written.
class TraceFile {
 public:
  /// Throws Failure when the file cannot be opened. Without a path it does nothing.
  TraceFile(const SimulationArguments& arguments, const System& system, bool with_policy);
  TraceSink* sink() noexcept { return csv_ ? &*csv_ : nullptr; }
  void close();

 private:
  std::string path_;
  std::ofstream file_;
  std::optional<TraceCsv> csv_;
};

}  // namespace allot::app
