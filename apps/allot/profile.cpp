// allot profile: how fast each type of a job runs on each resource, for `solve` and `run`.
#include "allot/run/profile.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>

#include "allot/base/own_file.hpp"
#include "allot/io/job_reader.hpp"
#include "allot/io/scenario_writer.hpp"
#include "allot/run/placer.hpp"
#include "allot/worker/process.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/job_rates.hpp"
#include "apps/allot/live_block.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

using Json = nlohmann::ordered_json;

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
  return number(timing.rate(), 4) + " ±" + number(half, 2);
}

std::string state_text(const PairProfile& pair) {
  if (!pair.problem.empty()) return "fails: " + shown(pair.problem);
  if (pair.alone.runs == 0) return "";
  std::string text = pair.alone.converged && pair.full.converged ? "" : "not converged";
  if (pair.failures > 0) {
    text +=
        (text.empty() ? "" : ", ") + counted(static_cast<Count>(pair.failures), "failed run") + " left out";
  }
  return text;
}

std::string profile_table(const Job& job, const Profile& profile, const Console& console) {
  const bool wide = std::any_of(job.resources.begin(), job.resources.end(),
                                [](const JobResource& resource) { return resource.servers > 1; });
  Table table(
      {Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.title({"", "", "alone/s", wide ? "slots full/s" : "", "runs", "mixed/s", ""});
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      const PairProfile& pair = profile.pairs[i * job.resources.size() + j];
      if (!pair.possible) continue;
      const bool bad = !pair.problem.empty();
      table.row({{shown(job.tasks[i].name), Style::kPlain},
                 {shown(job.resources[j].name), Style::kPlain},
                 {rate_text(pair.alone), Style::kPlain},
                 {job.resources[j].servers > 1 ? rate_text(pair.full) : "", Style::kPlain},
                 {std::to_string(pair.alone.runs + (job.resources[j].servers > 1 ? pair.full.runs : 0)),
                  Style::kDim},
                 {pair.mixed_s ? number(1 / *pair.mixed_s, 3) : "", Style::kPlain},
                 {state_text(pair), bad ? Style::kBad : Style::kDim}});
    }
  }
  return table.text(console);
}

/// The scenario that the measurements make; types that nothing could run are left out.
Scenario scenario_of(const Job& job, const Profile& profile) {
  const std::vector<Count> limits = in_flight_limits(job);
  std::vector<TaskClass> tasks;
  std::vector<double> rates;
  std::vector<MeasuredRate> measured;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    std::vector<double> row(job.resources.size(), 0.0);
    bool runs = false;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const PairProfile& pair = profile.pairs[i * row.size() + j];
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
    TaskClass& task = tasks.emplace_back();
    task.name = job.tasks[i].name;
    task.count = limits[i];
    task.priority = job.tasks[i].priority;
    task.floor = job.tasks[i].floor;
    if (const auto home = job.tasks[i].home; home && row[index(*home)] > 0) task.home = home;
    rates.insert(rates.end(), row.begin(), row.end());
  }
  if (tasks.empty())
    throw Failure(Exit::kFailed, "no task type ran on any resource: there is nothing to write");
  const std::size_t types = tasks.size();
  return {job.name.empty() ? "profile of " + std::filesystem::path(job.path).filename().string() : job.name,
          System(std::vector<Resource>(job.resources.begin(), job.resources.end()), std::move(tasks),
                 Rates(types, job.resources.size(), std::move(rates))),
          {},
          {},
          {},
          std::move(measured)};
}

/// Whole or not at all, and through no link.
void write_file(const std::string& path, const std::string& text) {
  if (const std::error_code error = replace_file(path, text, Readers::kEveryone))
    throw Failure(Exit::kFailed, "cannot write " + in_quotes(path) + ": " + error.message());
}

Json timing_json(const Timing& timing) {
  if (timing.runs == 0) return nullptr;
  return {{"rate", timing.rate()},
          {"low", 1 / (timing.mean_s + timing.half_s)},
          {"high", timing.mean_s > timing.half_s ? Json(1 / (timing.mean_s - timing.half_s)) : Json(nullptr)},
          {"runs", timing.runs},
          {"converged", timing.converged}};
}

void print_json(Console& console, const Job& job, const Profile& profile, const std::string& out) {
  Json pairs = Json::array();
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      const PairProfile& pair = profile.pairs[i * job.resources.size() + j];
      if (!pair.possible) continue;
      pairs.push_back({{"task", job.tasks[i].name},
                       {"resource", job.resources[j].name},
                       {"alone", timing_json(pair.alone)},
                       {"full", timing_json(pair.full)},
                       {"mixed", pair.mixed_s ? Json(1 / *pair.mixed_s) : Json(nullptr)},
                       {"failures", pair.failures},
                       {"problem", pair.problem.empty() ? Json(nullptr) : Json(pair.problem)}});
    }
  }
  Json json = {{"file", out}, {"interrupted", profile.interrupted}, {"pairs", std::move(pairs)}};
  Json resources = Json::array();
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    resources.push_back(
        {{"name", job.resources[j].name},
         {"launch_s", profile.launch_s[j]},
         {"interference", profile.interference[j] ? Json(*profile.interference[j]) : Json(nullptr)}});
  }
  json["resources"] = std::move(resources);
  console.document(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print_text(Console& console, const Job& job, const Profile& profile, const std::string& out) {
  console.print("{}: completions per second of one slot, with 95% intervals\n\n", shown(job.path));
  console.print(profile_table(job, profile, console));
  console.gap();
  for (std::size_t j = 0; j < job.resources.size(); ++j) {
    if (const auto& factor = profile.interference[j]; factor && std::abs(*factor - 1) > 0.1) {
      console.print("In the mix, tasks on {} take {} {} than with its own slots full{}.\n",
                    in_quotes(job.resources[j].name), percent(std::abs(*factor - 1)),
                    *factor > 1 ? "longer" : "less", *factor > 1 ? ": the resources disturb each other" : "");
    }
  }
  const double launch = *std::max_element(profile.launch_s.begin(), profile.launch_s.end());
  console.print("Launching takes up to {} a task, and is not part of the rates.\n", duration(launch));
  console.print("Written to {}: 'allot solve' and 'allot run' read it.\n", shown(out));
}

Exit profile(Arguments& arguments, Console& console) {
  const Job job = value_or_fail(read_job(arguments.file), console);
  if (arguments.out.empty()) arguments.out = rates_path(job.path);
  adopt_orphans();
  arguments.options.stop = &catch_interrupts();
  LiveBlock block(console);
  Clock::time_point shown_at{};
  arguments.options.progress = [&](const Profile& so_far, const std::string& doing) {
    if (Clock::now() - shown_at < std::chrono::milliseconds(200)) return;
    shown_at = Clock::now();
    block.show("measuring " + shown(doing) + "\n" + profile_table(job, so_far, console));
  };
  const Profile profile = measure_profile(job, arguments.options);
  kill_descendants();
  block.clear();
  const bool any = std::any_of(profile.pairs.begin(), profile.pairs.end(), [](const PairProfile& pair) {
    return pair.problem.empty() && pair.alone.runs > 0;
  });
  if (!any && !arguments.json) console.complain(profile_table(job, profile, console));
  const Scenario scenario = scenario_of(job, profile);
  write_file(arguments.out, write_scenario(scenario, FileFormat::kToml));
  if (arguments.json) {
    print_json(console, job, profile, arguments.out);
  } else {
    print_text(console, job, profile, arguments.out);
  }
  if (profile.interrupted) {
    console.note("interrupted: what was measured so far is written");
    return Exit::kInterrupted;
  }
  const bool all_run = std::all_of(profile.pairs.begin(), profile.pairs.end(), [](const PairProfile& pair) {
    return !pair.possible || pair.problem.empty();
  });
  return all_run ? Exit::kOk : Exit::kFailed;
}

Action declare(CLI::App& command) {
  const auto a = std::make_shared<Arguments>();
  command.add_option("FILE", a->file, "the job file (TOML or JSON)")->required()->type_name("");
  command.add_option("--out", a->out, "where the rates go (default: the job file's name with .rates.toml)")
      ->type_name("PATH");
  command
      .add_option_function<std::string>(
          "--precision",
          [a](const std::string& text) {
            const bool per_cent = text.ends_with('%');
            const double value =
                parse_number("--precision", per_cent ? text.substr(0, text.size() - 1) : text) /
                (per_cent ? 100 : 1);
            if (!(value > 0 && value < 1)) {
              throw CLI::ValidationError("--precision",
                                         "must be between 0 and 1, or 0% and 100%, is " + in_quotes(text));
            }
            a->options.precision = value;
          },
          "half width of a rate's 95% interval at which it is good enough (default 5%)")
      ->type_name("P");
  const auto add_seconds = [&](const std::string& name, double& target, const std::string& text) {
    command
        .add_option_function<std::string>(
            name,
            [name, &target, a](const std::string& value) {
              target = parse_number(name, value);
              if (target < 0)
                throw CLI::ValidationError(name, "must not be negative, is " + in_quotes(value));
            },
            text)
        ->type_name("S");
  };
  add_whole(command, "--min-runs", a->options.least_runs, 2, 1'000'000, "of each pair (default 10)");
  add_seconds("--min-time", a->options.least_s, "seconds of running for each pair at least (default 3)");
  add_seconds("--max-time", a->options.most_s,
              "seconds of running after which a pair is called not converged (default 60)");
  add_seconds("--mixed-time", a->options.mixed_s, "seconds of the mixed pass (default 5; 0: none)");
  add_seed(command, a->options.seed);
  add_json(command, a->json);
  return [a](Console& console) { return profile(*a, console); };
}

}  // namespace

extern const Command profile_command;
const Command profile_command = {"profile",
                                 "Measure how fast each task type of a job file runs on each resource",
                                 "allot profile jobs.toml              # writes jobs.rates.toml\n"
                                 "allot solve jobs.rates.toml          # where should the work go?\n"
                                 "allot profile jobs.toml --max-time 5 # quick and less certain",
                                 declare};

}  // namespace allot::app
