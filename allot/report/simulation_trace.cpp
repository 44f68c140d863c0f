#include "allot/report/simulation_trace.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/format/json.hpp"
#include "allot/format/trace_events.hpp"

namespace allot {
namespace {

constexpr std::size_t kFields = 8;  // plus the policy, if there are several

[[noreturn]] void refuse(std::size_t line, const std::string& problem) {
  throw InvalidModel("line " + std::to_string(line), problem);
}

/// Records of comma-separated values (RFC 4180).
class CsvRecords {
 public:
  explicit CsvRecords(std::istream& in) : in_(in) {}
  std::size_t line() const noexcept { return line_; }  ///< where the record began

  /// False at the end.
  bool next(std::vector<std::string>& fields) {
    fields.assign(1, "");
    line_ = next_line_;
    bool is_quoted = false;
    bool is_empty = true;
    for (int c = in_.get(); c != std::istream::traits_type::eof(); c = in_.get()) {
      is_empty = false;
      if (c == '\n') ++next_line_;
      if (is_quoted) {
        if (c != '"') {
          fields.back() += static_cast<char>(c);
        } else if (in_.peek() == '"') {
          fields.back() += static_cast<char>(in_.get());
        } else {
          is_quoted = false;
        }
      } else if (c == '"' && fields.back().empty()) {
        is_quoted = true;
      } else if (c == ',') {
        fields.emplace_back();
      } else if (c == '\n') {
        return true;
      } else if (c != '\r') {
        fields.back() += static_cast<char>(c);
      }
    }
    if (is_quoted) refuse(line_, "a quote is not closed");
    return !is_empty;
  }

 private:
  std::istream& in_;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

template <typename Number>
Number number_of(const std::string& text, const char* column, std::size_t line) {
  const auto value = number_in<Number>(text);
  if (!value || !(*value >= 0) || !(*value <= static_cast<Number>(9e9)))
    refuse(line, "'" + std::string(column) + "' must be a number from 0 to 9e9, is " + quote::name(text));
  return *value;
}

/// A task in the system.
struct TracedTask {
  std::size_t process = 0;
  std::size_t type = 0;
  std::int64_t placed_ns = 0;
  std::optional<std::int64_t> start_ns;
  std::int64_t slot = 0;
  std::uint64_t thread = 0;
  double size = 0;
  std::string name;
};

/// The slots of a resource; a task takes the first that is free.
class SlotPool {
 public:
  std::int64_t take() {
    if (free_.empty()) return used_++;
    const std::int64_t first = *free_.begin();
    free_.erase(free_.begin());
    return first;
  }
  void give_back(std::int64_t slot) { free_.insert(slot); }

 private:
  std::set<std::int64_t> free_;
  std::int64_t used_ = 0;
};

class SimulationTrace {
 public:
  void add(const std::vector<std::string>& fields, std::size_t line) {
    const std::string policy = fields.size() > kFields ? fields[kFields] : "";
    if (policy != policy_) {
      finish();  // ends the tasks of the policy before
      policy_ = policy;
    }
    const std::int64_t at_ns = trace_time(number_of<double>(fields[0], "time", line));
    last_ns_ = std::max(last_ns_, at_ns);
    first_ns_ = std::min(first_ns_, at_ns);
    const std::string& event = fields[1];
    const auto id = number_of<std::uint64_t>(fields[2], "task", line);
    if (event == "place") return place(id, fields, at_ns, line);
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) refuse(line, "task " + fields[2] + " is in no place");
    if (event == "start") return start(found->second, at_ns, line);
    if (event != "complete")
      refuse(line, "'event' must be place, start or complete, is " + quote::name(event));
    if (!found->second.start_ns) refuse(line, "task " + fields[2] + " has not been started");
    complete(id, found->second, at_ns, true);
    tasks_.erase(found);
  }

  std::string json() && {
    finish();
    const std::int64_t origin_ns = slices_.empty() ? 0 : first_ns_;
    return events_.json(std::move(slices_), origin_ns);
  }

 private:
  struct TypeCounters {
    std::size_t running = 0;
    std::size_t waiting = 0;
  };

  void place(std::uint64_t id, const std::vector<std::string>& fields, std::int64_t at_ns, std::size_t line) {
    if (tasks_.contains(id)) refuse(line, "task " + fields[2] + " is placed already");
    TracedTask task;
    task.name = fields[4];
    task.type = type(fields[4]);
    task.process = process(fields[5]);
    task.placed_ns = at_ns;
    task.thread = number_of<std::uint64_t>(fields[3], "thread", line);
    task.size = number_of<double>(fields[6], "size", line);
    events_.count(counters_[task.type].waiting, at_ns, 1);
    tasks_.emplace(id, std::move(task));
  }

  void start(TracedTask& task, std::int64_t at_ns, std::size_t line) {
    if (task.start_ns) refuse(line, "the task is started already");
    task.start_ns = at_ns;
    task.slot = pools_[task.process].take();
    events_.count(counters_[task.type].waiting, at_ns, -1);
    events_.count(counters_[task.type].running, at_ns, 1);
  }

  void complete(std::uint64_t id, const TracedTask& task, std::int64_t at_ns, bool is_done) {
    Json object;
    object.add("task", id);
    object.add("thread", task.thread);
    object.add("status", is_done ? "ok" : "started");
    object.add("waited_s", static_cast<double>(*task.start_ns - task.placed_ns) / 1e9);
    object.add("size", task.size);
    if (!policy_.empty()) object.add("policy", policy_);
    if (!is_done) object.add("end", "after the recording");
    slices_.push_back({task.process, task.slot, *task.start_ns, at_ns, task.name, "task",
                       is_done ? "good" : "thread_state_running", object.line()});
    pools_[task.process].give_back(task.slot);
    events_.count(counters_[task.type].running, at_ns, -1);
  }

  /// The recording of a policy has ended.
  void finish() {
    for (const auto& [id, task] : tasks_) {
      if (task.start_ns) {
        complete(id, task, last_ns_, false);
      } else {
        events_.count(counters_[task.type].waiting, last_ns_, -1);
      }
    }
    tasks_.clear();
    last_ns_ = 0;
  }

  std::string prefix() const { return policy_.empty() ? "" : policy_ + ": "; }

  std::size_t type(const std::string& name) {
    if (!tasks_process_ || counted_policy_ != policy_) {
      tasks_process_ = events_.add_process(prefix() + "tasks");
      counted_policy_ = policy_;
    }
    const auto [at, is_new] = types_.place(policy_ + '\n' + name);
    if (is_new) {
      counters_.push_back({events_.add_counter(*tasks_process_, "running: " + name),
                           events_.add_counter(*tasks_process_, "waiting: " + name)});
    }
    return at;
  }

  std::size_t process(const std::string& resource) {
    const auto [at, is_new] = resources_.place(policy_ + '\n' + resource);
    if (is_new) processes_.push_back(events_.add_process(prefix() + resource));
    return processes_[at];
  }

  TraceEvents events_;
  std::string policy_;
  std::string counted_policy_;
  std::optional<std::size_t> tasks_process_;
  NameOrder types_;
  std::vector<TypeCounters> counters_;  // by type
  NameOrder resources_;
  std::vector<std::size_t> processes_;         // by resource
  std::map<std::size_t, SlotPool> pools_;      // by process
  std::map<std::uint64_t, TracedTask> tasks_;  // in the system
  std::vector<TraceSlice> slices_;
  std::int64_t last_ns_ = 0;
  std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

std::string simulation_trace(std::istream& csv) {
  CsvRecords records(csv);
  std::vector<std::string> fields;
  std::string header;
  if (records.next(fields)) {
    for (const std::string& field : fields) header += (header.empty() ? "" : ",") + field;
  }
  const std::string with_policy = std::string(kSimulationTraceHeader) + ",policy";
  if (header != kSimulationTraceHeader && header != with_policy)
    refuse(1, "must be '" + with_policy + "', the last of them where there are several policies");
  const std::size_t width = fields.size();
  SimulationTrace trace;
  while (records.next(fields)) {
    if (fields.size() != width) {
      refuse(records.line(),
             "has " + std::to_string(fields.size()) + " fields, the first line has " + std::to_string(width));
    }
    trace.add(fields, records.line());
  }
  return std::move(trace).json();
}

}  // namespace allot
