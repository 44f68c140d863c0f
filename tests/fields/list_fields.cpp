// Prints the table of fields as JSON: tools/fields makes of it what cannot look at the table itself.
#include <iostream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "allot/jobs/fields.hpp"
#include "allot/model/fields.hpp"

namespace {

using Json = nlohmann::ordered_json;
using allot::Count;

const char* kind_of(const std::string&) { return "text"; }
const char* kind_of(Count) { return "whole"; }
const char* kind_of(double) { return "number"; }
const char* kind_of(bool) { return "flag"; }
const char* kind_of(const std::optional<double>&) { return "number"; }
const char* kind_of(allot::Kind) { return "word"; }
const char* kind_of(allot::Discipline) { return "word"; }
const char* kind_of(allot::TaskType) { return "task"; }
const char* kind_of(allot::ResourceId) { return "resource"; }
const char* kind_of(const std::optional<allot::ResourceId>&) { return "resource"; }
const char* kind_of(const std::vector<allot::TaskType>&) { return "tasks"; }

/// Null where absence means something of its own.
Json value_of(const auto& value, std::span<const std::string_view> words) {
  using Value = std::decay_t<decltype(value)>;
  if constexpr (std::is_same_v<Value, Count> || std::is_same_v<Value, double> ||
                std::is_same_v<Value, bool>) {
    return value;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    return "";
  } else if constexpr (std::is_same_v<Value, allot::Kind> || std::is_same_v<Value, allot::Discipline>) {
    return words[static_cast<std::size_t>(value)];
  } else {
    return nullptr;
  }
}

template <typename Owner>
Json rows(std::span<const allot::Field<Owner>> fields) {
  Json out = Json::array();
  const Owner usual;
  for (const allot::Field<Owner>& field : fields) {
    Json row = {{"key", field.key},     {"help", field.help},         {"absent", field.absent},
                {"unit", field.unit},   {"required", field.required}, {"column", field.column},
                {"least", field.least}, {"most", field.most},         {"words", field.words}};
    std::visit(
        [&](auto member) {
          if constexpr (std::is_same_v<decltype(member), allot::Special>) {
            row["kind"] = "special";
            row["value"] = member.value;
            row["schema"] = member.schema.empty() ? Json(nullptr) : Json::parse(member.schema);
            row["default"] = nullptr;
          } else {
            row["kind"] = kind_of(usual.*member);
            row["default"] = value_of(usual.*member, field.words);
          }
        },
        field.member);
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace

int main() {
  const Json all = {
      {"scenario",
       {{"", rows(allot::scenario_fields())},
        {"resources", rows(allot::resource_fields())},
        {"tasks", rows(allot::task_fields())},
        {"threads", rows(allot::thread_fields())},
        {"population", rows(allot::population_fields())},
        {"arrivals", rows(allot::arrival_fields())},
        {"measured", rows(allot::measured_fields())}}},
      {"jobs",
       {{"", rows(allot::job_fields())},
        {"resources", rows(allot::job_resource_fields())},
        {"tasks", rows(allot::job_task_fields())}}},
  };
  std::cout << all.dump(1) << '\n';
}
