#include "allot/model/fields.hpp"

#include <array>

namespace allot {
namespace {

/// What must be above 0 is at least this.
constexpr double kPositive = 1 / kMaxNumber;
constexpr auto kMost = static_cast<double>(kMaxCount);
constexpr std::array<std::string_view, 2> kKinds = {"gp", "sa"};
constexpr std::array<std::string_view, 2> kDisciplines = {"ps", "fcfs"};
constexpr Special kTables = {"array of tables", ""};
constexpr Special kRates = {
    "table: resource = number",
    R"({"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1e100}})"};

// clang-format off
constexpr std::array<Field<Resource>, 7> kResource = {{
    {.key = "name", .member = &Resource::name, .help = "a resource is known by it", .required = true},
    {.key = "kind", .member = &Resource::kind,
     .help = "a general processor runs every type that has a rate on it; on a specialised accelerator at most one type may have one",
     .column = "kinds", .words = kKinds},
    {.key = "servers", .member = &Resource::servers, .help = "identical units behind one queue",
     .least = 1, .most = kMost, .column = "servers"},
    {.key = "discipline", .member = &Resource::discipline,
     .help = "the tasks there share it evenly, or are served first come, first served",
     .column = "disciplines", .words = kDisciplines},
    {.key = "min_depth", .member = &Resource::min_depth,
     .help = "it gets no task or at least this many: a device with launch latency wants 2",
     .least = 1, .most = kMost, .column = "min_depths"},
    {.key = "power", .member = &Resource::power, .help = "watts of one busy server", .unit = "W", .column = "powers"},
    {.key = "idle_power", .member = &Resource::idle_power, .help = "watts of one idle server",
     .unit = "W", .column = "idle_powers"},
}};

constexpr std::array<Field<TaskClass>, 10> kTask = {{
    {.key = "name", .member = &TaskClass::name, .help = "a task is known by it", .required = true},
    {.key = "count", .member = &TaskClass::count, .help = "the number of threads whose tasks are of this type",
     .absent = "see below", .most = kMost, .column = "counts"},
    {.key = "home", .member = &TaskClass::home, .help = "where the type belongs; it must be able to run there",
     .absent = "the fastest one, the first of equals", .column = "homes"},
    {.key = "priority", .member = &TaskClass::priority,
     .help = "weight of its desired share of all completions; for all types or for none, not all 0. Weights are divided by their sum",
     .column = "priorities"},
    {.key = "floor", .member = &TaskClass::floor, .help = "at least this many completions per second",
     .unit = "tasks/s", .column = "floors"},
    {.key = "worth", .member = &TaskClass::worth, .help = "the value of one completion", .column = "worths"},
    {.key = "max_response", .member = &TaskClass::max_response,
     .help = "mean seconds from ready to done, at most this", .least = kPositive, .unit = "s", .column = "max_responses", .is_for_jobs = false},
    {.key = "power", .member = &TaskClass::power,
     .help = "watts of a server at work on this type", .absent = "the `power` of the resource", .unit = "W", .is_for_jobs = false},
    {.key = "needs", .member = &TaskClass::needs,
     .help = "for each resource where it can run: what a task takes of capacities while it is in service. The name of a resource stands for its servers",
     .absent = "1 of the resource where it runs", .least = kPositive, .column = "needs"},
    {.key = "rates", .member = kRates,
     .help = "tasks per second of one unit that works on nothing else; absent or 0: it cannot run there. A rate > 0 is at least 1e-100",
     .absent = "none", .unit = "tasks/s"},
}};

constexpr std::array<Field<Capacity>, 3> kCapacity = {{
    {.key = "name", .member = &Capacity::name, .help = "a capacity is known by it; no resource has the same name", .required = true},
    {.key = "amount", .member = &Capacity::amount, .help = "how much of it there is", .least = kPositive, .column = "amounts"},
    {.key = "shared", .member = &Capacity::shared,
     .help = "whether all go on, more slowly, when it is overdrawn; else who does not get it waits", .column = "shared"},
}};

constexpr std::array<Field<ThreadGroup>, 5> kThread = {{
    {.key = "name", .member = &ThreadGroup::name, .help = "what the group is called"},
    {.key = "count", .member = &ThreadGroup::count, .help = "how many such threads; at most 1,000,000,000 over all groups",
     .least = 1, .most = kMost},
    {.key = "sequence", .member = &ThreadGroup::sequence, .help = "the task types that each thread runs, over and over",
     .required = true},
    {.key = "worth", .member = &ThreadGroup::worth, .help = "the value of one round through the sequence"},
    {.key = "max_response", .member = &ThreadGroup::max_response, .help = "mean seconds of one round, at most this",
     .least = kPositive, .unit = "s"},
}};

constexpr std::array<Field<PopulationChange>, 3> kPopulation = {{
    {.key = "at", .member = &PopulationChange::at, .help = "the time of the change in seconds", .required = true, .unit = "s"},
    {.key = "task", .member = &PopulationChange::task, .help = "the task type whose count changes", .required = true},
    {.key = "change", .member = &PopulationChange::change, .help = "how many threads come, or go when negative",
     .required = true, .least = -kMost, .most = kMost},
}};

constexpr std::array<Field<Arrivals>, 2> kArrival = {{
    {.key = "task", .member = &Arrivals::task, .help = "the type of the tasks that arrive", .required = true},
    {.key = "rate", .member = &Arrivals::rate, .help = "how many arrive per second", .required = true, .unit = "tasks/s"},
}};

constexpr std::array<Field<MeasuredRate>, 8> kMeasured = {{
    {.key = "task", .member = &MeasuredRate::task, .help = "the task type that was measured", .required = true},
    {.key = "resource", .member = &MeasuredRate::resource, .help = "where it was measured", .required = true},
    {.key = "low", .member = &MeasuredRate::low, .help = "the lower end of the rate's 95% interval", .required = true},
    {.key = "high", .member = &MeasuredRate::high, .help = "the upper end of the rate's 95% interval", .required = true},
    {.key = "runs", .member = &MeasuredRate::runs, .help = "the number of runs that it rests on", .most = kMost},
    {.key = "alone", .member = &MeasuredRate::alone, .help = "the rate while nothing else runs"},
    {.key = "mixed", .member = &MeasuredRate::mixed, .help = "the rate while all resources run a mix"},
    {.key = "converged", .member = &MeasuredRate::converged, .help = "whether the interval reached the precision asked for"},
}};

constexpr std::array<Field<ScenarioParts>, 9> kScenario = {{
    {.key = "name", .member = &ScenarioParts::name, .help = "a title"},
    {.key = "power_cap", .member = &ScenarioParts::power_cap,
     .help = "watts, the mean power of the whole machine is at most this", .unit = "W"},
    {.key = "resources", .member = kTables, .help = "at least one resource", .required = true},
    {.key = "tasks", .member = kTables, .help = "at least one task type", .required = true},
    {.key = "capacities", .member = kTables, .help = "what tasks draw on besides the servers of the resource where they run", .absent = "none"},
    {.key = "threads", .member = kTables, .help = "threads whose task types change, instead of the counts", .absent = "none"},
    {.key = "population", .member = kTables, .help = "changes of the counts over time", .absent = "none"},
    {.key = "arrivals", .member = kTables, .help = "tasks that come from outside and leave when done", .absent = "none"},
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
