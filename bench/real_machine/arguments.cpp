#include "bench/real_machine/arguments.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>

namespace real_machine {
namespace {

constexpr const char* kHelp = R"(Usage: real_machine COMMAND [options]

Commands
  check      run every implementation of every task and compare their results
  servers    throughput by number of servers in use: servers.csv
  measure    rates under load, as a scenario: scenario.toml, rates.csv, disciplines.csv
  predict    placements held fixed, predicted against measured: predictions.csv
  policies   every policy on every workload: policies.csv, shares.csv, optima.csv, gantt.csv
  all        check, measure, predict and policies, in this order
  share      what tasks share, fitted to mixes, and predictions, for each number of streams, the first in full:
             mixes.csv, fits.csv, errors.csv, predictions.csv, shared-N.toml
  refit      the same from mixes.csv and predictions.csv in another folder: --from; of a machine of the shape that
             --emulate says, with one number of streams
  race       policies with N streams, and with one, in one shuffled run: race.csv, shares.csv; reads shared-N.toml
  load       one pair and nothing else, for other tools to watch: --pair TYPE,RESOURCE

Options
  --out DIR          where the files go (real-machine); `predict` and `policies` read scenario.toml there
  --emulate FILE     a machine that sleeps as the scenario in FILE says, instead of this one
  --from DIR         what `refit` reads
  --seconds S        of one measurement (2; `share`: 0.5, `race`: 1); up to three times that where few tasks end
  --warm-up S        before it, for policies that learn (1.5; `race`: 1)
  --placements N     held fixed by `predict` (36) and `share` (48)
  --mixes N          placements that the fit of `share` sees, beside the mixes of its design (48)
  --repeats N        of each policy (3; `race`: 5)
  --budget S         no measurement of `share` and `race` begins later
  --pair TYPE,RESOURCE  of `load`
  --seed N           of placements and order (1)
  --streams N,...    servers of the GPU (1)
  --cpu-servers N    cores that run tasks (all that no other server needs)
  --picture WxH --products N --matrix N --keys N --steps N    how large a task is
)";

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

std::vector<std::size_t> list(std::string_view option, const std::string& text) {
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    out.push_back(whole(option, text.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

void set_seconds(Arguments& out, double seconds) {
  out.experiment.measure_s = seconds;
  out.sharing.measure_s = seconds;
  out.sharing.placement_s = 2 * seconds;
  out.race.measure_s = seconds;
  out.race.short_measure_s = 0.8 * seconds;
}

void set_warm_up(Arguments& out, double seconds) {
  out.experiment.warm_up_s = seconds;
  out.sharing.warm_up_s = std::min(out.sharing.warm_up_s, seconds);
  out.race.warm_up_s = seconds;
  out.race.short_warm_up_s = 0.5 * seconds;
}

}  // namespace

const char* help() { return kHelp; }

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
    } else if (word == "--from") {
      out.from = value;
    } else if (word == "--pair") {
      out.pair = value;
    } else if (word == "--seconds") {
      set_seconds(out, number(word, value));
    } else if (word == "--warm-up") {
      set_warm_up(out, number(word, value));
    } else if (word == "--placements") {
      out.experiment.placements = out.sharing.placements = whole(word, value);
    } else if (word == "--mixes") {
      out.sharing.placement_mixes = whole(word, value);
    } else if (word == "--repeats") {
      out.experiment.repeats = out.race.repeats = whole(word, value);
    } else if (word == "--seed") {
      out.experiment.seed = out.sharing.seed = out.race.seed = whole(word, value);
    } else if (word == "--budget") {
      const auto length = std::chrono::duration<double>(number(word, value));
      out.sharing.deadline = out.race.deadline =
          allot::Clock::now() + std::chrono::duration_cast<allot::Clock::duration>(length);
    } else if (word == "--streams") {
      out.streams = list(word, value);
      out.has_streams = true;
    } else if (word == "--cpu-servers") {
      out.cpu_servers = whole(word, value);
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
  constexpr std::string_view kCommands[] = {"check", "servers", "measure", "predict", "policies",
                                            "all",   "share",   "refit",   "race",    "load"};
  if (out.command.empty()) throw UsageError("which command?");
  if (std::find(std::begin(kCommands), std::end(kCommands), out.command) == std::end(kCommands))
    throw UsageError("there is no command " + out.command);
  return out;
}

}  // namespace real_machine
