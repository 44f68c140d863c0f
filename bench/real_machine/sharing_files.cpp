// Reads what `share` wrote.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "bench/real_machine/sharing_runs.hpp"

namespace real_machine {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);) out.push_back(part);
  return out;
}

/// Of a file without quotes, as `Table` writes it: those with so many streams.
std::vector<Row> read_table(const std::filesystem::path& path, std::size_t streams) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) throw std::runtime_error("cannot read " + path.string());
  const std::vector<std::string> columns = split(line, ',');
  std::vector<Row> out;
  while (std::getline(file, line)) {
    const std::vector<std::string> values = split(line, ',');
    if (values.size() != columns.size()) throw std::runtime_error(path.string() + ": short row: " + line);
    Row row;
    for (std::size_t k = 0; k < columns.size(); ++k) row[columns[k]] = values[k];
    if (row["streams"] == std::to_string(streams)) out.push_back(std::move(row));
  }
  return out;
}

std::size_t position(const std::string& name, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw std::runtime_error("the machine has no '" + name + "'");
  return static_cast<std::size_t>(found - names.begin());
}

SharingRun empty_run(const allot::System& shape, std::size_t number) {
  SharingRun run;
  run.number = number;
  run.began = static_cast<double>(number);
  run.placement = allot::Assignment(shape.type_count(), shape.resource_count());
  run.measured.in_service.assign(shape.type_count(), shape.resource_count(), 0.0);
  run.measured.throughput.assign(shape.type_count(), shape.resource_count(), 0.0);
  return run;
}

void set_prediction(const Row& row, SharingRun& run) {
  run.origin = row.at("placement");
  run.workload = row.at("workload");
  run.throughput = std::stod(row.at("measured"));
  run.little = std::stod(row.at("little"));
  for (const std::string& station : split(row.at("by_station"), ' '))
    run.by_station.push_back(std::stod(station.substr(station.find(':') + 1)));
  const std::vector<std::string> counts = split(row.at("counts"), ' ');
  std::size_t at = 0;
  for (const allot::TaskType i : allot::IdRange<allot::TaskType>(run.placement.types())) {
    for (const allot::ResourceId j : allot::IdRange<allot::ResourceId>(run.placement.resources()))
      run.placement(i, j) = std::stoi(counts.at(at++));
  }
}

}  // namespace

std::vector<SharingRun> read_runs(const std::filesystem::path& folder, const allot::System& shape,
                                  std::size_t streams) {
  std::vector<std::string> types;
  std::vector<std::string> resources;
  for (const allot::TaskClass& task : shape.tasks()) types.push_back(task.name);
  for (const allot::Resource& resource : shape.resources()) resources.push_back(resource.name);
  std::map<std::size_t, SharingRun> runs;
  for (const Row& row : read_table(folder / "mixes.csv", streams)) {
    const std::size_t number = std::stoul(row.at("mix"));
    SharingRun& run = runs.try_emplace(number, empty_run(shape, number)).first->second;
    run.origin = row.at("origin");
    if (row.contains("began")) run.began = std::stod(row.at("began"));
    const allot::TaskType i = allot::task_type(position(row.at("type"), types));
    const allot::ResourceId j = allot::resource_id(position(row.at("resource"), resources));
    run.placement(i, j) = std::stoi(row.at("tasks"));
    run.measured.in_service(i, j) = std::stod(row.at("in_service"));
    const double cycle = std::stod(row.at("cycle"));
    if (cycle > 0) run.measured.throughput(i, j) = run.measured.in_service(i, j) / cycle;
  }
  std::size_t gap = 0;
  for (const Row& row : read_table(folder / "predictions.csv", streams)) {
    while (runs.contains(gap)) ++gap;
    const std::size_t number = row.contains("mix") ? std::stoul(row.at("mix")) : gap;
    set_prediction(row, runs.try_emplace(number, empty_run(shape, number)).first->second);
  }
  std::vector<SharingRun> out;
  for (auto& [number, run] : runs) out.push_back(std::move(run));
  return out;
}

}  // namespace real_machine
