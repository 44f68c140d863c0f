// allot generate: a random scenario, to try things on.
#include "allot/ask/questions/generate.hpp"

#include <memory>

#include "allot/format/scenario_writer.hpp"
#include "apps/allot/asking.hpp"

namespace allot::app {
namespace {

using Arguments = Asked<GenerateQuestion>;

Exit run_generate(Arguments& arguments, Console& console) {
  arguments.asking.answer({});
  console.document(write_scenario(*arguments.question.generated,
                                  arguments.asking.json() ? FileFormat::kJson : FileFormat::kToml));
  return Exit::kOk;
}

Declared declare() {
  const auto arguments = std::make_shared<Arguments>("generate");
  std::vector<Option> options = arguments->asking.options();
  options.back().help = "JSON instead of TOML";
  return {std::move(options), [arguments](Console& console) { return run_generate(*arguments, console); }};
}

}  // namespace

extern const Command generate_command;
const Command generate_command = asking_command("generate", declare);

}  // namespace allot::app
