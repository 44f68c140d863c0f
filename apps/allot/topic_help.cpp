// Topics of the help: texts from apps/allot/topics with the library's tables in them.
#include <algorithm>
#include <filesystem>
#include <map>

#include "allot/jobs/fields.hpp"
#include "allot/model/fields.hpp"
#include "allot/model/objective.hpp"
#include "allot/policy/policy.hpp"
#include "apps/allot/help.hpp"
#include "apps/allot/installed.hpp"

namespace allot::app {
namespace {

template <typename Owner>
std::vector<HelpEntry> keys(std::span<const Field<Owner>> fields) {
  std::vector<HelpEntry> list;
  for (const Field<Owner>& field : fields) {
    std::string help(field.help);
    if (field.required) help += "; required";
    if (!field.absent.empty()) help += "; default: " + std::string(field.absent);
    list.emplace_back(field.key, help);
  }
  return list;
}

std::vector<HelpEntry> table(std::string_view name) {
  if (name == "exit-status") return exit_statuses();
  if (name == "scenario") return keys(scenario_fields());
  if (name == "resources") return keys(resource_fields());
  if (name == "tasks") return keys(task_fields());
  if (name == "capacities") return keys(capacity_fields());
  if (name == "threads") return keys(thread_fields());
  if (name == "population") return keys(population_fields());
  if (name == "arrivals") return keys(arrival_fields());
  if (name == "job") return keys(job_fields());
  if (name == "job-resources") return keys(job_resource_fields());
  if (name == "job-tasks") return keys(job_task_fields());
  if (name == "job-capacities") return keys(job_capacity_fields());
  std::vector<HelpEntry> list;
  if (name == "objectives") {
    for (const ObjectiveInfo& objective : objectives()) list.emplace_back(objective.name, objective.summary);
  } else if (name == "policies") {
    for (const PolicyInfo* policy : builtin_policies()) list.emplace_back(policy->name, policy->summary);
  }
  return list;
}

}  // namespace

std::string topic_help(const Topic& topic, const Console& console, bool has_styles) {
  std::string text;
  std::string_view rest = topic.text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.size() > 2 && line.starts_with('@') && line.ends_with('@')) {
      text += entries(console, table(line.substr(1, line.size() - 2)));
    } else if (line.starts_with("== ")) {
      text += console.styled(has_styles ? Style::kBold : Style::kPlain, line.substr(3)) + "\n";
    } else {
      text += std::string(line) + "\n";
    }
  }
  std::error_code error;
  if (const std::string examples = installed("doc/allot/examples"); std::filesystem::exists(examples, error))
    text += "\nMore examples: " + examples + "\n";
  return text;
}

}  // namespace allot::app
