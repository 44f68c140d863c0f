// allot profile: how fast each type of a job runs on each resource, for `solve` and `run`.
#include "allot/run/profile.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <system_error>

#include "allot/format/json.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/jobs/job_reader.hpp"
#include "allot/run/known_rates.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/request.hpp"
#include "allot/worker/process.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/commands/run_paths.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/terminal/live_block.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app::profile_command {
namespace {

struct Arguments {
  std::string file;
  std::string out;
  ProfileOptions options;
  bool json = false;
};

/// "3.12 ±0.04"
std::string rate_text(const Timing& timing) {
  if (timing.runs == 0 || !(timing.mean_s > 0)) return "";
  const double half = timing.rate() * timing.half_s / timing.mean_s;
  return number(timing.rate(), 4) + fmt::format(" {}", sign(Sign::kPlusMinus)) + number(half, 2);
}

std::string state_text(const PairProfile& pair) {
  if (pair.alone.runs == 0) return "";
  std::string text = pair.alone.converged && pair.full.converged ? "" : "not converged";
  if (pair.failures > 0) {
    text +=
        (text.empty() ? "" : ", ") + counted(static_cast<Count>(pair.failures), "failed run") + " left out";
  }
  return text;
}

std::string profile_table(const Job& job, const Profile& profile, const Console& console,
                          std::size_t columns) {
  const bool wide = std::any_of(job.resources.begin(), job.resources.end(),
                                [](const JobResource& resource) { return resource.servers > 1; });
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.title({"", "alone/s", wide ? "slots full/s" : "", "runs", "mixed/s", ""});
  std::string problems;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      const PairProfile& pair = profile.pairs(task_type(i), resource_id(j));
      if (!pair.possible) continue;
      const bool several = job.resources[j].servers > 1;
      const bool bad = !pair.problem.empty();
      const std::string name = shown(job.tasks[i].name) + " on " + shown(job.resources[j].name);
      table.row({{name, Style::kPlain},
                 {rate_text(pair.alone), Style::kPlain},
                 {several ? rate_text(pair.full) : "", Style::kPlain},
                 {std::to_string(pair.alone.runs + (several ? pair.full.runs : 0)), Style::kDim},
                 {pair.mixed_s ? number(1 / *pair.mixed_s, 3) : "", Style::kPlain},
                 {bad ? "fails" : state_text(pair), bad ? Style::kBad : Style::kDim}});
      if (bad) problems += "  " + wrapped(name + " fails: " + shown(pair.problem), columns, 4) + "\n";
    }
  }
  return table.text(console, columns) + (problems.empty() ? "" : "\n" + problems);
}

/// The rows of some types.
SharingFit rows_of(const SharingFit& fit, const std::vector<TaskType>& types) {
  const auto chosen = [&](const PerPair<FittedNumber>& all) {
    PerPair<FittedNumber> out(types.size(), all.resources());
    for (const TaskType i : out.type_ids()) {
      for (const ResourceId j : out.resource_ids()) out(i, j) = all(types[index(i)], j);
    }
    return out;
  };
  SharingFit out = fit;
  out.rates = chosen(fit.rates);
  for (PerPair<FittedNumber>& needs : out.needs) needs = chosen(needs);
  return out;
}

/// Adds needs and capacities, and replaces rates by those without mutual slowdown.
void share(Scenario& scenario, const SharingFit& fit) {
  scenario.system = with_sharing(scenario.system, fit);
  for (MeasuredRate& rate : scenario.measured) {
    const FittedNumber& fitted = fit.rates(rate.task, rate.resource);
    if (!(fitted.value > 0)) continue;
    rate.low = fitted.low;
    rate.high = fitted.high;
  }
}

/// The scenario from the measurements, of which there must be some; types that could not run anywhere are
/// left out.
Scenario scenario_of(const Job& job, const Profile& profile) {
  const std::vector<Count> limits = in_flight_limits(job);
  std::vector<TaskType> kept;
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  std::vector<MeasuredRate> measured;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    std::vector<double> row(job.resources.size(), 0.0);
    bool runs = false;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const PairProfile& pair = profile.pairs(task_type(i), resource_id(j));
      const Timing& timing = pair.full.runs > 0 ? pair.full : pair.alone;
      if (!pair.possible || !pair.problem.empty() || timing.runs == 0) continue;
      row[j] = timing.rate();
      runs = true;
      MeasuredRate& rate = measured.emplace_back();
      rate.task = task_type(tasks.size());
      rate.resource = resource_id(j);
      rate.low = 1 / (timing.mean_s + timing.half_s);
      rate.high = timing.mean_s > timing.half_s ? 1 / (timing.mean_s - timing.half_s) : 2 * timing.rate();
      rate.runs = static_cast<Count>(timing.runs);
      if (pair.alone.runs > 0) rate.alone = pair.alone.rate();
      if (pair.mixed_s) rate.mixed = 1 / *pair.mixed_s;
      rate.converged = timing.converged;
    }
    if (!runs) continue;
    TaskClass& task = tasks.emplace_back(job.tasks[i]);
    kept.push_back(task_type(i));
    task.count = limits[i];
    if (task.home && !(row[index(*task.home)] > 0)) task.home.reset();
    rates.insert(rates.end(), row.begin(), row.end());
  }
  const std::size_t types = tasks.size();
  Scenario scenario{
      job.name.empty() ? "profile of " + std::filesystem::path(job.path).filename().string() : job.name,
      System(std::vector<Resource>(job.resources.begin(), job.resources.end()), std::move(tasks),
             Rates(types, job.resources.size(), std::move(rates))),
      {},
      {},
      {},
      std::move(measured),
      {}};
  if (profile.sharing) share(scenario, rows_of(*profile.sharing, kept));
  return scenario;
}

Json timing_json(const Timing& timing) {
  if (timing.runs == 0) return nullptr;
  return Json::object(
      {{"rate", timing.rate()},
       {"low", 1 / (timing.mean_s + timing.half_s)},
       {"high", timing.mean_s > timing.half_s ? Json(1 / (timing.mean_s - timing.half_s)) : Json()},
       {"runs", timing.runs},
       {"converged", timing.converged}});
}

Json error_json(const SharingError& error) {
  return Json::object(
      {{"median", error.median}, {"within_tenth", error.within_tenth}, {"worst", error.worst}});
}

Json number_json(const Job& job, TaskType i, ResourceId j, const FittedNumber& fitted) {
  return Json::object({{"task", job.tasks[index(i)].name},
                       {"resource", job.resources[index(j)].name},
                       {"value", fitted.value},
                       {"low", fitted.low},
                       {"high", fitted.high}});
}

Json sharing_json(const Job& job, const SharingFit& fit) {
  Json::Array left_out;
  for (const SharingError& error : fit.left_out) left_out.push_back(error_json(error));
  Json::Array rates;
  Json::Array needs;
  for (const TaskType i : fit.rates.type_ids()) {
    for (const ResourceId j : fit.rates.resource_ids()) {
      if (fit.rates(i, j).value > 0) rates.push_back(number_json(job, i, j, fit.rates(i, j)));
      for (std::size_t r = 0; r < fit.needs.size(); ++r) {
        if (!(fit.needs[r](i, j).value > 0)) continue;
        needs.push_back(number_json(job, i, j, fit.needs[r](i, j)));
        needs.back().add("capacity", r + 1);
      }
    }
  }
  return Json::object({{"mixes", fit.mixes},
                       {"capacities", fit.needs.size()},
                       {"in_sample", error_json(fit.in_sample)},
                       {"left_out", std::move(left_out)},
                       {"rates", std::move(rates)},
                       {"needs", std::move(needs)}});
}

void print_json(Console& console, const Job& job, const Profile& profile, const std::string& out) {
  Json::Array pairs;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      const PairProfile& pair = profile.pairs(task_type(i), resource_id(j));
      if (!pair.possible) continue;
      pairs.push_back(Json::object({{"task", job.tasks[i].name},
                                    {"resource", job.resources[j].name},
                                    {"alone", timing_json(pair.alone)},
                                    {"full", timing_json(pair.full)},
                                    {"mixed", pair.mixed_s ? Json(1 / *pair.mixed_s) : Json()},
                                    {"failures", pair.failures},
                                    {"problem", pair.problem.empty() ? Json() : Json(pair.problem)}}));
    }
  }
  Json::Array resources;
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    resources.push_back(Json::object({{"name", job.resources[j].name},
                                      {"launch_s", profile.launch_s[j]},
                                      {"interference", profile.interference[j]}}));
  }
  const Json json =
      Json::object({{"file", out},
                    {"interrupted", profile.interrupted},
                    {"pairs", std::move(pairs)},
                    {"resources", std::move(resources)},
                    {"sharing", profile.sharing ? sharing_json(job, *profile.sharing) : Json()}});
  console.document(json.line() + "\n");
}

void print_sharing(Console& console, const Job& job, const SharingFit& fit) {
  const auto error_text = [](const SharingError& error) {
    return percent(error.median) + " in the median, " + percent(error.worst) + " at worst";
  };
  const SharingError& left_out = fit.left_out[fit.needs.size()];
  if (fit.needs.empty()) {
    console.print("Tasks do not slow each other down beyond their own slots, by {} mixes.\n", fit.mixes);
  } else {
    console.print("Tasks share {}, by {} mixes: the part of it that one task takes, with 95% intervals\n\n",
                  fit.needs.size() == 1 ? "one capacity" : "two capacities", fit.mixes);
    Table table({Align::kLeft, Align::kRight, Align::kRight});
    table.title({"", "shared1", fit.needs.size() > 1 ? "shared2" : ""});
    for (const TaskType i : fit.rates.type_ids()) {
      for (const ResourceId j : fit.rates.resource_ids()) {
        if (!(fit.rates(i, j).value > 0)) continue;
        const auto cell = [&](std::size_t r) {
          if (r >= fit.needs.size()) return std::string();
          const FittedNumber& need = fit.needs[r](i, j);
          return need.value > 0 ? number(need.value, 3) + " (" + number(need.low, 2) + " to " +
                                      number(need.high, 2) + ")"
                                : std::string("-");
        };
        table.row(
            {{shown(job.tasks[index(i)].name) + " on " + shown(job.resources[index(j)].name), Style::kPlain},
             {cell(0), Style::kPlain},
             {cell(1), Style::kPlain}});
      }
    }
    console.print("{}\n", table.text(console, console.width()));
  }
  console.print("Mixes that were left out of the fit are predicted with an error of {}{}.\n",
                error_text(left_out),
                fit.needs.empty() ? "" : "; with nothing shared, " + error_text(fit.left_out.front()));
}

void print_text(Console& console, const Job& job, const Profile& profile, const std::string& out) {
  console.print("{}: completions per second of one slot, with 95% intervals\n\n", shown(job.path));
  console.print("{}", profile_table(job, profile, console, console.width()));
  console.gap();
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    if (const auto& factor = profile.interference[j]; factor && std::abs(*factor - 1) > 0.1) {
      console.print("In the mix, tasks on {} take {} {} than with only its own slots full{}.\n",
                    in_quotes(job.resources[j].name), percent(std::abs(*factor - 1)),
                    *factor > 1 ? "longer" : "less", *factor > 1 ? ": the resources disturb each other" : "");
    }
  }
  if (profile.sharing) print_sharing(console, job, *profile.sharing);
  const double launch = *std::max_element(profile.launch_s.begin(), profile.launch_s.end());
  console.print("Launching takes up to {} per task and is not part of the rates.\n", duration(launch));
  console.print("Written to {}: 'allot solve' and 'allot run' read it.\n", shown(out));
}

/// Minimum number of executions for a profile of the job, if nothing fails.
std::uint64_t least_executions(const Job& job, const ProfileOptions& options) {
  const std::uint64_t visits = options.least_runs + 1;  // the first is a warm-up
  std::uint64_t count = 0;
  for (const JobTask& task : job.tasks) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (!task.commands[j]) continue;
      const auto servers = static_cast<std::uint64_t>(job.resources[j].servers);
      count += visits + (servers > 1 ? visits * 2 * servers : 0);
    }
  }
  return count;
}

/// The measured tasks do not leave outputs, so the inputs of later stages must exist before.
void refuse_without_inputs(const Job& job) {
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const JobTask& task = job.tasks[i];
    bool any = false;
    for (std::size_t row = 0; row < task.inputs.rows() && !any; ++row)
      any = has_input(job, task_type(i), row);
    if (any) continue;
    throw Failure(Exit::kInvalidInput,
                  shown(job.path) + ": " + in_quotes(task.name) + " uses outputs of " +
                      in_quotes(job.tasks[index(*task.from)].name) +
                      ", and there are none. 'allot run' makes them, and learns the rates on the way.");
  }
}

bool has_rates(const Profile& profile) {
  const std::vector<PairProfile>& pairs = profile.pairs.values();
  return std::any_of(pairs.begin(), pairs.end(), [](const PairProfile& pair) {
    return pair.possible && pair.problem.empty() && pair.alone.runs > 0;
  });
}

/// Saves the measurements every few seconds in a file beside the final one, so that an abrupt end loses
/// little.
class Keeper {
 public:
  Keeper(const Job& job, const std::string& out) : job_(job), path_(out + ".part") {}
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  ~Keeper() { ::unlink(path_.c_str()); }

  void look(const Profile& so_far) {
    if (Clock::now() - kept_at_ < std::chrono::seconds(2) || !has_rates(so_far)) return;
    kept_at_ = Clock::now();
    try {
      write_or_fail(path_, write_scenario(scenario_of(job_, so_far), FileFormat::kToml), Readers::kEveryone);
    } catch (const Failure&) {
      // The error is reported at the end.
    }
  }

 private:
  const Job& job_;
  std::string path_;
  Clock::time_point kept_at_ = Clock::now();
};

/// Writes the measurements to their file. If that fails, they go to standard output, so that they are not
/// lost.
bool keep_rates(const Arguments& arguments, const Job& job, const Profile& profile, Console& console) {
  const std::string text = write_scenario(scenario_of(job, profile), FileFormat::kToml);
  std::error_code error;
  if (profile.interrupted && std::filesystem::exists(arguments.out, error)) {
    // An incomplete profile must not replace a complete one.
    std::filesystem::rename(arguments.out, arguments.out + "~", error);
    if (!error) console.note("the rates of an earlier profile were moved to " + shown(arguments.out + "~"));
  }
  try {
    write_or_fail(arguments.out, text, Readers::kEveryone);
    return true;
  } catch (const Failure& failure) {
    console.error(std::string(failure.what()) + "; the rates follow on standard output");
    console.print(std::string_view(text));
    return false;
  }
}

Exit profile(Arguments& arguments, Console& console) {
  const Job job = value_or_fail(read_job(arguments.file), console);
  if (arguments.out.empty()) arguments.out = rates_path(job.path);
  if (const std::string why = why_not_writable(arguments.out); !why.empty()) {
    throw Failure(Exit::kFailed,
                  "cannot write " + in_quotes(arguments.out) + ": " + why + "\nNothing was started.");
  }
  refuse_without_inputs(job);
  console.note(
      "the tasks will run many times, at least " +
      whole(static_cast<Count>(least_executions(job, arguments.options))) +
      " times in all, with randomly chosen inputs; side effects other than writing to {out} happen each "
      "time. Ctrl-C stops and keeps the results");
  adopt_orphans();
  arguments.options.stop = &catch_interrupts();
  catch_terminations();
  LiveBlock block(console);
  Keeper keeper(job, arguments.out);
  Clock::time_point shown_at{};
  arguments.options.progress = [&](const Profile& so_far, const std::string& doing) {
    keeper.look(so_far);
    if (Clock::now() - shown_at < std::chrono::milliseconds(200)) return;
    shown_at = Clock::now();
    block.show("measuring " + shown(doing) + "\n" +
               profile_table(job, so_far, console, LiveBlock::columns()));
  };
  const Profile profile = measure_profile(job, arguments.options);
  kill_descendants();
  block.clear();
  if (!has_rates(profile)) {
    if (!arguments.json) console.complain(profile_table(job, profile, console, console.width()));
    if (!profile.interrupted)
      throw Failure(Exit::kFailed, "no task type ran on any resource: there is nothing to write");
    console.note("interrupted before anything was measured");
    return Exit::kInterrupted;
  }
  const bool is_kept = keep_rates(arguments, job, profile, console);
  if (!is_kept) return profile.interrupted ? Exit::kInterrupted : Exit::kFailed;
  if (arguments.json) {
    print_json(console, job, profile, arguments.out);
  } else {
    print_text(console, job, profile, arguments.out);
  }
  if (profile.interrupted) {
    console.note("interrupted: the results so far were written");
    return Exit::kInterrupted;
  }
  const bool all_run =
      std::all_of(profile.pairs.values().begin(), profile.pairs.values().end(),
                  [](const PairProfile& pair) { return !pair.possible || pair.problem.empty(); });
  return all_run ? Exit::kOk : Exit::kFailed;
}

std::vector<Option> options_of(Arguments& arguments) {
  return {
      input_option("FILE", arguments.file, "the job file (TOML or JSON)").positional().required(),
      output_option("out", arguments.out, "file to write the rates to")
          .with_letter("o")
          .unless_said("the job file's name with .rates.toml"),
      part_option("precision", arguments.options.precision,
                  "measure a rate until its 95% interval is within this fraction"),
      whole_option("min_runs", arguments.options.least_runs, 2, 1'000'000,
                   "minimum runs of each pair of task type and resource"),
      seconds_option("min_time", arguments.options.least_s, "minimum measuring time of a pair", true),
      seconds_option("max_time", arguments.options.most_s,
                     "maximum measuring time of a pair; after that it counts as not converged", true),
      seconds_option("mixed_time", arguments.options.mixed_s,
                     "duration of the pass that runs a mix on all resources; 0 skips it", true),
      flag_option("sharing", arguments.options.sharing,
                  "also run many mixes to find out what tasks share: needs and shared capacities"),
      seconds_option("mix_time", arguments.options.mix_s,
                     "minimum duration of each of these mixes, which also run at least two tasks per slot",
                     true),
      seed_option(arguments.options.seed),
      json_option(arguments.json),
  };
}

}  // namespace

extern const Command command;
const Command command = {"profile", "Measure how fast each task type of a job file runs on each resource.",
                         "allot profile jobs.toml              # writes jobs.rates.toml\n"
                         "allot solve jobs.rates.toml          # where should the work go?\n"
                         "allot profile jobs.toml --max-time 5 # quick and less certain\n"
                         "allot profile jobs.toml --sharing    # also: how tasks slow each other down",
                         declared_by(options_of, profile)};

}  // namespace allot::app::profile_command
