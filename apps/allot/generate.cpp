// allot generate: a random scenario, to try things on.
#include "allot/model/generate.hpp"

#include <memory>
#include <string>

#include "allot/base/error.hpp"
#include "allot/io/scenario_writer.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

struct Arguments {
  GenerateOptions options;
  bool json = false;
};

void parse_rates(const std::string& text, GenerateOptions& options) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw CLI::ValidationError("--rates",
                               "needs two numbers with a comma between, as in 1,10, not " + in_quotes(text));
  }
  options.lowest_rate = parse_number("--rates", text.substr(0, comma));
  options.highest_rate = parse_number("--rates", text.substr(comma + 1));
}

Exit run_generate(const Arguments& arguments, Console& console) {
  try {
    const Scenario scenario = generate(arguments.options);
    console.document(write_scenario(scenario, arguments.json ? FileFormat::kJson : FileFormat::kToml));
  } catch (const InvalidModel& error) {  // nothing was read, so it was the options
    throw Failure(Exit::kUsage, std::string("--") + error.what() + ".");
  }
  return Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  GenerateOptions& o = arguments->options;
  add_whole(command, "--gps", o.general, 0, 4096, "general processors (default 2)");
  add_whole(command, "--sas", o.specialized, 0, 4096,
            "accelerators, each for a task type of its own (default 1)");
  add_whole(command, "--threads", o.threads, 0, static_cast<std::uint64_t>(kMaxCount),
            "threads in all, at least one per task type (default 18)");
  add_choice<AffinityRule>(
      command, "--rule", o.rule,
      {{"row", AffinityRule::kRow},
       {"column", AffinityRule::kColumn},
       {"ordered", AffinityRule::kOrdered},
       {"none", AffinityRule::kNone}},
      "row: each type is fastest at home (default); column: each resource is fastest for its own "
      "type; ordered: every type is fastest on the first resource, then the second, ...; none: as "
      "drawn");
  command
      .add_option_function<std::string>(
          "--rates", [&o](const std::string& text) { parse_rates(text, o); },
          "draw the rates between these, in tasks per second (default 0,1)")
      ->type_name("LO,HI");
  command.add_flag("--priorities", o.priorities, "draw priorities, too");
  command.add_flag("--powers", o.powers, "draw the power of each resource, too");
  add_seed(command, o.seed);
  command.add_flag("--json", arguments->json, "JSON instead of TOML");
  return [arguments](Console& console) { return run_generate(*arguments, console); };
}

}  // namespace

extern const Command generate_command;
const Command generate_command{
    "generate", "Make a random scenario.",
    "allot generate --seed 7 > machine.toml\n"
    "allot generate --gps 4 --sas 4 --threads 128 --rates 1,10 --priorities > large.toml\n"
    "allot generate --json | allot solve -",
    declare};

}  // namespace allot::app
