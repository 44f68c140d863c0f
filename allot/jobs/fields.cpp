#include "allot/jobs/fields.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace allot {
namespace {

constexpr double kMostSlots = 100'000;
constexpr Special kText = {"string", R"({"type": "string"})"};
constexpr Special kFlag = {"true or false", R"({"type": "boolean"})"};
constexpr Special kWords = {"string or array of strings",
                            R"({"type": ["string", "array"], "items": {"type": "string"}})"};
constexpr Special kVariables = {
    "table: name = string", R"({"type": "object", "additionalProperties": {"type": ["string", "integer"]}})"};
constexpr Special kTables = {"array of tables", ""};

// clang-format off
constexpr std::array<Field<Resource>, 2> kResource = {{
    {.key = "env", .member = kVariables,
     .help = "variables for its tasks; values may hold placeholders (not `{out}`, not columns)", .absent = "none"},
    {.key = "launch", .member = kWords,
     .help = "words that start a worker elsewhere, such as `[\"srun\", \"-p\", \"gpu\", \"-n1\"]` or `[\"ssh\", \"node7\"]`",
     .absent = "tasks run on this machine"},
}};

constexpr std::array<Field<TaskClass>, 17> kTask = {{
    {.key = "name", .member = &TaskClass::name, .help = "a task is known by it", .required = true},
    {.key = "count", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 1000000000})"},
     .help = "most tasks of the type in flight at once, over all resources", .absent = "enough to keep every slot busy"},
    {.key = "inputs", .member = kWords, .help = "a pattern or a value, or an array of them: see below", .absent = "one of these four"},
    {.key = "inputs_from", .member = kText,
     .help = "instead: a file, with one input per line or, where its name ends in `.csv`, a table; `\"-\"`: the lines of standard input, for one type",
     .absent = "one of these four"},
    {.key = "repeat", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 10000000})"},
     .help = "instead: this many tasks, with the inputs `1`, `2`, ...", .absent = "one of these four"},
    {.key = "from", .member = kText,
     .help = "instead: a task type; one task for each of its tasks, as soon as that has succeeded, with its output as the input: see [stages](#stages)",
     .absent = "one of these four"},
    {.key = "after", .member = kWords, .help = "task types: none of these tasks starts before all of those have ended well", .absent = "none"},
    {.key = "command", .member = Special{"string, array of strings, or a table of them by resource", R"({"type": ["string", "array", "object"], "items": {"type": "string"},
                         "additionalProperties": {"type": ["string", "array"], "items": {"type": "string"}}})"},
     .help = "what to run: for each resource, or one for all", .required = true},
    {.key = "shell", .member = kFlag, .help = "`true`: the command is a string for `sh -c`; see below", .absent = "false"},
    {.key = "output", .member = kText,
     .help = "the file that the task makes. It is written under a temporary name, `{out}`, and put in its place when the task has succeeded, so a file that is there is whole. Where neither the command nor `env` holds `{out}`, it is the task's standard output that goes there",
     .absent = "none"},
    {.key = "at_most", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 1000000000})"},
     .help = "outputs of this type, for others to take, that there are at once: being made, waiting, or being worked on", .absent = "no limit"},
    {.key = "keep", .member = kFlag, .help = "`false`: an output is removed when all who take it are done", .absent = "true"},
    {.key = "timeout", .member = Special{"seconds > 0, or a text such as `\"30s\"`", R"({"type": ["number", "string"]})"},
     .help = "`\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1.5h\"`, `\"1d\"`: how long a task may run", .absent = "none"},
    {.key = "retries", .member = Special{"whole, 0 to 1000", R"({"type": "integer", "minimum": 0, "maximum": 1000})"},
     .help = "how often a task is tried again after it failed", .absent = "that of the run"},
    {.key = "env", .member = kVariables, .help = "variables, set after those of the resource; values may hold placeholders", .absent = "none"},
    {.key = "directory", .member = kText, .help = "the working directory", .absent = "the job's folder"},
    {.key = "rates", .member = Special{"table: resource = number", R"({"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1e100}})"},
     .help = "tasks per second by resource, as far as known beforehand", .absent = "none"},
}};

constexpr std::array<Field<Capacity>, 1> kCapacity = {{
    {.key = "per", .member = Special{"`\"all\"`, `\"machine\"`", R"({"enum": ["all", "machine"], "default": "all"})"},
     .help = "the amount is for all tasks wherever they run, or this machine has so much, and so has each resource with `launch`",
     .absent = "`\"all\"`"},
}};

constexpr std::array<Field<Job>, 6> kJob = {{
    {.key = "name", .member = &Job::name, .help = "a title"},
    {.key = "outputs_anywhere", .member = &Job::outputs_anywhere, .help = "outputs may lie outside of the job's folder, too"},
    {.key = "record_env", .member = &Job::record_env,
     .help = "the journal has the values of `env` as they are; otherwise digests, which tell a change and not the value"},
    {.key = "resources", .member = kTables, .help = "at least one resource", .required = true},
    {.key = "tasks", .member = kTables, .help = "at least one task type", .required = true},
    {.key = "capacities", .member = kTables, .help = "what tasks draw on besides the slots of the resource where they run", .absent = "none"},
}};
// clang-format on

/// The rows of jobs, then those of scenarios that have none there.
std::vector<Field<TaskClass>> task_rows() {
  std::vector<Field<TaskClass>> rows(kTask.begin(), kTask.end());
  for (const Field<TaskClass>& field : task_fields()) {
    const bool has_own =
        std::any_of(kTask.begin(), kTask.end(), [&](const auto& own) { return own.key == field.key; });
    if (!has_own && field.is_for_jobs) rows.push_back(field);
  }
  return rows;
}

std::vector<Field<Resource>> resource_rows() {
  std::vector<Field<Resource>> rows(resource_fields().begin(), resource_fields().end());
  for (Field<Resource>& field : rows) {
    if (field.key != "servers") continue;
    field.help = "tasks at once: its slots, numbered from 0";
    field.most = kMostSlots;
  }
  rows.insert(rows.end(), kResource.begin(), kResource.end());
  return rows;
}

}  // namespace

std::span<const Field<Resource>> job_resource_fields() {
  static const std::vector<Field<Resource>> rows = resource_rows();
  return rows;
}

std::span<const Field<TaskClass>> job_task_fields() {
  static const std::vector<Field<TaskClass>> rows = task_rows();
  return rows;
}

std::span<const Field<Capacity>> job_capacity_fields() {
  static const std::vector<Field<Capacity>> rows = [] {
    std::vector<Field<Capacity>> all(capacity_fields().begin(), capacity_fields().end());
    all.insert(all.end(), kCapacity.begin(), kCapacity.end());
    return all;
  }();
  return rows;
}

std::span<const Field<Job>> job_fields() noexcept { return kJob; }

}  // namespace allot
