#include "apps/allot/commands/run_report.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "allot/format/json.hpp"
#include "allot/jobs/journal_reader.hpp"
#include "allot/jobs/tokens.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/request.hpp"
#include "apps/allot/terminal/grid.hpp"
#include "apps/allot/terminal/live_view.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

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

}  // namespace

void print_json(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                const std::string& run_id) {
  // These two values are for the whole run.
  RunView view = summary.view;
  view.throughput = view.elapsed_s > 0 ? static_cast<double>(summary.done_now) / view.elapsed_s : 0;
  view.bound_s = summary.bound_s;
  Json json = view_json(view);
  json.add("run", run_id);
  json.add("journal", arguments.journal);
  json.add("objective", to_string(arguments.objective));
  json.add("policy", arguments.policy.empty()
                         ? std::string(policy_for(arguments.objective, needs_of(job).any))
                         : arguments.policy);
  json.add("outcome", to_string(summary.outcome));
  json.add("done_now", summary.done_now);
  json.add("failed_now", summary.failed_now);
  json.add("little", summary.little);
  json.add("mean_in_flight", summary.in_flight);
  json.add("energy_j", has_powers(job) ? Json(energy(view)) : Json());
  json.add("overhead_s", summary.overhead_s);
  console.document(json.line() + "\n");
}

void print_summary(Console& console, const RunArguments& arguments, const Job& job, const RunSummary& summary,
                   const std::vector<std::string>& failures) {
  const RunView& view = summary.view;
  std::string headline = fmt::format("{} of {} tasks done", whole(static_cast<Count>(view.done)),
                                     whole(static_cast<Count>(view.total)));
  if (view.failed > 0) headline += fmt::format(", {} failed", whole(static_cast<Count>(view.failed)));
  const bool well = summary.outcome == RunSummary::Outcome::kFinished && view.failed == 0;
  std::string rest =
      "; this run: " + whole(static_cast<Count>(summary.done_now)) + " in " + duration(view.elapsed_s);
  if (summary.done_now > 0 && view.elapsed_s > 0)
    rest += ", " + number(static_cast<double>(summary.done_now) / view.elapsed_s) + "/s";
  const bool fits = display_width(headline + rest) < console.width();
  console.print("{}{}.\n", console.styled(well ? Style::kGood : Style::kBad, headline),
                fits ? rest : ";\n" + rest.substr(2));
  if (summary.bound_s && *summary.bound_s > 0 && summary.done_now > 0 && *summary.bound_s <= view.elapsed_s) {
    console.paragraph("By the rates learned, no schedule could have finished in less than " +
                      duration(*summary.bound_s) + ": " +
                      percent(std::min(1.0, *summary.bound_s / view.elapsed_s)) +
                      " of the elapsed time was unavoidable.");
  }
  console.gap();
  Grid grid;
  for (const TypeView& type : view.types) grid.rows.push_back(shown(type.name));
  for (const ResourceView& resource : view.resources) grid.columns.push_back(shown(resource.name));
  Margin total{view.done > summary.done_now ? "done (all runs)" : "done", {}};
  Margin failed{"failed", {}};
  for (std::size_t i = 0; i < view.types.size(); ++i) {
    std::vector<GridCell>& row = grid.cells.emplace_back();
    for (std::size_t j = 0; j < view.resources.size(); ++j) {
      const PairView& pair = view.pairs(task_type(i), resource_id(j));
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
    for (const std::string& task : failures) console.print("  {}\n", wrapped(task, console.width(), 4));
    console.print("  {}\n", wrapped("'allot log " + shown(arguments.journal) + " --status failed' " +
                                        (view.failed > failures.size() ? "lists all" : "says more") +
                                        "; '--retry-failed' tries them again.",
                                    console.width(), 4));
  }
  if (job.path.empty()) {
    console.gap();
    console.paragraph("The journal is " + shown(arguments.journal) + "; run the same command to resume.");
  }
  if (view.failed > summary.failed_now) {
    console.gap();
    const auto before = static_cast<Count>(view.failed - summary.failed_now);
    console.paragraph(counted(before, "task") + " failed or " + (before == 1 ? "was" : "were") +
                      " lost for good in earlier runs: '--retry-failed' tries them again, 'allot log " +
                      shown(arguments.journal) + " --status failed' says what happened.");
  }
}

}  // namespace allot::app
