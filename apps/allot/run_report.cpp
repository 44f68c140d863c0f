#include "apps/allot/run_report.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "allot/jobs/journal_reader.hpp"
#include "allot/jobs/tokens.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/request.hpp"
#include "apps/allot/grid.hpp"
#include "apps/allot/live_view.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

using Json = nlohmann::ordered_json;

bool has_powers(const Job& job) {
  return std::any_of(job.resources.begin(), job.resources.end(), [](const JobResource& resource) {
    return resource.power != 1.0 || resource.idle_power != 0.0;
  });
}

double energy(const RunView& view) {
  double joules = 0;
  for (const ResourceView& resource : view.resources) joules += resource.energy_j;
  return joules;
}

std::string_view outcome_name(RunSummary::Outcome outcome) {
  switch (outcome) {
    case RunSummary::Outcome::kFinished:
      return "finished";
    case RunSummary::Outcome::kInterrupted:
      return "interrupted";
    case RunSummary::Outcome::kHalted:
      return "halted";
    case RunSummary::Outcome::kIo:
      return "io-error";
  }
  return "";
}

}  // namespace

Exit dry_run(const RunArguments& arguments, const Job& job, const RunOptions& options, Console& console) {
  const std::vector<JobItem> items = list_items(job);
  std::vector<Count> left(job.tasks.size());
  for (const JobItem& item : items) ++left[index(item.type)];
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::error_code error;
  if (std::filesystem::exists(arguments.journal, error)) {
    for (const TaskTotals& total : JournalReader(arguments.journal).totals()) {
      for (std::size_t i = 0; i < job.tasks.size(); ++i) {
        if (job.tasks[i].name != total.type) continue;
        left[i] = std::max<Count>(0, left[i] - total.done - (arguments.retry_failed ? 0 : total.failed));
        done += static_cast<std::uint64_t>(total.done);
        failed += static_cast<std::uint64_t>(total.failed);
      }
    }
  }
  Placer placer(job, {options.objective, options.policy, options.shares, options.priors, options.seed},
                Clock::now());
  const std::shared_ptr<const Plan> plan = placer.dispatcher().plan();
  bool known = true;
  std::string unknown;  // pairs
  std::vector<double> rates(job.tasks.size() * job.resources.size(), 0.0);
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    bool any = false;
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      const RatePrior& prior = options.priors[i * job.resources.size() + j];
      if (!prior.can_run) continue;
      any |= prior.rate.has_value();
      if (!prior.rate) {
        unknown +=
            (unknown.empty() ? "" : ", ") + shown(job.tasks[i].name) + " on " + shown(job.resources[j].name);
      }
      rates[i * job.resources.size() + j] = prior.rate.value_or(0);
    }
    known &= any;
  }
  std::optional<double> bound;
  if (known) bound = batch_bound(job_system(job, rates, std::vector<Count>(left)), left);
  // At the pace of the plan, which for the objective `finish` is that of the bound.
  std::optional<double> finish = bound;
  if (finish && plan->predicted && !placer.finishes()) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double pace = plan->predicted->throughput_by_task[i];
      if (left[i] > 0 && pace > 0) finish = std::max(*finish, static_cast<double>(left[i]) / pace);
    }
  }
  if (arguments.json) {
    Json json = {{"dry_run", true},
                 {"tasks", items.size()},
                 {"done", done},
                 {"failed", failed},
                 {"rates_known", known}};
    json["assignment"] = nullptr;
    if (known && plan->target) {
      Json rows = Json::array();
      for (std::size_t i = 0; i < job.tasks.size(); ++i) {
        Json row = Json::array();
        for (std::size_t j = 0; j < job.resources.size(); ++j)
          row.push_back((*plan->target)(task_type(i), resource_id(j)));
        rows.push_back(std::move(row));
      }
      json["assignment"] = std::move(rows);
    }
    json["predicted_throughput"] =
        known && plan->predicted ? Json(plan->predicted->throughput) : Json(nullptr);
    json["predicted_finish_s"] = finish ? Json(*finish) : Json(nullptr);
    json["finish_bound_s"] = bound ? Json(*bound) : Json(nullptr);
    Json commands = Json::array();
    for (std::size_t at = 0; at < items.size(); ++at) {
      for (std::size_t j = 0; j < job.resources.size(); ++j) {
        if (!job.tasks[index(items[at].type)].commands[j]) continue;
        const TaskRequest request =
            make_request(job, {&items[at], at + 1, resource_id(j), 0, 1}, options.run_id);
        commands.push_back(
            {{"task", items[at].identity}, {"resource", job.resources[j].name}, {"argv", request.argv}});
      }
    }
    json["commands"] = std::move(commands);
    console.document(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
    return Exit::kOk;
  }
  console.print("{}: {}, {} done already", shown(job.path), counted(static_cast<Count>(items.size()), "task"),
                done);
  if (failed > 0)
    console.print(", {} failed{}", failed, arguments.retry_failed ? " and to be tried again" : "");
  console.print("\n");
  console.gap();
  constexpr std::size_t kMostShown = 3;
  std::vector<std::size_t> shown_of(job.tasks.size());
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (shown_of[index(items[at].type)]++ >= kMostShown) continue;
    console.print("{}\n", console.styled(Style::kBold, shown(items[at].identity)));
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (!job.tasks[index(items[at].type)].commands[j]) continue;
      const TaskRequest request =
          make_request(job, {&items[at], at + 1, resource_id(j), 0, 1}, options.run_id);
      console.print("  on {}: {}\n", shown(job.resources[j].name), shown(join_command(request.argv)));
    }
  }
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (shown_of[i] > kMostShown) {
      console.print("and {} more of {}\n", whole(static_cast<Count>(shown_of[i] - kMostShown)),
                    in_quotes(job.tasks[i].name));
    }
  }
  console.gap();
  if (!known) {
    console.print(
        "The rates are not known yet: the plan is made while they are learnt. 'allot profile {}' measures "
        "them.\n",
        shown(job.path));
    return Exit::kOk;
  }
  if (plan->target) {
    Grid grid;
    for (const JobTask& task : job.tasks) grid.rows.push_back(shown(task.name));
    for (const JobResource& resource : job.resources) grid.columns.push_back(shown(resource.name));
    for (std::size_t i = 0; i < job.tasks.size(); ++i) {
      std::vector<GridCell>& row = grid.cells.emplace_back();
      for (std::size_t j = 0; j < job.resources.size(); ++j) {
        const Count n = (*plan->target)(task_type(i), resource_id(j));
        row.push_back({job.tasks[i].commands[j] ? std::to_string(n) : "-", n > 0});
      }
    }
    console.print("Tasks in flight, as planned:\n" + grid_text(grid, console));
  }
  if (plan->predicted) console.print("Predicted: {} tasks/s.\n", number(plan->predicted->throughput));
  if (finish) {
    console.print("Finished after about {}{}; no schedule finishes sooner than {}, by the rates as known.\n",
                  duration(*finish), unknown.empty() ? "" : ", or sooner where a rate is not known",
                  duration(*bound));
  }
  if (!unknown.empty()) console.print("Not known yet, and tried first: {}.\n", unknown);
  return Exit::kOk;
}

void print_json(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                const std::string& run_id) {
  Json json = Json::parse(view_json(summary.view));
  json["run"] = run_id;
  json["journal"] = arguments.journal;
  json["objective"] = to_string(arguments.objective);
  json["policy"] = arguments.policy.empty() ? std::string(policy_for(arguments.objective)) : arguments.policy;
  json["outcome"] = outcome_name(summary.outcome);
  json["done_now"] = summary.done_now;
  json["failed_now"] = summary.failed_now;
  json["bound_s"] = summary.bound_s ? Json(*summary.bound_s) : Json(nullptr);
  json["little"] = summary.little ? Json(*summary.little) : Json(nullptr);
  json["mean_in_flight"] = summary.in_flight ? Json(*summary.in_flight) : Json(nullptr);
  json["energy_j"] = has_powers(job) ? Json(energy(summary.view)) : Json(nullptr);
  json["overhead_s"] = summary.overhead_s;
  json["throughput"] =
      summary.view.elapsed_s > 0 ? static_cast<double>(summary.done_now) / summary.view.elapsed_s : 0;
  console.document(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

void print_summary(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                   const std::vector<std::string>& failures) {
  const RunView& view = summary.view;
  std::string headline = fmt::format("{} of {} tasks done", whole(static_cast<Count>(view.done)),
                                     whole(static_cast<Count>(view.total)));
  if (view.failed > 0) headline += fmt::format(", {} failed", whole(static_cast<Count>(view.failed)));
  const bool well = summary.outcome == RunSummary::Outcome::kFinished && view.failed == 0;
  console.print("{}", console.styled(well ? Style::kGood : Style::kBad, headline));
  console.print("; this run: {} in {}", whole(static_cast<Count>(summary.done_now)),
                duration(view.elapsed_s));
  if (summary.done_now > 0 && view.elapsed_s > 0) {
    console.print(", {}/s", number(static_cast<double>(summary.done_now) / view.elapsed_s));
  }
  console.print(".\n");
  if (summary.bound_s && *summary.bound_s > 0 && summary.done_now > 0 && *summary.bound_s <= view.elapsed_s) {
    console.print(
        "By the rates as learnt, no schedule could have done this in less than {}: {} of the time was "
        "needed.\n",
        duration(*summary.bound_s), percent(std::min(1.0, *summary.bound_s / view.elapsed_s)));
  }
  console.gap();
  Grid grid;
  for (const TypeView& type : view.types) grid.rows.push_back(shown(type.name));
  for (const ResourceView& resource : view.resources) grid.columns.push_back(shown(resource.name));
  Margin total{"done", {}};
  Margin failed{"failed", {}};
  for (std::size_t i = 0; i < view.types.size(); ++i) {
    std::vector<GridCell>& row = grid.cells.emplace_back();
    for (std::size_t j = 0; j < view.resources.size(); ++j) {
      const PairView& pair = view.pairs[i * view.resources.size() + j];
      std::string text = !pair.possible ? "-" : std::to_string(pair.done);
      if (pair.possible && pair.rate) text += fmt::format(" at {}/s", number(*pair.rate, 3));
      row.push_back({std::move(text), pair.done > 0});
    }
    total.cells.push_back({fmt::format("{}/{}", view.types[i].done, view.types[i].total), Style::kPlain});
    failed.cells.push_back(
        {std::to_string(view.types[i].failed), view.types[i].failed > 0 ? Style::kBad : Style::kDim});
  }
  grid.right = {total, failed};
  Margin busy{"busy", {}};
  for (std::size_t j = 0; j < view.resources.size(); ++j) {
    const double slot_s = static_cast<double>(view.resources[j].slots) * view.elapsed_s;
    busy.cells.push_back(
        {slot_s > 0 ? percent(std::min(1.0, view.resources[j].busy_s / slot_s)) : "", Style::kPlain});
  }
  grid.bottom = {busy};
  console.print(grid_text(grid, console));
  if (has_powers(job) && summary.done_now > 0) {
    console.print("Energy: {} J, {} J per task.\n", number(energy(view)),
                  number(energy(view) / static_cast<double>(summary.done_now)));
  }
  if (!failures.empty()) {
    console.gap();
    console.print("Failed:\n");
    for (const std::string& task : failures) console.print("  {}\n", task);
    if (view.failed > failures.size()) {
      console.print("  'allot log {} --status failed' lists all.\n", shown(arguments.journal));
    }
  }
  if (view.failed > summary.failed_now) {
    console.gap();
    console.print(
        "{} failed or were lost for good in earlier runs: '--retry-failed' tries them again, 'allot log {}' "
        "says what happened.\n",
        whole(static_cast<Count>(view.failed - summary.failed_now)), shown(arguments.journal));
  }
}

}  // namespace allot::app
