#include "allot/ask/questions/generate.hpp"

#include "allot/ask/detail/common.hpp"
#include "allot/format/scenario_writer.hpp"

namespace allot {

std::vector<Option> GenerateQuestion::options() {
  return {
      whole_option("gps", how.general, 0, 4096, "number of general processors"),
      whole_option("sas", how.specialized, 0, 4096, "number of accelerators, each with its own task type"),
      whole_option("threads", how.threads, 0, static_cast<std::uint64_t>(kMaxCount),
                   "total threads, at least one per task type"),
      word_option(
          "rule", how.rule, {"row", "column", "ordered", "none"},
          "row: each type is fastest at home (default); column: each resource is fastest for its own "
          "type; ordered: every type is fastest on the first resource, then the second, ...; none: as "
          "drawn"),
      range_option("rates", how.lowest_rate, how.highest_rate,
                   "range of the random rates, in tasks per second")
          .shown_as("LO,HI"),
      flag_option("priorities", how.priorities, "also draw priorities"),
      flag_option("powers", how.powers, "also draw the power of each resource"),
      ask::seed_option(how.seed),
  };
}

void GenerateQuestion::answer(const Attendance&) { generated = generate(how); }

std::string GenerateQuestion::json() const { return write_scenario(*generated, FileFormat::kJson); }

std::string GenerateQuestion::text() const { return write_scenario(*generated, FileFormat::kToml); }

namespace questions {

extern const QuestionInfo generate;
const QuestionInfo generate{
    "generate",
    "Generate a random scenario.",
    "allot generate --seed 7 > machine.toml\n"
    "allot generate --gps 4 --sas 4 --threads 128 --rates 1,10 --priorities > large.toml\n"
    "allot generate --json | allot solve -",
    make_question<GenerateQuestion>,
    ProgressKind::kNone,
    "Scenario",
    "It has general processors, and accelerators with their own task types, as in the paper.\n"
    "\n"
    ">>> import allot\n"
    ">>> allot.generate(gps=3, sas=1, threads=12).rates.shape\n"
    "(4, 4)"};

}  // namespace questions
}  // namespace allot
