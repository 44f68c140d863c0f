#include "allot/report/journal_trace.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "allot/format/json.hpp"
#include "allot/format/trace_events.hpp"

namespace allot {
namespace {

/// Started, with no recorded end.
bool has_no_end(const AttemptRow& row) {
  return row.status == AttemptStatus::kStarted || (row.status == AttemptStatus::kLost && !(row.wall_s > 0));
}

std::string_view colour_of(AttemptStatus status) noexcept {
  switch (status) {
    case AttemptStatus::kOk:
      return "good";
    case AttemptStatus::kStarted:
      return "thread_state_running";
    case AttemptStatus::kLost:
    case AttemptStatus::kKilled:
      return "bad";
    case AttemptStatus::kFailed:
    case AttemptStatus::kTimeout:
      break;
  }
  return "terrible";
}

std::string arguments_of(const AttemptRow& row) {
  Json object;
  object.add("task", row.task);
  object.add("attempt", row.attempt);
  object.add("status", to_string(row.status));
  object.add("waited_s", row.queue_s);
  object.add("run", row.run);
  object.add("sequence", row.sequence);
  if (has_no_end(row)) {
    object.add("end", row.status == AttemptStatus::kStarted ? "still running, or lost with its run"
                                                            : "not recorded");
  } else {
    object.add("wall_s", row.wall_s);
    object.add("cpu_s", row.user_s + row.sys_s);
    object.add("maxrss_kb", row.maxrss_kb);
  }
  if (row.exit) object.add("exit", *row.exit);
  if (row.signal) object.add("signal", *row.signal);
  if (!row.error.empty()) object.add("error", row.error);
  return object.line();
}

/// The data of a slice for the counters.
struct TracedAttempt {
  std::size_t type = 0;
  std::int64_t run = 0;
  bool has_no_end = false;
  bool is_final = false;
};

/// Counters of a type over time.
struct TypeCounters {
  std::size_t running = 0;
  std::size_t waiting = 0;
};

class JournalTrace {
 public:
  explicit JournalTrace(const JournalReader& journal) : runs_process_(events_.add_process("runs")) {
    journal.for_each_attempt([this](const AttemptRow& row) { add(row); });
    add_runs(journal.runs());
    for (const EventRow& event : journal.events()) {
      const std::int64_t at_ns = trace_time(event.time_unix);
      see(event.run, at_ns);
      events_.moment(runs_process_, at_ns, event.kind, Json::object({{"text", event.text}}).line());
    }
    for (const TaskTotals& total : journal.totals())
      events_.count(counters_[type(total.type)].waiting, origin_ns(), total.tasks);
  }

  std::string json() && {
    for (TraceSlice& slice : slices_) {
      const TracedAttempt& attempt = attempts_[slice.origin];
      if (attempt.has_no_end) slice.end_ns = last_moments_[attempt.run];
    }
    keep_apart(slices_);
    count_tasks();
    std::move(runs_.begin(), runs_.end(), std::back_inserter(slices_));
    return events_.json(std::move(slices_), origin_ns());
  }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t origin_ns() const noexcept { return first_moment_ == kNever ? 0 : first_moment_; }

  std::size_t type(const std::string& name) {
    const auto [at, is_new] = types_.place(name);
    if (is_new) {
      counters_.push_back({events_.add_counter(runs_process_, "running: " + name),
                           events_.add_counter(runs_process_, "waiting: " + name)});
    }
    return at;
  }

  std::size_t process(const std::string& resource) {
    const auto [at, is_new] = resources_.place(resource);
    if (is_new) processes_.push_back(events_.add_process(resource.empty() ? "no resource" : resource));
    return processes_[at];
  }

  /// Notes that something happened at this moment of the run.
  void see(std::int64_t run, std::int64_t at_ns) {
    std::int64_t& last = last_moments_[run];
    last = std::max(last, at_ns);
    if (at_ns > 0) first_moment_ = std::min(first_moment_, at_ns);
  }

  void add(const AttemptRow& row) {
    TraceSlice slice;
    slice.process = process(row.resource);
    slice.slot = row.slot;
    slice.start_ns = trace_time(row.start_unix);
    slice.end_ns = trace_time(row.start_unix + std::max(row.wall_s, 0.0));
    slice.name = row.type;
    slice.category = "attempt";
    slice.colour = colour_of(row.status);
    slice.arguments = arguments_of(row);
    slice.origin = attempts_.size();
    see(row.run, slice.start_ns);
    see(row.run, slice.end_ns);
    slices_.push_back(std::move(slice));
    attempts_.push_back({type(row.type), row.run, has_no_end(row), row.is_final});
  }

  void add_runs(const std::vector<RunRow>& rows) {
    for (const RunRow& row : rows) {
      see(row.run, trace_time(row.start_unix));
      if (row.end_unix) see(row.run, trace_time(*row.end_unix));
      TraceSlice slice;
      slice.process = runs_process_;
      slice.start_ns = trace_time(row.start_unix);
      slice.end_ns = last_moments_[row.run];
      slice.name = "run " + std::to_string(row.run);
      slice.category = "run";
      slice.arguments = Json::object({{"run", row.id},
                                      {"job", row.job},
                                      {"objective", row.objective},
                                      {"policy", row.policy},
                                      {"version", row.version},
                                      {"start_unix", row.start_unix},
                                      {"outcome", row.end_unix ? Json(row.outcome) : Json()}})
                            .line();
      runs_.push_back(std::move(slice));
    }
  }

  /// Counts by type: the running tasks, and those that have no final record and do not run.
  void count_tasks() {
    for (const TraceSlice& slice : slices_) {
      const TracedAttempt& attempt = attempts_[slice.origin];
      const TypeCounters& counters = counters_[attempt.type];
      events_.count(counters.running, slice.start_ns, 1);
      events_.count(counters.running, slice.end_ns, -1);
      events_.count(counters.waiting, slice.start_ns, -1);
      if (!attempt.is_final) events_.count(counters.waiting, slice.end_ns, 1);
    }
  }

  TraceEvents events_;
  std::size_t runs_process_;
  NameOrder types_;
  std::vector<TypeCounters> counters_;  // by type
  NameOrder resources_;
  std::vector<std::size_t> processes_;  // by resource
  std::vector<TraceSlice> slices_;      // of attempts
  std::vector<TracedAttempt> attempts_;
  std::vector<TraceSlice> runs_;
  std::map<std::int64_t, std::int64_t> last_moments_;  // by run
  std::int64_t first_moment_ = kNever;
};

}  // namespace

std::string journal_trace(const JournalReader& journal) { return JournalTrace(journal).json(); }

}  // namespace allot
