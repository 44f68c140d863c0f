#include "allot/sweep/sweep_json.hpp"

#include <utility>

#include "allot/format/json.hpp"

namespace allot {
namespace {

void add_summary(const SweepSummary& summary, Json& object) {
  object.add("out", summary.folder);
  object.add("report", summary.folder + "/index.html");
  object.add("units", summary.units);
  object.add("resumed", summary.found);
  object.add("failed", summary.failed);
  object.add("seconds", summary.seconds);
}

std::string file_of(const Table& table) {
  return "data/" + table.name + (table.timing ? "-timing.csv" : ".csv");
}

Json cell(const Cell& cell) {
  if (cell.number) return *cell.number;
  return cell.text.empty() ? Json() : Json(cell.text);
}

}  // namespace

std::string reproduce_json(const SweepSummary& summary, std::span<const Reported> experiments) {
  Json object;
  add_summary(summary, object);
  object.add("seed", summary.effort.seed);
  object.add("runs", summary.effort.runs);
  Json::Array entries;
  for (const Reported& reported : experiments) {
    const Findings& findings = reported.findings;
    Json::Array claims;
    for (const Claim& claim : findings.claims) {
      claims.push_back(Json::object({{"where", claim.where},
                                     {"paper", claim.paper},
                                     {"measured", claim.measured},
                                     {"verdict", to_string(claim.verdict)}}));
    }
    Json::Array tables;
    for (const Table& table : findings.tables) tables.emplace_back(file_of(table));
    Json::Array charts;
    for (const Chart& chart : findings.charts) charts.emplace_back("figures/" + chart.name + ".svg");
    Json& entry = entries.emplace_back();
    entry.add("name", reported.experiment->name);
    entry.add("title", reported.experiment->title);
    entry.add("claims", std::move(claims));
    entry.add("tables", std::move(tables));
    entry.add("charts", std::move(charts));
  }
  object.add("experiments", std::move(entries));
  return object.text();
}

std::string sweep_json(const SweepSummary& summary, const std::string& title, const Table& table) {
  Json object;
  object.add("title", title);
  add_summary(summary, object);
  object.add("table", file_of(table));
  Json::Array rows;
  for (const std::vector<Cell>& row : table.rows) {
    Json::Object entry;
    for (std::size_t at = 0; at < row.size(); ++at) entry.emplace_back(table.columns[at], cell(row[at]));
    rows.push_back(Json::object(std::move(entry)));
  }
  object.add("rows", std::move(rows));
  return object.text();
}

std::string_view to_string(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::kHolds:
      return "holds";
    case Verdict::kPartly:
      return "partly";
    case Verdict::kFails:
      return "fails";
    case Verdict::kNew:
      return "new";
    case Verdict::kUndecided:
      return "undecided";
  }
  return "";
}

}  // namespace allot
