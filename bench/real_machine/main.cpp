// real_machine COMMAND [options]: measures this machine, or an emulated one, and runs the experiments on it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "bench/real_machine/check.hpp"
#include "bench/real_machine/experiment.hpp"
#include "bench/real_machine/measure.hpp"

namespace {

using namespace real_machine;

constexpr const char* kHelp = R"(Usage: real_machine COMMAND [options]

Commands
  check      run every implementation of every task and compare their results
  servers    throughput by number of servers in use: servers.csv
  measure    rates under load, as a scenario: scenario.toml, rates.csv, disciplines.csv
  predict    placements held fixed, predicted against measured: predictions.csv
  policies   every policy on every workload: policies.csv, shares.csv, optima.csv, gantt.csv
  all        check, measure, predict and policies, in this order
  load       one pair and nothing else, for other tools to watch: --pair TYPE,RESOURCE

Options
  --out DIR          where the files go (real-machine); `predict` and `policies` read scenario.toml there
  --emulate FILE     a machine that sleeps as the scenario in FILE says, instead of this one
  --seconds S        of one measurement (2); up to three times that where few tasks end
  --warm-up S        before it, for policies that learn (1.5)
  --placements N     held fixed by `predict` (36)
  --repeats N        of each policy (3)
  --pair TYPE,RESOURCE  of `load`
  --seed N           of placements and order (1)
  --streams N        servers of the GPU (1)
  --cpu-servers N    cores that run tasks (all that no other server needs)
  --picture WxH --products N --matrix N --keys N --steps N    how large a task is
)";

struct Arguments {
  std::string command;
  std::filesystem::path out = "real-machine";
  std::optional<std::string> emulate;
  std::string pair;
  MachineOptions machine;
  ExperimentOptions experiment;
  Sizes sizes;
};

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double number(std::string_view option, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0)) {
    throw UsageError(std::string(option) + " needs a positive number, not '" + text + "'");
  }
  return value;
}

std::size_t whole(std::string_view option, const std::string& text) {
  const double value = number(option, text);
  if (value != static_cast<double>(static_cast<std::size_t>(value))) {
    throw UsageError(std::string(option) + " needs a whole number, not '" + text + "'");
  }
  return static_cast<std::size_t>(value);
}

Arguments parse(int count, char** words) {
  Arguments out;
  for (int k = 1; k < count; ++k) {
    const std::string_view word = words[k];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (!word.starts_with("--")) {
      if (!out.command.empty())
        throw UsageError("one command at a time: " + out.command + " or " + std::string(word) + "?");
      out.command = word;
      continue;
    }
    if (k + 1 == count) throw UsageError(std::string(word) + " needs a value");
    const std::string value = words[++k];
    if (word == "--out") {
      out.out = value;
    } else if (word == "--emulate") {
      out.emulate = value;
    } else if (word == "--pair") {
      out.pair = value;
    } else if (word == "--seconds") {
      out.experiment.measure_s = number(word, value);
    } else if (word == "--warm-up") {
      out.experiment.warm_up_s = number(word, value);
    } else if (word == "--placements") {
      out.experiment.placements = whole(word, value);
    } else if (word == "--repeats") {
      out.experiment.repeats = whole(word, value);
    } else if (word == "--seed") {
      out.experiment.seed = whole(word, value);
    } else if (word == "--streams") {
      out.machine.streams = whole(word, value);
    } else if (word == "--cpu-servers") {
      out.machine.cpu_servers = whole(word, value);
    } else if (word == "--picture") {
      const std::size_t x = value.find('x');
      if (x == std::string::npos)
        throw UsageError("--picture needs WxH, such as 640x360, not '" + value + "'");
      out.sizes.width = whole(word, value.substr(0, x));
      out.sizes.height = whole(word, value.substr(x + 1));
    } else if (word == "--products") {
      out.sizes.products = whole(word, value);
    } else if (word == "--matrix") {
      out.sizes.matrix = whole(word, value);
    } else if (word == "--keys") {
      out.sizes.keys = whole(word, value);
    } else if (word == "--steps") {
      out.sizes.steps = static_cast<std::uint32_t>(whole(word, value));
    } else {
      throw UsageError("there is no option " + std::string(word));
    }
  }
  if (out.command.empty()) throw UsageError("which command?");
  return out;
}

allot::Scenario read(const std::filesystem::path& path) {
  auto scenario = allot::read_scenario(path.string());
  if (scenario) return std::move(scenario).value();
  std::string text;
  for (const auto& problem : scenario.diagnostics()) text += (text.empty() ? "" : "\n") + to_string(problem);
  throw std::runtime_error(text);
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
      LoopOptions loop;
      loop.counts.assign(machine.types.size(), 0);
      loop.counts[i] = 2 * resource.servers;
      loop.policy = "fixed";
      loop.policy_options.assignment.emplace(machine.types.size(), machine.stations.size());
      (*loop.policy_options.assignment)(allot::task_type(i), allot::resource_id(j)) = loop.counts[i];
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

int run(const Arguments& arguments) {
  const auto asked = [&](std::string_view command) {
    return arguments.command == command || arguments.command == "all";
  };
  constexpr std::string_view kCommands[] = {"check",    "servers", "measure", "predict",
                                            "policies", "all",     "load"};
  if (std::find(std::begin(kCommands), std::end(kCommands), arguments.command) == std::end(kCommands)) {
    throw UsageError("there is no command " + arguments.command);
  }

  Inputs inputs;
  if (!arguments.emulate) inputs = make_inputs(arguments.sizes, 1);
  const Machine machine = arguments.emulate ? emulated_machine(read(*arguments.emulate).system)
                                            : real_machine::real_machine(inputs, arguments.machine);
  std::printf("%s\n", machine.description.c_str());
  for (const Station& station : machine.stations) {
    std::printf("  %s: %zu servers\n", station.resource.name.c_str(), station.servers.size());
  }
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
    std::cerr << "real_machine: " << error.what() << "\n" << kHelp;
    return 2;
  } catch (const std::exception& error) {
    std::cerr << "real_machine: " << error.what() << "\n";
    return 1;
  }
}
