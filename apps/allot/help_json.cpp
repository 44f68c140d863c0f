// What the help says, for programs: completion, manual pages and the reference are made from it.
#include <nlohmann/json.hpp>

#include "apps/allot/help.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Option& option) {
  Json words = Json::array();
  if (const auto* const word = std::get_if<WordValue>(&option.value)) words = word->words;
  return {{"option", spelled(option)},
          {"letter", option.letter.empty() ? Json(nullptr) : Json("-" + option.letter)},
          {"value", placeholder(option)},
          {"help", help_of(option)},
          {"group", option.group},
          {"required", option.is_required},
          {"positional", option.is_positional},
          {"words", words}};
}

}  // namespace

std::string help_json() {
  Json all = Json::array();
  for (const Command* command : commands()) {
    const Declared declared = command->declare();
    Json options = Json::array();
    for (const Option& option : declared.options) {
      if (!option.is_hidden) options.push_back(json_of(option));
    }
    all.push_back({{"command", command->name},
                   {"summary", command->summary},
                   {"example", command->example},
                   {"no_json", command->no_json},
                   {"options", options}});
  }
  return all.dump(2) + "\n";
}

}  // namespace allot::app
