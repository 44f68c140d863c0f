// allot generate: a random scenario for experiments.
#include "allot/ask/questions/generate.hpp"

#include <memory>

#include "allot/format/json.hpp"
#include "apps/allot/asking.hpp"
#include "apps/allot/installed.hpp"

namespace allot::app::generate_command {
namespace {

Declared declare() {
  const auto asked = std::make_shared<Asked<GenerateQuestion>>("generate");
  std::vector<Option> options = asked->asking.options();
  options.back().help = "JSON instead of TOML";
  return {std::move(options), [=](Console& console) {
            asked->asking.answer({});
            // The file as written by the library, and the schema for editors.
            Json schema;
            schema.add("$schema", schema_of("scenario"));
            const std::string head = schema.text();
            console.document(asked->asking.json()
                                 ? head.substr(0, head.rfind("\n}")) + "," + asked->question.json().substr(1)
                                 : "#:schema " + schema_of("scenario") + "\n" + asked->question.text());
            return Exit::kOk;
          }};
}

}  // namespace

extern const Command command;
const Command command = asking_command("generate", declare);

}  // namespace allot::app::generate_command
