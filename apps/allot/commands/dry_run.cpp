#include "apps/allot/commands/dry_run.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allot/format/json.hpp"
#include "allot/jobs/stages.hpp"
#include "allot/jobs/tokens.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/pipeline_bound.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/request.hpp"
#include "apps/allot/terminal/grid.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kMostShown = 3;  // tasks of a type

/// The tasks left, and the predictions from the known rates.
struct Outlook {
  Count done = 0;
  Count failed = 0;
  Count left = 0;
  std::vector<Count> left_by_type;
  bool known = true;    ///< every type with tasks left has a rate somewhere
  std::string unknown;  ///< pairs without a rate
  std::optional<double> bound_s;
  std::optional<double> finish_s;
  std::shared_ptr<const Plan> plan;  ///< null when nothing is left
};

void look_at_rates(const Job& job, const RunOptions& options, Outlook& outlook) {
  PerPair<double> rates(job.tasks.size(), job.resources.size());
  const PairSpan priors(options.priors, job.resources.size());
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    bool any = false;
    std::size_t possible = 0;
    for (std::size_t j = job.resources.size(); j-- > 0;) {
      const RatePrior& prior = priors(task_type(i), resource_id(j));
      if (!prior.can_run) continue;
      possible = j;
      any |= prior.rate.has_value();
      if (!prior.rate && outlook.left_by_type[i] > 0) {
        outlook.unknown += (outlook.unknown.empty() ? "" : ", ") + shown(job.tasks[i].name) + " on " +
                           shown(job.resources[j].name);
      }
      rates(task_type(i), resource_id(j)) = prior.rate.value_or(0);
    }
    outlook.known &= any || outlook.left_by_type[i] == 0;
    if (!any) rates(task_type(i), resource_id(possible)) = 1;  // a finished type still needs some rate
  }
  const Clock::time_point now = Clock::now();
  Placer placer(job, options, now);
  const std::vector<Count> none(job.tasks.size(), 0);
  placer.update({none, outlook.left_by_type, none}, now);  // a plan for what is left
  placer.dispatcher().solve(now);
  outlook.plan = placer.dispatcher().plan();
  if (!outlook.known) return;
  const std::vector<Count>& left = outlook.left_by_type;
  outlook.bound_s = pipeline_bound(job, job_system(job, rates.values(), std::vector<Count>(left)), left);
  // At the pace of the plan, which for the objective `finish` is the pace of the bound.
  outlook.finish_s = outlook.bound_s;
  if (!outlook.finish_s || !outlook.plan->predicted || placer.finishes()) return;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double pace = outlook.plan->predicted->throughput_by_task[i];
    if (left[i] > 0 && pace > 0)
      outlook.finish_s = std::max(*outlook.finish_s, static_cast<double>(left[i]) / pace);
  }
}

Outlook look_ahead(const Job& job, std::span<const JobItem> items, const Survey& survey,
                   const RunOptions& options) {
  Outlook outlook;
  outlook.left_by_type.resize(job.tasks.size());
  for (std::size_t at = 0; at < items.size(); ++at) {
    switch (survey.states[at].kind) {
      case TaskState::Kind::kDone:
        ++outlook.done;
        break;
      case TaskState::Kind::kFailed:
        ++outlook.failed;
        break;
      case TaskState::Kind::kPending:
        ++outlook.left;
        ++outlook.left_by_type[index(items[at].type)];
    }
  }
  if (outlook.left > 0) look_at_rates(job, options, outlook);
  return outlook;
}

/// What a task of each pair would hold if it were the first to start.
PerPair<Holding> first_holdings(const Job& job) {
  PerPair<Holding> first(job.tasks.size(), job.resources.size());
  Holdings holdings(job);
  for (const TaskType i : first.type_ids()) {
    for (const ResourceId j : first.resource_ids()) {
      if (!job.tasks[index(i)].commands[index(j)]) continue;
      first(i, j) = holdings.take(i, j, 0);
      holdings.give_back(first(i, j));
    }
  }
  return first;
}

std::vector<std::string> words_of(const Job& job, std::span<const JobItem> items, const Survey& survey,
                                  std::size_t at, std::size_t j, const RunOptions& options,
                                  const PerPair<Holding>& first) {
  const Holding& holding = first(items[at].type, resource_id(j));
  return make_request(job,
                      {&items[at], at + 1, resource_id(j), holding.servers.front().number,
                       survey.states[at].attempts + 1, &holding},
                      options.run_id)
      .argv;
}

/// A capacity, and the mean amount that the plan uses.
struct Held {
  std::string name;
  double amount = 0;
  bool shared = false;
  std::optional<double> planned;
};

/// Slots of resources first; empty if no task needs more than its own slot.
std::vector<Held> held_by(const Job& job, const Outlook& outlook) {
  const Holdings holdings(job);
  std::vector<Held> all;
  if (!holdings.any()) return all;
  const System& shape = *holdings.shape();
  for (const CapacityId r : shape.capacity_ids())
    all.push_back({shape.capacity_name(r), shape.amount(r), shape.is_shared(r), std::nullopt});
  if (!outlook.plan || !outlook.known || outlook.plan->service.empty()) return all;
  for (Held& held : all) held.planned = 0;
  for (const TaskType i : shape.types()) {
    for (const ResourceId j : shape.resource_ids()) {
      for (const Draw& draw : shape.needs(i, j))
        *all[index(draw.capacity)].planned += draw.amount * outlook.plan->part(i, j).value_or(0);
    }
  }
  return all;
}

void print_json(Console& console, const RunArguments& arguments, const Job& job,
                std::span<const JobItem> items, const Survey& survey, const RunOptions& options,
                const Outlook& outlook) {
  const bool is_planned = outlook.plan && outlook.known;
  Json json;
  json.add("dry_run", true);
  json.add("tasks", items.size());
  json.add("done", outlook.done);
  json.add("failed", outlook.failed);
  json.add("left", outlook.left);
  json.add("rates_known", outlook.known);
  json.add("journal", arguments.journal);
  json.add("fresh", arguments.survey.fresh);
  json.add("assignment", is_planned ? Json(outlook.plan->target) : Json());
  json.add("service", is_planned && !outlook.plan->service.empty()
                          ? Json::matrix(outlook.plan->service, job.resources.size())
                          : Json());
  Json::Array capacities;
  for (const Held& held : held_by(job, outlook))
    capacities.push_back(Json::object(
        {{"name", held.name}, {"amount", held.amount}, {"shared", held.shared}, {"planned", held.planned}}));
  json.add("capacities", std::move(capacities));
  json.add("predicted_throughput",
           is_planned && outlook.plan->predicted ? Json(outlook.plan->predicted->throughput) : Json());
  json.add("predicted_finish_s", outlook.finish_s);
  json.add("finish_bound_s", outlook.bound_s);
  if (has_stages(job)) {
    Json::Array stages;
    for (const JobTask& task : job.tasks) {
      Json::Array after;
      for (const TaskType before : task.after) after.emplace_back(job.tasks[index(before)].name);
      stages.push_back(Json::object({{"type", task.name},
                                     {"from", task.from ? Json(job.tasks[index(*task.from)].name) : Json()},
                                     {"after", std::move(after)}}));
    }
    json.add("stages", std::move(stages));
  }
  Json::Array redone;
  for (const std::size_t at : survey.redone) redone.emplace_back(items[at].identity);
  json.add("redo", std::move(redone));
  Json::Array commands;
  const PerPair<Holding> first = first_holdings(job);
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (survey.states[at].kind != TaskState::Kind::kPending) continue;
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (!job.tasks[index(items[at].type)].commands[j]) continue;
      commands.push_back(Json::object({{"task", items[at].identity},
                                       {"resource", job.resources[j].name},
                                       {"argv", words_of(job, items, survey, at, j, options, first)}}));
    }
  }
  json.add("commands", std::move(commands));
  console.document(json.text());
}

/// "decode -> detect -> encode", one line per path through the stages, and which types come after which.
void print_stages(Console& console, const Job& job) {
  const std::vector<std::vector<TaskType>> all_takers = takers(job);
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const JobTask& task = job.tasks[i];
    if (task.from && all_takers[i].empty()) {
      std::string way = shown(task.name);
      for (auto before = task.from; before; before = job.tasks[index(*before)].from)
        way.insert(0, shown(job.tasks[index(*before)].name) + " -> ");
      console.print("{}\n", way);
    }
    if (task.after.empty()) continue;
    std::string names;
    for (const TaskType before : task.after)
      names += (names.empty() ? "" : ", ") + shown(job.tasks[index(before)].name);
    console.print("{} after all of {}\n", shown(task.name), names);
  }
  if (has_stages(job)) console.gap();
}

void print_commands(Console& console, const Job& job, std::span<const JobItem> items, const Survey& survey,
                    const RunOptions& options) {
  const PerPair<Holding> first = first_holdings(job);
  std::vector<bool> is_redone(items.size(), false);
  for (const std::size_t at : survey.redone) is_redone[at] = true;
  std::vector<std::size_t> shown_of(job.tasks.size());
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (survey.states[at].kind != TaskState::Kind::kPending) continue;
    if (shown_of[index(items[at].type)]++ >= kMostShown) continue;
    console.print("{}{}\n", console.styled(Style::kBold, shown(items[at].identity)),
                  is_redone[at] ? ", again" : "");
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      if (!job.tasks[index(items[at].type)].commands[j]) continue;
      console.print("  on {}: {}\n", shown(job.resources[j].name),
                    shown(join_command(words_of(job, items, survey, at, j, options, first))));
    }
  }
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (shown_of[i] > kMostShown) {
      console.print("and {} more of {}\n", whole(static_cast<Count>(shown_of[i] - kMostShown)),
                    in_quotes(job.tasks[i].name));
    }
  }
}

/// A row for each task type, a column for each resource; "-" where the type cannot run. `cell` gives text and
/// emphasis.
template <typename Cell>
std::string pairs_text(const Console& console, const Job& job, const Cell& cell) {
  Grid grid;
  for (const JobTask& task : job.tasks) grid.rows.push_back(shown(task.name));
  for (const JobResource& resource : job.resources) grid.columns.push_back(shown(resource.name));
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    std::vector<GridCell>& row = grid.cells.emplace_back();
    for (std::size_t j = 0; j < job.resources.size(); ++j) {
      row.push_back(cell(task_type(i), resource_id(j)));
      if (!job.tasks[i].commands[j]) row.back().text = "-";
    }
  }
  return grid_text(grid, console);
}

void print_plan(Console& console, const Job& job, const Outlook& outlook) {
  if (!outlook.known) {
    console.paragraph("Not all rates are known yet: the plan is made while they are learned." +
                      (job.path.empty() ? "" : " 'allot profile " + shown(job.path) + "' measures them."));
    return;
  }
  const Plan& plan = *outlook.plan;
  if (plan.target) {
    console.print("Tasks in flight, as planned:\n" + pairs_text(console, job, [&](TaskType i, ResourceId j) {
                    const Count n = (*plan.target)(i, j);
                    return GridCell{std::to_string(n), n > 0};
                  }));
  }
  if (!plan.service.empty()) {
    console.print("Tasks in service on average, as planned:\n" +
                  pairs_text(console, job, [&](TaskType i, ResourceId j) {
                    const double part = plan.part(i, j).value_or(0);
                    return GridCell{number(part), part > 0};
                  }));
  }
  if (plan.predicted) console.paragraph("Predicted: " + number(plan.predicted->throughput) + " tasks/s.");
  if (outlook.finish_s) {
    console.paragraph("Expected to finish after about " + duration(*outlook.finish_s) +
                      (outlook.unknown.empty() ? "" : ", or sooner if a rate is not known") +
                      "; no schedule finishes sooner than " + duration(*outlook.bound_s) +
                      ", by the known rates.");
  }
  if (!outlook.unknown.empty()) console.paragraph("Unknown rates, tried first: " + outlook.unknown + ".");
}

}  // namespace

void dry_run(const RunArguments& arguments, const Job& job, std::span<const JobItem> items,
             const Survey& survey, const RunOptions& options, Console& console) {
  const Outlook outlook = look_ahead(job, items, survey, options);
  if (arguments.json) {
    print_json(console, arguments, job, items, survey, options, outlook);
    return;
  }
  std::string headline = shown(job.path.empty() ? job.name : job.path) + ": " +
                         counted(static_cast<Count>(items.size()), "task") + ", " + whole(outlook.done) +
                         " already done";
  if (outlook.failed > 0) headline += ", " + whole(outlook.failed) + " failed";
  headline += ", " + whole(outlook.left) + " to do";
  const auto again = static_cast<Count>(survey.redone.size());
  if (again > 0) headline += ", " + whole(again) + " of them again";
  console.paragraph(headline);
  std::error_code error;
  const bool has_journal = std::filesystem::exists(arguments.journal, error);
  if (arguments.survey.fresh && has_journal) {
    console.print("The journal {} would be moved aside.\n", shown(arguments.journal));
  } else {
    console.print("The journal is {}{}.\n", shown(arguments.journal), has_journal ? "" : ", a new one");
  }
  console.gap();
  if (outlook.left == 0) {
    console.print("Nothing is left to do.{}\n",
                  outlook.failed > 0 ? " '--retry-failed' tries again what failed." : "");
    return;
  }
  print_stages(console, job);
  print_commands(console, job, items, survey, options);
  console.gap();
  for (const Held& held : held_by(job, outlook)) {
    console.print("{}: {} {}{}\n", shown(held.name), number(held.amount), held.shared ? "shared" : "held",
                  held.planned ? ", " + number(*held.planned) + " in use as planned" : "");
  }
  print_plan(console, job, outlook);
}

}  // namespace allot::app
