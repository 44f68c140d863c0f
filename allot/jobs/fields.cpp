#include "allot/jobs/fields.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace allot {
namespace {

constexpr double kMostSlots = 100'000;
// A zero byte cannot be in an argument or a path.
constexpr Special kPath = {"string", R"({"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"})"};
constexpr Special kTypeName = {"string", R"({"type": "string", "minLength": 1})"};
constexpr Special kDirectory = {"string", R"({"type": "string", "pattern": "^[^\\u0000]*$"})"};
constexpr Special kFlag = {"true or false", R"({"type": "boolean"})"};
constexpr Special kInputs = {
    "string or array of strings",
    R"({"type": ["string", "array"], "minLength": 1, "pattern": "^[^\\u0000]*$", "minItems": 1,
                                 "items": {"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}})"};
constexpr Special kTypeNames = {"string or array of strings",
                                R"({"type": ["string", "array"], "minLength": 1,
        "items": {"type": "string", "minLength": 1, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}})"};
constexpr Special kLaunch = {
    "string or array of strings",
    R"({"type": ["string", "array"], "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$", "minItems": 1,
        "prefixItems": [{"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}],
        "items": {"type": "string", "pattern": "^[^\\u0000]*$"}})"};
/// Its words begin with a program. In a shell it is one string: tools/fields adds that.
constexpr Special kCommand = {
    "string, array of strings, or a table of them by resource",
    R"({"type": ["string", "array", "object"], "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$", "minItems": 1, "minProperties": 1,
        "prefixItems": [{"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}],
        "items": {"type": "string", "pattern": "^[^\\u0000]*$"},
        "additionalProperties": {"type": ["string", "array"], "pattern": "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$", "minItems": 1,
                                 "prefixItems": [{"type": "string", "minLength": 1, "pattern": "^[^\\u0000]*$"}],
                                 "items": {"type": "string", "pattern": "^[^\\u0000]*$"}}})"};
constexpr Special kTimeout = {
    "seconds > 0, or a text such as `\"30s\"`",
    R"({"type": ["number", "string"], "exclusiveMinimum": 0, "maximum": 1e9, "format": "duration"})"};
constexpr Special kVariables = {
    "table: name = string",
    R"({"type": "object", "propertyNames": {"pattern": "^(?!ALLOT_)[^=\\u0000]+$"},
        "additionalProperties": {"type": ["string", "integer"], "pattern": "^[^\\u0000]*$",
                                 "minimum": -9223372036854775808, "maximum": 9223372036854775807}})"};
constexpr Special kTables = {"array of tables", ""};

// clang-format off
constexpr std::array<Field<Resource>, 2> kResource = {{
    {.key = "env", .member = kVariables,
     .help = "environment variables for its tasks; values may contain placeholders (not `{out}`, not columns)", .absent = "none"},
    {.key = "launch", .member = kLaunch,
     .help = "prefix that starts a worker on another machine, such as `[\"srun\", \"-p\", \"gpu\", \"-n1\"]` or `[\"ssh\", \"node7\"]`",
     .absent = "tasks run on this machine"},
}};

constexpr std::array<Field<TaskClass>, 17> kTask = {{
    {.key = "name", .member = &TaskClass::name, .help = "a unique name", .required = true},
    {.key = "count", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 1000000000})"},
     .help = "maximum tasks of the type in flight, over all resources", .absent = "enough to keep every slot busy"},
    {.key = "inputs", .member = kInputs, .help = "a pattern, a value, or an array of them", .absent = "none; give exactly one of `inputs`, `inputs_from`, `repeat` and `from`"},
    {.key = "inputs_from", .member = kPath,
     .help = "instead: a file with one input per line, or a table if its name ends in `.csv`; `\"-\"`: the lines of standard input, for one type",
     .absent = "none"},
    {.key = "repeat", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 10000000})"},
     .help = "instead: this many tasks, with the inputs `1`, `2`, ...", .absent = "none"},
    {.key = "from", .member = kTypeName,
     .help = "instead: a task type; each of its tasks that succeeds gives one task here, with its output as the input",
     .absent = "none"},
    {.key = "after", .member = kTypeNames, .help = "task types that must succeed completely before these tasks start", .absent = "none"},
    {.key = "command", .member = kCommand,
     .help = "the command for each resource, or one for all", .required = true},
    {.key = "shell", .member = kFlag, .help = "`true`: the command is a string for `sh -c`", .absent = "false"},
    {.key = "output", .member = kPath,
     .help = "output file. It is written under a temporary name, `{out}`, and renamed when the task succeeds, so an output that exists is complete. If neither the command nor `env` contains `{out}`, standard output goes there",
     .absent = "none"},
    {.key = "at_most", .member = Special{"whole, >= 1", R"({"type": "integer", "minimum": 1, "maximum": 1000000000})"},
     .help = "maximum outputs of this type that are being made, waiting, or in use", .absent = "no limit"},
    {.key = "keep", .member = kFlag, .help = "`false`: an output is removed when every task that uses it is done", .absent = "true"},
    {.key = "timeout", .member = kTimeout,
     .help = "`\"500ms\"`, `\"30s\"`, `\"5m\"`, `\"1.5h\"`, `\"1d\"`: time limit of a task", .absent = "none"},
    {.key = "retries", .member = Special{"whole, 0 to 1000", R"({"type": "integer", "minimum": 0, "maximum": 1000})"},
     .help = "retries after a failure", .absent = "that of the run"},
    {.key = "env", .member = kVariables, .help = "environment variables, set after those of the resource; values may contain placeholders", .absent = "none"},
    {.key = "directory", .member = kDirectory, .help = "the working directory", .absent = "the job's folder"},
    {.key = "rates", .member = Special{"table: resource = number", R"({"type": "object", "additionalProperties": {"type": "number", "maximum": 1e100, "anyOf": [{"const": 0}, {"minimum": 1e-100}]}})"},
     .help = "tasks per second on each resource, as far as known", .absent = "none"},
}};

constexpr std::array<Field<Capacity>, 1> kCapacity = {{
    {.key = "per", .member = Special{"`\"all\"`, `\"machine\"`", R"({"enum": ["all", "machine"], "default": "all"})"},
     .help = "whether the amount is for all tasks together, or for this machine and for each resource with `launch` separately",
     .absent = "`\"all\"`"},
}};

constexpr std::array<Field<Job>, 6> kJob = {{
    {.key = "name", .member = &Job::name, .help = "a title"},
    {.key = "outputs_anywhere", .member = &Job::outputs_anywhere, .help = "allow outputs outside the job's folder"},
    {.key = "record_env", .member = &Job::record_env,
     .help = "keep the values of `env` in the journal; otherwise it keeps digests, which reveal changes but not values"},
    {.key = "resources", .member = kTables, .help = "at least one resource", .required = true},
    {.key = "tasks", .member = kTables, .help = "at least one task type", .required = true},
    {.key = "capacities", .member = kTables, .help = "what tasks need besides a slot of their resource", .absent = "none"},
}};
// clang-format on

/// The rows of jobs, then the rows of scenarios for all other keys.
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
    field.help = "slots: tasks at a time; slots are numbered from 0";
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
