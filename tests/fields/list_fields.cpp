// Prints the table of fields and the questions as JSON: tools/fields makes of it what cannot look at them
// itself.
#include <iostream>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "allot/analyze/analysis_json.hpp"
#include "allot/ask/question.hpp"
#include "allot/jobs/fields.hpp"
#include "allot/model/fields.hpp"
#include "allot/model/objective.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "allot/solve/solution_json.hpp"

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
const char* kind_of(const std::vector<allot::ResourceNumber>&) { return "by_resource"; }
const char* kind_of(const std::vector<allot::Need>&) { return "needs"; }

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

// ---- questions

/// The kind of value, and its default where there is one.
struct Kind {
  Json operator()(const allot::FlagValue& value) const {
    return {{"kind", "flag"}, {"default", value.initial}, {"off", value.off}};
  }
  Json operator()(const allot::WholeValue& value) const {
    return {{"kind", "whole"}, {"default", of(value.initial)}, {"otherwise", value.otherwise}};
  }
  Json operator()(const allot::NumberValue& value) const {
    return {{"kind", "number"}, {"default", of(value.initial)}};
  }
  Json operator()(const allot::RangeValue& value) const {
    return {{"kind", "range"}, {"default", {value.initial.first, value.initial.second}}};
  }
  Json operator()(const allot::SecondsValue& value) const {
    return {{"kind", "seconds"}, {"default", of(value.initial)}, {"may_be_none", bool(value.clear)}};
  }
  Json operator()(const allot::PartValue& value) const {
    return {{"kind", "part"}, {"default", of(value.initial)}};
  }
  Json operator()(const allot::WordValue& value) const {
    return {{"kind", "word"},
            {"default", value.initial ? Json(value.words[*value.initial]) : Json(nullptr)},
            {"words", value.words}};
  }
  Json operator()(const allot::TextValue& value) const {
    return {{"kind", value.is_policy ? "policy"
                     : value.is_path ? "path"
                                     : "text"},
            {"default", value.initial.empty() ? Json(nullptr) : Json(value.initial)}};
  }
  Json operator()(const allot::TextsValue& value) const {
    return {{"kind", value.are_policies ? "policies" : "texts"}, {"default", nullptr}};
  }
  Json operator()(const allot::AssignmentValue&) const {
    return {{"kind", "assignment"}, {"default", nullptr}};
  }
  Json operator()(const allot::ProbabilitiesValue&) const {
    return {{"kind", "probabilities"}, {"default", nullptr}};
  }
  template <typename T>
  static Json of(const std::optional<T>& value) {
    return value ? Json(*value) : Json(nullptr);
  }
};

Json questions() {
  constexpr const char* kProgress[] = {"none", "proof", "share", "states"};
  Json out = Json::array();
  for (const allot::QuestionInfo* info : allot::all_questions()) {
    const auto question = info->make();
    Json options = Json::array();
    for (const allot::Option& option : question->options()) {
      Json row = std::visit(Kind{}, option.value);
      row.update({{"name", option.name},
                  {"help", option.help},
                  {"absent", option.absent},
                  {"old_name", option.old_name},
                  {"required", option.is_required},
                  {"leading", option.is_leading},
                  {"for_page", option.is_for_page}});
      options.push_back(std::move(row));
    }
    out.push_back({{"name", info->name},
                   {"summary", info->summary},
                   {"needs_scenario", question->needs_scenario()},
                   {"progress", kProgress[static_cast<int>(info->progress)]},
                   {"class", info->python_class},
                   {"doc", info->python_doc},
                   {"python_name", info->python_name},
                   {"options", options}});
  }
  return out;
}

Json objectives() {
  Json out = Json::array();
  for (const allot::ObjectiveInfo& info : allot::objectives())
    out.push_back({{"name", info.name},
                   {"summary", info.summary},
                   {"needs_shares", info.needs_shares},
                   {"live", info.is_for_live_work}});
  return out;
}

/// Of a value of a result.
struct ResultKind {
  const char* operator()(const bool*) const { return "flag"; }
  const char* operator()(const std::uint32_t*) const { return "whole"; }
  const char* operator()(const std::uint64_t*) const { return "whole"; }
  const char* operator()(const double*) const { return "number"; }
  const char* operator()(const std::optional<double>*) const { return "maybe"; }
  const char* operator()(const std::string*) const { return "text"; }
  const char* operator()(const std::string_view*) const { return "text"; }
  const char* operator()(const allot::Assignment*) const { return "assignment"; }
  const char* operator()(const std::vector<double>*) const { return "numbers"; }
  const char* operator()(const std::vector<std::optional<double>>*) const { return "numbers"; }
  const char* operator()(const std::vector<std::string>*) const { return "texts"; }
  const char* operator()(const allot::Estimate*) const { return "estimate"; }
  const char* operator()(const std::vector<allot::Estimate>*) const { return "estimates"; }
  const char* operator()(const auto*) const { return "name"; }
};

template <typename Result>
Json attributes(std::span<const allot::ResultField<Result>> fields) {
  static const Result usual{};
  Json out = Json::array();
  for (const auto& field : fields) {
    if (field.help.empty()) continue;
    out.push_back({{"key", field.key},
                   {"kind", field.word ? "text" : std::visit(ResultKind{}, kept(field, usual))},
                   {"help", field.help},
                   {"may_lack", field.may_be_empty || field.has_value != nullptr}});
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
        {"capacities", rows(allot::capacity_fields())},
        {"threads", rows(allot::thread_fields())},
        {"population", rows(allot::population_fields())},
        {"arrivals", rows(allot::arrival_fields())},
        {"measured", rows(allot::measured_fields())}}},
      {"jobs",
       {{"", rows(allot::job_fields())},
        {"resources", rows(allot::job_resource_fields())},
        {"tasks", rows(allot::job_task_fields())},
        {"capacities", rows(allot::job_capacity_fields())}}},
      {"questions", questions()},
      {"objectives", objectives()},
      {"results",
       {{"Solution", attributes(allot::solution_fields())},
        {"Simulation", attributes(allot::simulation_fields())},
        {"Analysis", attributes(allot::analysis_fields())}}},
      {"records",
       {{"Change", attributes(allot::change_fields())},
        {"ParetoPoint", attributes(allot::point_fields())},
        {"Difference", attributes(allot::difference_fields())}}},
  };
  std::cout << all.dump(1) << '\n';
}
