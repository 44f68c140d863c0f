// real_machine COMMAND [options]: measures this machine, or an emulated one, and runs the experiments on it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "bench/real_machine/arguments.hpp"
#include "bench/real_machine/check.hpp"
#include "bench/real_machine/experiment.hpp"
#include "bench/real_machine/measure.hpp"
#include "bench/real_machine/race.hpp"
#include "bench/real_machine/sharing.hpp"

namespace {

using namespace real_machine;

allot::Scenario read(const std::filesystem::path& path) {
  auto scenario = allot::read_scenario(path.string());
  if (scenario) return std::move(scenario).value();
  std::string text;
  for (const auto& problem : scenario.diagnostics()) text += (text.empty() ? "" : "\n") + to_string(problem);
  throw std::runtime_error(text);
}

std::filesystem::path shared_file(const std::filesystem::path& folder, std::size_t streams) {
  return folder / ("shared-" + std::to_string(streams) + ".toml");
}

/// What is in flight: tasks enough that every resource could be busy, in three mixtures.
std::vector<Workload> workloads(const Machine& machine) {
  allot::Count servers = 0;
  for (const Station& station : machine.stations) servers += station.resource.servers;
  const auto part = [&](double share) {
    return std::max<allot::Count>(1, static_cast<allot::Count>(share * static_cast<double>(servers)));
  };
  return {
      {"even", {part(0.5), part(0.5), part(0.5), part(0.5)}, {1, 1, 1, 1}},
      {"pictures", {part(1.2), part(0.4), part(0.2), part(0.2)}, {4, 2, 1, 1}},
      {"numbers", {part(0.2), part(0.8), part(0.8), part(0.2)}, {1, 3, 3, 1}},
  };
}

bool check(const Machine& machine, const Inputs& inputs) {
  check_reference(machine, inputs);
  bool good = true;
  for (const Agreement& row : check_kernels(machine)) {
    std::printf("%-10s on %-5s differs by %.2g (allowed %.2g)%s\n", row.type.c_str(), row.station.c_str(),
                row.difference, row.allowed, row.agrees() ? "" : "  WRONG");
    good = good && row.agrees();
  }
  return good;
}

void load(const Machine& machine, const std::string& pair, const ExperimentOptions& options) {
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    for (std::size_t j = 0; j < machine.stations.size(); ++j) {
      const allot::Resource& resource = machine.stations[j].resource;
      if (pair != machine.types[i] + "," + resource.name || !machine.can_run(i, j)) continue;
      allot::Assignment placement(machine.types.size(), machine.stations.size());
      placement(allot::task_type(i), allot::resource_id(j)) = 2 * resource.servers;
      LoopOptions loop = held(placement);
      loop.warm_up_s = options.warm_up_s;
      loop.measure_s = options.measure_s;
      std::printf("%s on %s: %.1f tasks per second\n", machine.types[i].c_str(), resource.name.c_str(),
                  run_closed_loop(machine, loop).throughput());
      return;
    }
  }
  throw UsageError("--pair needs a type and a resource that can run it, such as decode,cpu, not '" + pair +
                   "'");
}

/// With each number of streams what is shared, and predictions; the first in full, the others in short.
void share(const std::vector<Machine>& machines, const Arguments& arguments,
           const std::vector<Workload>& work) {
  Table mixes(arguments.out, "mixes.csv", kMixColumns);
  SharingTables tables(arguments.out);
  for (std::size_t k = 0; k < machines.size(); ++k) {
    const std::size_t streams = arguments.streams[k];
    SharingOptions options = arguments.sharing;
    if (k > 0) {
      options.measure_s *= 0.8;
      options.pair_mixes /= 3;
      options.random_mixes /= 3;
      options.placement_mixes = options.placement_mixes * 2 / 3;
      options.placements = options.placements * 3 / 8;
    }
    const std::optional<allot::System> system =
        measure_sharing(machines[k], streams, work, options, mixes, tables);
    if (!system) {
      std::printf("out of time with %zu streams\n", streams);
      return;
    }
    const allot::Scenario scenario{.name = "measured: " + machines[k].description + ", " +
                                           std::to_string(streams) + (streams == 1 ? " stream" : " streams"),
                                   .system = *system,
                                   .threads = {},
                                   .population = {},
                                   .arrivals = {},
                                   .measured = {},
                                   .power_cap = {}};
    std::ofstream(shared_file(arguments.out, streams)) << write_scenario(scenario, allot::FileFormat::kToml);
  }
}

/// What `share` measured before, fitted and predicted anew.
void refit(const Machine& machine, const Arguments& arguments, const std::vector<Workload>& work) {
  if (arguments.from.empty()) throw UsageError("refit needs --from, the folder of what share measured");
  const allot::System shape = shape_of(machine, work.front().counts);
  const std::size_t streams = arguments.streams.front();
  std::vector<SharingRun> runs = read_runs(arguments.from, shape, streams);
  SharingTables tables(arguments.out);
  const allot::SharingFit fit = fit_runs(shape, streams, runs, arguments.sharing.seed, tables);
  if (has_all_rates(shape, fit)) predict_runs(shape, streams, fit, runs, tables);
}

int run(const Arguments& arguments) {
  const auto asked = [&](std::string_view command) {
    return arguments.command == command || arguments.command == "all";
  };
  Inputs inputs;
  Gpu gpu;
  if (!arguments.emulate) {
    inputs = make_inputs(arguments.sizes, 1);
    gpu = open_gpu(inputs);
  }
  const auto make = [&](std::size_t streams) {
    if (arguments.emulate)
      return emulated_machine(read(*arguments.emulate).system,
                              arguments.has_streams ? std::optional(streams) : std::nullopt);
    return real_machine::real_machine(inputs,
                                      {.cpu_servers = arguments.cpu_servers, .streams = streams, .gpu = gpu});
  };
  std::vector<Machine> machines;
  for (const std::size_t streams : arguments.streams) machines.push_back(make(streams));
  const Machine& machine = machines.front();
  std::printf("%s\n", machine.description.c_str());
  for (const Station& station : machine.stations) {
    std::printf("  %s: %zu servers\n", station.resource.name.c_str(), station.servers.size());
  }
  std::fflush(stdout);
  const std::filesystem::path scenario_file = arguments.out / "scenario.toml";
  const std::vector<Workload> work = workloads(machine);
  ExperimentOptions experiment = arguments.experiment;
  experiment.folder = arguments.out;
  const MeasureOptions measuring{.warm_up_s = std::min(0.3, experiment.warm_up_s),
                                 .seconds = 0.5 * experiment.measure_s,
                                 .seed = experiment.seed,
                                 .folder = arguments.out};

  if (arguments.command == "load") {
    load(machine, arguments.pair, experiment);
    return 0;
  }
  if (asked("check") && !arguments.emulate && !check(machine, inputs)) return 1;
  if (arguments.command == "check") return 0;
  std::filesystem::create_directories(arguments.out);
  if (arguments.command == "share") share(machines, arguments, work);
  if (arguments.command == "refit") refit(machine, arguments, work);
  if (arguments.command == "race") {
    RaceOptions options = arguments.race;
    options.folder = arguments.out;
    const std::size_t streams = arguments.streams.front();
    race(make(1), machine, streams, read(shared_file(arguments.out, streams)).system, work, options);
  }
  if (arguments.command == "servers") measure_servers(machine, measuring);
  if (asked("measure")) {
    const allot::Scenario scenario = measure_rates(machine, work, measuring);
    std::ofstream(scenario_file) << write_scenario(scenario, allot::FileFormat::kToml);
    measure_disciplines(machine, scenario.system, measuring);
  }
  if (!asked("predict") && !asked("policies")) return 0;
  const allot::System system = read(scenario_file).system;
  if (asked("predict")) predict(machine, system, work, experiment);
  if (asked("policies")) {
    compare_policies(machine, system, work, experiment);
    trace_policies(machine, work.front(), {"map", "jsq"}, experiment);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run(parse(count, words));
  } catch (const UsageError& error) {
    std::cerr << "real_machine: " << error.what() << "\n" << help();
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "real_machine: " << error.what() << "\n";
    return 1;
  }
}
