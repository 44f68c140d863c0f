#include "apps/allot/input.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <vector>

#include "allot/io/scenario_reader.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {

void add_file(CLI::App& command, std::string& path) {
  command.add_option("FILE", path, "a scenario, .toml or .json; '-' reads JSON from standard input")
      ->required();
}

Scenario read_scenario_or_fail(const std::string& path, const Console& console) {
  Scenario scenario = value_or_fail(read_scenario(path), console);
  for (const std::string& note : notes(scenario)) console.note(note);
  return scenario;
}

Scenario read_static_scenario_or_fail(const std::string& path, const std::string& command,
                                      const Console& console) {
  Scenario scenario = read_scenario_or_fail(path, console);
  if (scenario.is_static()) return scenario;
  std::vector<std::string> varying;
  if (!scenario.threads.empty()) varying.emplace_back("[[threads]]");
  if (!scenario.population.empty()) varying.emplace_back("[[population]]");
  if (!scenario.arrivals.empty()) varying.emplace_back("[[arrivals]]");
  throw Failure(Exit::kInvalidInput, path + ": '" + command + "' needs constant counts and does not take " +
                                         alternatives(varying) + "; 'allot simulate' does");
}

std::string last_line(const std::string& path) {
  if (path.empty()) return "";
  std::ifstream file(path, std::ios::binary);
  file.seekg(0, std::ios::end);
  const auto size = static_cast<std::streamoff>(file.tellg());
  file.seekg(std::max<std::streamoff>(0, size - 2000));
  std::string line;
  std::string last;
  while (std::getline(file, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

StopLimits start_clock(const std::optional<double>& time_limit_seconds) {
  constexpr double kForever = 1e9;  // seconds; more would overflow the clock
  StopLimits limits;
  limits.flag = &catch_interrupts();
  if (time_limit_seconds && *time_limit_seconds < kForever) {
    // What it took to read a large file counts; waiting for somebody to write it does not.
    const double used = static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
    const std::chrono::duration<double> left(std::max(0.0, *time_limit_seconds - used));
    limits.deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
  }
  return limits;
}

}  // namespace allot::app
