#include "allot/sweep/sweep_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace allot {
namespace {

using Json = nlohmann::ordered_json;  // fields stay in the order in which they are documented

Json summary_object(const SweepSummary& summary) {
  Json object;
  object["out"] = summary.folder;
  object["report"] = summary.folder + "/index.html";
  object["units"] = summary.units;
  object["resumed"] = summary.found;
  object["failed"] = summary.failed;
  object["seconds"] = summary.seconds;
  return object;
}

std::string file_of(const Table& table) {
  return "data/" + table.name + (table.timing ? "-timing.csv" : ".csv");
}

Json cell(const Cell& cell) {
  if (cell.number) return std::isfinite(*cell.number) ? Json(*cell.number) : Json(nullptr);
  return cell.text.empty() ? Json(nullptr) : Json(cell.text);
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string reproduce_json(const SweepSummary& summary, std::span<const Reported> experiments) {
  Json object = summary_object(summary);
  object["seed"] = summary.effort.seed;
  object["runs"] = summary.effort.runs;
  object["experiments"] = Json::array();
  for (const Reported& reported : experiments) {
    const Findings& findings = reported.findings;
    Json entry;
    entry["name"] = reported.experiment->name;
    entry["title"] = reported.experiment->title;
    entry["claims"] = Json::array();
    for (const Claim& claim : findings.claims) {
      entry["claims"].push_back({{"where", claim.where},
                                 {"paper", claim.paper},
                                 {"measured", claim.measured},
                                 {"verdict", to_string(claim.verdict)}});
    }
    entry["tables"] = Json::array();
    for (const Table& table : findings.tables) entry["tables"].push_back(file_of(table));
    entry["charts"] = Json::array();
    for (const Chart& chart : findings.charts) entry["charts"].push_back("figures/" + chart.name + ".svg");
    object["experiments"].push_back(std::move(entry));
  }
  return text_of(object);
}

std::string sweep_json(const SweepSummary& summary, const std::string& title, const Table& table) {
  Json object;
  object["title"] = title;
  object.update(summary_object(summary));
  object["table"] = file_of(table);
  object["rows"] = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json entry = Json::object();
    for (std::size_t at = 0; at < row.size(); ++at) entry[table.columns[at]] = cell(row[at]);
    object["rows"].push_back(std::move(entry));
  }
  return text_of(object);
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
