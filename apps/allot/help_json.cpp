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

Json::Object entries_of(const Command& command) {
  const Declared declared = command.declare();
  Json::Array options;
  for (const Option& option : declared.options) {
    if (!option.is_hidden) options.push_back(json_of(option));
  }
  return {{"command", command.name},
          {"summary", command.summary},
          {"example", command.example},
          {"no_json", command.no_json},
          {"options", std::move(options)}};
}

}  // namespace

std::string help_json() {
  Json::Array all;
  for (const Command* command : commands()) all.push_back(Json::object(entries_of(*command)));
  return Json(std::move(all)).text();
}

std::string help_json(const Command* command, const Topic* topic, const Console& console) {
  Json::Object entries = command != nullptr ? entries_of(*command) : Json::Object();
  if (topic != nullptr) {
    entries.emplace_back("topic", topic->name);
    entries.emplace_back("title", title_of(*topic));
    entries.emplace_back("text", topic_help(*topic, console, false));
  }
  return Json::object(std::move(entries)).text();
}

}  // namespace allot::app
