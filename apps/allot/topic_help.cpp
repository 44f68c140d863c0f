// Topics of the help: texts from apps/allot/topics with the library's tables in them.
#include <algorithm>
#include <array>
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

/// A word of the model, the topic that says more, and the guide, if any.
struct Word {
  std::string_view word;
  std::string_view meaning;
  std::string_view topic;
  std::string_view guide = "";
};
constexpr std::string_view kNeeds = "needs.md";
constexpr std::string_view kPlan = "plan.md";
constexpr std::array<Word, 22> kWords = {{
    {"needs", "what a task takes of capacities and of servers while it runs", "scenario", kNeeds},
    {"need", "what a task takes of a capacity while it runs", "scenario", kNeeds},
    {"capacity", "what tasks use besides a server: memory, a bus, licences", "scenario", kNeeds},
    {"held", "of a capacity: tasks wait until they get all that they need of it", "scenario", kNeeds},
    {"shared", "of a capacity: all tasks slow down when it is overdrawn", "scenario", kNeeds},
    {"ps", "processor sharing: all tasks at a resource run at once and share it evenly", "scenario", kPlan},
    {"fcfs", "first come, first served: each server runs one task at a time, the others wait", "scenario",
     kPlan},
    {"discipline", "how a resource shares its servers among its tasks: ps or fcfs", "scenario", kPlan},
    {"priority", "the share of all completions that a type should have, as a weight", "objectives", kPlan},
    {"share", "the part of a type in all completions", "objectives", kPlan},
    {"planned", "planned service: each free server takes what a plan says", "objectives", kPlan},
    {"even", "even sharing: the tasks at a resource share it by themselves", "objectives", kPlan},
    {"service", "how tasks share a resource: evenly, or as a plan says", "objectives", kPlan},
    {"latency", "limit the mean time from ready to done: 'max_response'", "scenario", kPlan},
    {"server", "one of the identical units of a resource: one core, one card", "scenario"},
    {"slot", "in job files: a server, as tasks see it", "jobs", "run.md"},
    {"rate", "tasks of a type that one server completes per second if it runs nothing else", "scenario"},
    {"stages", "jobs of several stages: tasks that take the outputs of others", "jobs", "run.md"},
    {"from", "a task type takes the outputs of another as its inputs, as they are ready", "jobs", "run.md"},
    {"after", "a task type starts when all tasks of others are done", "jobs", "run.md"},
    {"journal", "the record of a run, from which it resumes", "jobs", "run.md"},
    {"solver", "finds where each task should run", "solve"},
}};

/// Tables whose rows are such words, too, each with its topic.
constexpr std::array<std::pair<std::string_view, std::string_view>, 13> kTables = {{
    {"resources", "scenario"},
    {"tasks", "scenario"},
    {"capacities", "scenario"},
    {"threads", "scenario"},
    {"population", "scenario"},
    {"arrivals", "scenario"},
    {"scenario", "scenario"},
    {"job-tasks", "jobs"},
    {"job-resources", "jobs"},
    {"job-capacities", "jobs"},
    {"job", "jobs"},
    {"objectives", "objectives"},
    {"policies", "policies"},
}};

std::string pointer(std::string_view word, std::string_view meaning, std::string_view topic,
                    std::string_view guide) {
  std::string text = std::string(word) + ": " + std::string(meaning) + ".\n'allot help " +
                     std::string(topic) + "' says more";
  if (!guide.empty()) text += ", and so does the guide docs/guides/" + std::string(guide);
  return text + ".\n";
}

}  // namespace

std::string explained(std::string_view word) {
  for (const Word& known : kWords) {
    if (known.word == word) return pointer(word, known.meaning, known.topic, known.guide);
  }
  for (const auto& [name, topic] : kTables) {
    for (const auto& [key, meaning] : table(name)) {
      if (key == word) return pointer(word, meaning, topic, "");
    }
  }
  return {};
}

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
