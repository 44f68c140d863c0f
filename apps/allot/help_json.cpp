// The help for programs: completion, manual pages and the reference are generated from it.
#include <utility>

#include "allot/format/json.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/options.hpp"

namespace allot::app {
namespace {

Json json_of(const Option& option) {
  const auto* const word = std::get_if<WordValue>(&option.value);
  return Json::object({{"option", spelled(option)},
                       {"letter", option.letter.empty() ? Json() : Json("-" + option.letter)},
                       {"value", placeholder(option)},
                       {"help", help_of(option)},
                       {"group", option.group},
                       {"required", option.is_required},
                       {"positional", option.is_positional},
                       {"words", word != nullptr ? Json(word->words) : Json(Json::Array())}});
}

}  // namespace

std::string help_json() {
  Json::Array all;
  for (const Command* command : commands()) {
    const Declared declared = command->declare();
    Json::Array options;
    for (const Option& option : declared.options) {
      if (!option.is_hidden) options.push_back(json_of(option));
    }
    all.push_back(Json::object({{"command", command->name},
                                {"summary", command->summary},
                                {"example", command->example},
                                {"no_json", command->no_json},
                                {"options", std::move(options)}}));
  }
  return Json(std::move(all)).text();
}

}  // namespace allot::app
