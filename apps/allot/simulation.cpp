#include "apps/allot/simulation.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/io/assignment_reader.hpp"
#include "allot/io/probabilities_reader.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

constexpr std::uint64_t kMostCompletions = 1'000'000'000'000;

/// Names the table's entries, and the one that was most likely meant.
template <typename Infos>
[[noreturn]] void fail_unknown(const std::string& option, const std::string& what, const std::string& name,
                               const Infos& infos) {
  std::vector<std::string_view> names;
  std::vector<std::string> quoted;
  for (const auto* info : infos) {
    names.push_back(info->name);
    quoted.push_back(in_quotes(info->name));
  }
  const std::string message =
      option + ": there is no " + what + " " + in_quotes(name) + "." + did_you_mean(name, names);
  throw Failure(Exit::kUsage, message + "\nThere are " + alternatives(quoted) + ".");
}

/// Decimals at which the interval still has two digits.
int decimals_for(double half_width) {
  return half_width > 0 ? std::clamp(1 - static_cast<int>(std::floor(std::log10(half_width))), 0, 12) : 4;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

void add_simulation_options(CLI::App& command, SimulationArguments& arguments) {
  SimulationArguments& a = arguments;
  command
      .add_option(
          "--distribution", a.distribution,
          "of the task sizes, such as 'bounded-pareto:alpha=1.5,ratio=1000' or 'trace:sizes.txt' (default "
          "exponential); 'allot list' names all")
      ->type_name("SPEC");
  add_whole(command, "--completions", a.options.completions, 1, kMostCompletions,
            "of each replication, after the warm-up (default 100000)");
  command
      .add_option_function<std::string>(
          "--warmup",
          [&a](const std::string& text) {
            if (text == "auto") {
              a.options.warmup.reset();
            } else {
              a.options.warmup = parse_whole("--warmup", text, 0, kMostCompletions);
            }
          },
          "completions that are not counted, or 'auto': found by a pilot run (default)")
      ->type_name("N|auto");
  add_whole(command, "--replications", a.options.replications, 1, 1'000'000,
            "independent runs (default 10); with 1 the interval comes from batches");
  command
      .add_option_function<std::string>(
          "--precision",
          [&a](const std::string& text) { a.options.precision = parse_part("--precision", text); },
          "replicate until the throughput's 95% interval is within P of it, such as 0.5% or 0.005")
      ->type_name("P");
  add_whole(command, "--max-replications", a.options.max_replications, 1, 1'000'000,
            "where '--precision' gives up (default 1000)");
  add_choice<bool>(command, "--start", a.options.random_start, {{"random", true}, {"listed", false}},
                   "threads enter the empty system in a random order (default) or as the file lists them");
  add_seed(command, a.options.seed);
  add_whole(command, "--threads", a.options.threads, 1, 4096,
            "worker threads (default: all cores); the result does not depend on it");
  command
      .add_option("--assignment", a.assignment,
                  "the assignment that 'fixed' holds, as 'solve --json' prints it")
      ->type_name("A.json");
  add_probabilities(command, a.probabilities);
  add_choice<ShareReading>(
      command, "--shares", a.options.policy.shares,
      {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}},
      "weighted: every type completes exactly its share (default), or at least its part of the "
      "largest common level");
  command
      .add_option("--trace", a.trace,
                  "write every event of the first replication, after the warm-up, to this file")
      ->type_name("OUT.csv");
  add_json(command, a.json);
}

const PolicyInfo& policy_or_fail(const std::string& option, const std::string& name) {
  if (const PolicyInfo* policy = find_policy(name)) return *policy;
  fail_unknown(option, "policy", name, builtin_policies());
}

std::unique_ptr<const Distribution> sizes_or_fail(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  if (find_distribution(name) == nullptr)
    fail_unknown("--distribution", "distribution", name, builtin_distributions());
  try {
    return make_distribution(spec);
  } catch (const InvalidModel& error) {
    const bool bad_file = error.field().starts_with("trace:");
    throw Failure(bad_file ? Exit::kInvalidInput : Exit::kUsage, "--distribution: " + shown(error.what()));
  }
}

PolicyOptions policy_options_or_fail(const SimulationArguments& arguments, const Scenario& scenario,
                                     const Console& console) {
  PolicyOptions options = arguments.options.policy;
  std::string_view reader = arguments.file == "-" ? "the scenario" : "";
  for (const auto& [option, path] : {std::pair("--assignment", &arguments.assignment),
                                     std::pair("--probabilities", &arguments.probabilities)}) {
    if (*path != "-") continue;
    if (!reader.empty()) {
      throw Failure(Exit::kUsage,
                    std::string(option) + ": standard input holds " + std::string(reader) + " already.");
    }
    reader = "the assignment";
  }
  if (!arguments.assignment.empty()) {
    options.assignment =
        value_or_fail(scenario.is_static() ? read_assignment(arguments.assignment, scenario.system)
                                           : read_pattern(arguments.assignment, scenario.system),
                      console);
  }
  if (!arguments.probabilities.empty()) {
    options.placement_probabilities =
        value_or_fail(read_probabilities(arguments.probabilities, scenario.system), console);
  }
  return options;
}

void add_probabilities(CLI::App& command, std::string& path) {
  command
      .add_option(
          "--probabilities", path,
          "where 'random' places each type: a matrix [[0.5, 0.5], ...], a row per type (default: anywhere "
          "it can run, evenly)")
      ->type_name("P.json");
}

void check_policy_files(std::string_view option, const PolicyInfo& policy, const std::string& assignment,
                        const std::string& probabilities) {
  const bool fixed = policy.name == "fixed";
  if (fixed && assignment.empty()) {
    throw Failure(Exit::kUsage,
                  std::string(option) + ": 'fixed' needs an assignment to hold: --assignment A.json.");
  }
  if (!fixed && !assignment.empty())
    throw Failure(Exit::kUsage, "--assignment: only the policy 'fixed' holds a given assignment.");
  if (policy.name != "random" && !probabilities.empty())
    throw Failure(Exit::kUsage, "--probabilities: only the policy 'random' places by given probabilities.");
}

void print_work(Console& console, const Scenario& scenario) {
  const System& system = scenario.system;
  const auto say = [&](const std::string& text) { console.print("{}\n", wrapped(text, console.width(), 0)); };
  for (const ThreadGroup& group : scenario.threads) {
    std::vector<std::string> names;
    for (const TaskType type : group.sequence) names.push_back(shown(system.task(type).name));
    say(counted(group.count, "thread") + (group.count == 1 ? " repeats " : " repeat ") + joined(names));
  }
  for (const PopulationChange& change : scenario.population) {
    say("at " + number(change.at) + " s: " + (change.change > 0 ? "+" : "") + whole(change.change) + " " +
        in_quotes(system.task(change.task).name));
  }
  for (const Arrivals& arrivals : scenario.arrivals) {
    say(in_quotes(system.task(arrivals.task).name) + " tasks arrive, " + number(arrivals.rate) + " a second");
  }
  if (!scenario.is_static()) console.gap();
}

std::string with_interval(const Estimate& value) {
  if (!value.half_width) return number(value.mean);
  const double half_width = *value.half_width;
  if (std::abs(value.mean) >= 1e9 || (value.mean != 0 && std::abs(value.mean) < 1e-4)) {
    return fmt::format("{:.6g} {} {:.2g}", value.mean, sign(Sign::kPlusMinus), half_width);
  }
  const int decimals = decimals_for(half_width);
  return fmt::format("{:.{}f} {} {:.{}f}", value.mean, decimals, sign(Sign::kPlusMinus), half_width,
                     decimals);
}

std::string duration_with_interval(const Estimate& value) {
  if (!value.half_width || !(value.mean > 0)) return duration(value.mean);
  for (const auto& [scale, unit] : {std::pair(1.0, "s"), std::pair(1e-3, "ms"), std::pair(1e-6, "us")}) {
    if (value.mean >= scale)
      return with_interval({value.mean / scale, *value.half_width / scale}) + " " + unit;
  }
  return duration(value.mean) + fmt::format(" {} ", sign(Sign::kPlusMinus)) + duration(*value.half_width);
}

std::string effort(const SimulationResult& result) {
  return counted(static_cast<Count>(result.replications), "replication") + " of " +
         counted(static_cast<Count>(result.completions), "completion") + " after " +
         whole(static_cast<Count>(result.warmup)) + " of warm-up";
}

TraceFile::TraceFile(const SimulationArguments& arguments, const System& system, bool with_policy)
    : path_(arguments.trace) {
  if (path_.empty()) return;
  std::error_code ignored;
  for (const std::string& input : {arguments.file, arguments.assignment, arguments.probabilities}) {
    if (!input.empty() && std::filesystem::equivalent(path_, input, ignored))
      throw Failure(Exit::kUsage, "--trace: " + in_quotes(path_) + " is an input; it would be overwritten.");
  }
  errno = 0;
  file_.open(path_, std::ios::binary | std::ios::trunc);
  if (!file_)
    throw Failure(Exit::kFailed, "cannot open the trace " + in_quotes(path_) + ": " + std::strerror(errno));
  csv_.emplace(file_, system, with_policy);
}

void TraceFile::close() {
  if (!csv_) return;
  csv_->flush();
  int error = csv_->error();
  errno = 0;
  file_.close();
  if (error == 0 && !file_) error = errno != 0 ? errno : EIO;
  if (error != 0)
    throw Failure(Exit::kFailed, "cannot write the trace " + in_quotes(path_) + ": " + std::strerror(error));
}

}  // namespace allot::app
