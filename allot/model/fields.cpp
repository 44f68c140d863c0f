#include "allot/model/fields.hpp"

#include <array>

namespace allot {
namespace {

/// The smallest value of a number that must be positive.
constexpr double kPositive = 1 / kMaxNumber;
constexpr auto kMost = static_cast<double>(kMaxCount);
constexpr std::array<std::string_view, 2> kKinds = {"gp", "sa"};
constexpr std::array<std::string_view, 2> kDisciplines = {"ps", "fcfs"};
constexpr Special kTables = {"array of tables", ""};
constexpr Special kRates = {"table: resource = number",
                            R"({"type": "object", "additionalProperties": {"type": "number", "maximum": 1e100,
                                                  "anyOf": [{"const": 0}, {"minimum": 1e-100}]}})"};

// clang-format off
constexpr std::array<Field<Resource>, 7> kResource = {{
    {.key = "name", .member = &Resource::name, .help = "a unique name", .required = true},
    {.key = "kind", .member = &Resource::kind,
     .help = "a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one",
     .column = "kinds", .words = kKinds},
    {.key = "servers", .member = &Resource::servers, .help = "number of identical servers, such as cores or cards",
     .least = 1, .most = kMost, .column = "servers"},
    {.key = "discipline", .member = &Resource::discipline,
     .help = "`ps`: tasks share it evenly; `fcfs`: first come, first served",
     .column = "disciplines", .words = kDisciplines},
    {.key = "min_depth", .member = &Resource::min_depth,
     .help = "minimum tasks when used at all; 2 hides the launch latency of a device",
     .least = 1, .most = kMost, .column = "min_depths"},
    {.key = "power", .member = &Resource::power, .help = "power of a busy server", .unit = "W", .column = "powers"},
    {.key = "idle_power", .member = &Resource::idle_power, .help = "power of an idle server",
     .unit = "W", .column = "idle_powers"},
}};

constexpr std::array<Field<TaskClass>, 10> kTask = {{
    {.key = "name", .member = &TaskClass::name, .help = "a unique name", .required = true},
    {.key = "count", .member = &TaskClass::count, .help = "number of threads; each always has one task of this type",
     .absent = "required; 0 for a type in `threads`, `population` or `arrivals`", .most = kMost, .column = "counts"},
    {.key = "home", .member = &TaskClass::home, .help = "home resource, where the type must be able to run",
     .absent = "the fastest resource (of equals, the first)", .column = "homes"},
    {.key = "priority", .member = &TaskClass::priority,
     .help = "desired share of all completions, as a weight (weights are divided by their sum); for all types or for none, not all 0",
     .column = "priorities"},
    {.key = "floor", .member = &TaskClass::floor, .help = "minimum completions per second",
     .unit = "tasks/s", .column = "floors"},
    {.key = "worth", .member = &TaskClass::worth, .help = "value of one completion", .column = "worths"},
    {.key = "max_response", .member = &TaskClass::max_response,
     .help = "maximum mean time from ready to done, in seconds, or a text such as 200ms", .least = kPositive, .unit = "s", .column = "max_responses", .is_for_jobs = false},
    {.key = "power", .member = &TaskClass::power,
     .help = "power of a server while it runs this type", .absent = "the `power` of the resource", .unit = "W", .is_for_jobs = false},
    {.key = "needs", .member = &TaskClass::needs,
     .help = "for each resource, what a task needs of each capacity while it runs there; the name of a resource means its servers",
     .absent = "1 of the resource where it runs", .least = kPositive, .column = "needs"},
    {.key = "rates", .member = kRates,
     .help = "tasks per second of one server that runs nothing else: 1 / seconds per task; absent or 0: it cannot run there. A rate > 0 is at least 1e-100",
     .absent = "none", .unit = "tasks/s"},
}};

constexpr std::array<Field<Capacity>, 3> kCapacity = {{
    {.key = "name", .member = &Capacity::name, .help = "a unique name, also among resources", .required = true},
    {.key = "amount", .member = &Capacity::amount, .help = "how much there is", .least = kPositive, .column = "amounts"},
    {.key = "shared", .member = &Capacity::shared,
     .help = "`true`: when overdrawn, all tasks that use it slow down; `false`: tasks wait until it is free", .column = "shared"},
}};

constexpr std::array<Field<ThreadGroup>, 5> kThread = {{
    {.key = "name", .member = &ThreadGroup::name, .help = "name of the group"},
    {.key = "count", .member = &ThreadGroup::count, .help = "number of threads; at most 1,000,000,000 over all groups",
     .least = 1, .most = kMost},
    {.key = "sequence", .member = &ThreadGroup::sequence, .help = "the task types that each thread runs in turn, over and over",
     .required = true},
    {.key = "worth", .member = &ThreadGroup::worth, .help = "value of one round through the sequence"},
    {.key = "max_response", .member = &ThreadGroup::max_response, .help = "maximum mean time of one round",
     .least = kPositive, .unit = "s"},
}};

constexpr std::array<Field<PopulationChange>, 3> kPopulation = {{
    {.key = "at", .member = &PopulationChange::at, .help = "the time of the change", .required = true, .unit = "s"},
    {.key = "task", .member = &PopulationChange::task, .help = "the task type whose count changes", .required = true},
    {.key = "change", .member = &PopulationChange::change, .help = "the threads added, or removed if negative",
     .required = true, .least = -kMost, .most = kMost},
}};

constexpr std::array<Field<Arrivals>, 2> kArrival = {{
    {.key = "task", .member = &Arrivals::task, .help = "the task type that arrives", .required = true},
    {.key = "rate", .member = &Arrivals::rate, .help = "the arrivals per second", .required = true, .unit = "tasks/s"},
}};

constexpr std::array<Field<MeasuredRate>, 8> kMeasured = {{
    {.key = "task", .member = &MeasuredRate::task, .help = "the task type that was measured", .required = true},
    {.key = "resource", .member = &MeasuredRate::resource, .help = "where it was measured", .required = true},
    {.key = "low", .member = &MeasuredRate::low, .help = "the lower end of the rate's 95% interval", .required = true},
    {.key = "high", .member = &MeasuredRate::high, .help = "the upper end of the rate's 95% interval", .required = true},
    {.key = "runs", .member = &MeasuredRate::runs, .help = "number of runs measured", .most = kMost},
    {.key = "alone", .member = &MeasuredRate::alone, .help = "the rate while nothing else runs"},
    {.key = "mixed", .member = &MeasuredRate::mixed, .help = "the rate while all resources run a mix"},
    {.key = "converged", .member = &MeasuredRate::converged, .help = "whether the interval reached the precision asked for"},
}};

constexpr std::array<Field<ScenarioParts>, 9> kScenario = {{
    {.key = "name", .member = &ScenarioParts::name, .help = "a title"},
    {.key = "power_cap", .member = &ScenarioParts::power_cap,
     .help = "maximum mean power of the whole machine", .unit = "W"},
    {.key = "resources", .member = kTables, .help = "at least one resource", .required = true},
    {.key = "tasks", .member = kTables, .help = "at least one task type", .required = true},
    {.key = "capacities", .member = kTables, .help = "what tasks need besides a server of their resource", .absent = "none"},
    {.key = "threads", .member = kTables, .help = "threads that run several task types in turn, instead of counts", .absent = "none"},
    {.key = "population", .member = kTables, .help = "changes of the counts over time", .absent = "none"},
    {.key = "arrivals", .member = kTables, .help = "tasks that arrive from outside and leave when done", .absent = "none"},
    {.key = "measured", .member = kTables, .help = "how the rates were measured: `allot profile` writes it", .absent = "none"},
}};
// clang-format on

}  // namespace

std::span<const Field<Resource>> resource_fields() noexcept { return kResource; }
std::span<const Field<TaskClass>> task_fields() noexcept { return kTask; }
std::span<const Field<Capacity>> capacity_fields() noexcept { return kCapacity; }
std::span<const Field<ThreadGroup>> thread_fields() noexcept { return kThread; }
std::span<const Field<PopulationChange>> population_fields() noexcept { return kPopulation; }
std::span<const Field<Arrivals>> arrival_fields() noexcept { return kArrival; }
std::span<const Field<MeasuredRate>> measured_fields() noexcept { return kMeasured; }
std::span<const Field<ScenarioParts>> scenario_fields() noexcept { return kScenario; }

}  // namespace allot
