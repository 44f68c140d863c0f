#include "allot/run/metrics.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "allot/format/metrics_text.hpp"

namespace allot {
namespace {

constexpr std::array<std::pair<std::string_view, RunPhase>, 4> kPhases = {
    {{"running", RunPhase::kRunning},
     {"draining", RunPhase::kDraining},
     {"terminating", RunPhase::kTerminating},
     {"killing", RunPhase::kKilling}}};

void add_run(MetricsText& out, const RunInfo& info, const RunView& view, bool is_over) {
  out.family("run", "gauge", "The run that these metrics belong to; always 1.");
  out.sample({{"run", info.id},
              {"job", info.job},
              {"objective", info.objective},
              {"policy", info.policy},
              {"version", info.version}},
             std::uint64_t{1});
  out.family("run_start_time_seconds", "gauge", "When the run began, in seconds since 1970.");
  out.sample({}, info.start_unix);
  out.family("run_elapsed_seconds", "gauge", "How long the run has taken, without pauses.");
  out.sample({}, view.elapsed_s);
  out.family("run_phase", "gauge", "1 for the phase that the run is in, 0 for the others.");
  const RunPhase phase = std::min(view.phase, RunPhase::kKilling);
  for (const auto& [name, value] : kPhases)
    out.sample({{"phase", name}}, std::uint64_t{!is_over && phase == value});
  out.sample({{"phase", "over"}}, std::uint64_t{is_over});
}

void add_tasks(MetricsText& out, const RunView& view) {
  out.family("tasks", "gauge", "Tasks by state, including those of earlier runs of the journal.");
  for (const TypeView& type : view.types) {
    out.sample({{"type", type.name}, {"state", "done"}}, type.done);
    out.sample({{"type", type.name}, {"state", "failed"}}, type.failed);
    out.sample({{"type", type.name}, {"state", "running"}}, type.running);
    out.sample({{"type", type.name}, {"state", "waiting"}}, type.pending());
  }
  out.family("retries", "counter", "Attempts of this run at tasks that had been tried before.");
  out.sample({}, view.retried);
}

void add_pace(MetricsText& out, const RunView& view) {
  out.family("throughput", "gauge", "Tasks completed per second, recently.");
  for (const TypeView& type : view.types) out.sample({{"type", type.name}}, type.throughput);
  out.family("planned_throughput", "gauge",
             "Tasks per second that the plan promises; absent while rates are guesses.");
  for (const TypeView& type : view.types) {
    if (view.predicted) out.sample({{"type", type.name}}, type.predicted);
  }
  const auto time = [&](std::string_view name, const std::optional<double>& value, std::string_view help) {
    out.family(name, "gauge", help);
    if (value) out.sample({}, *value);
  };
  time("left_seconds", view.left_s,
       "Time until everything is done, by the rates learned so far; absent while some are unknown.");
  time("left_low_seconds", view.left_low_s, "The same, at the fast ends of the 95% intervals of the rates.");
  time("left_high_seconds", view.left_high_s, "The same, at the slow ends.");
  time("left_bound_seconds", view.bound_s,
       "Minimum time in which any schedule could finish, by the rates learned so far.");
}

void add_resources(MetricsText& out, const RunView& view, const std::vector<double>& busy_s) {
  const auto slots = [&](std::string_view name, Count ResourceView::*count, std::string_view help) {
    out.family(name, "gauge", help);
    for (const ResourceView& resource : view.resources)
      out.sample({{"resource", resource.name}},
                 static_cast<std::uint64_t>(std::max<Count>(resource.*count, 0)));
  };
  slots("slots", &ResourceView::slots, "Tasks that the resource can run at a time.");
  slots("slots_up", &ResourceView::open, "Slots with a connected worker.");
  slots("slots_busy", &ResourceView::busy, "Slots with a task.");
  out.family("busy_seconds", "counter", "Time of slots with a task.");
  for (std::size_t j = 0; j < view.resources.size(); ++j)
    out.sample({{"resource", view.resources[j].name}}, busy_s[j]);
}

}  // namespace

RunMetrics::RunMetrics(const Job& job, RunInfo info)
    : job_(job),
      info_(std::move(info)),
      pairs_(job.tasks.size(), job.resources.size()),
      nowhere_(job.tasks.size(), 0),
      busy_s_(job.resources.size(), 0.0) {}

void RunMetrics::ended(const AttemptEnd& end, TaskType type) {
  const auto where = std::find_if(job_.resources.begin(), job_.resources.end(),
                                  [&](const JobResource& resource) { return resource.name == end.resource; });
  if (where == job_.resources.end()) {
    ++nowhere_[index(type)];
    return;
  }
  PairCounts& pair = pairs_(type, resource_id(static_cast<std::size_t>(where - job_.resources.begin())));
  ++pair.by_status[static_cast<std::size_t>(end.status)];
  ++pair.ended;
  pair.wall_s += std::max(end.wall_s, 0.0);
  pair.queue_s += std::max(end.queue_s, 0.0);
}

std::string RunMetrics::text(const RunView& view, bool is_over) {
  // Busy time may be corrected downwards later; a counter must not decrease.
  for (std::size_t j = 0; j < busy_s_.size(); ++j)
    busy_s_[j] = std::max(busy_s_[j], view.resources[j].busy_s);

  MetricsText out;
  add_run(out, info_, view, is_over);
  add_tasks(out, view);

  const auto each_pair = [&](auto&& visit) {
    for (const TaskType i : pairs_.type_ids()) {
      for (const ResourceId j : pairs_.resource_ids()) {
        if (view.pairs(i, j).possible)
          visit(view.types[index(i)].name, view.resources[index(j)].name, pairs_(i, j), view.pairs(i, j));
      }
    }
  };
  out.family("attempts", "counter", "Attempts of this run that have ended, by status.");
  each_pair([&](const std::string& type, const std::string& resource, const PairCounts& counts,
                const PairView&) {
    for (const AttemptStatus status : {AttemptStatus::kOk, AttemptStatus::kFailed, AttemptStatus::kTimeout,
                                       AttemptStatus::kKilled, AttemptStatus::kLost}) {
      out.sample({{"type", type}, {"resource", resource}, {"status", to_string(status)}},
                 counts.by_status[static_cast<std::size_t>(status)]);
    }
  });
  for (std::size_t i = 0; i < nowhere_.size(); ++i) {
    if (nowhere_[i] > 0)
      out.sample({{"type", view.types[i].name}, {"resource", ""}, {"status", "failed"}}, nowhere_[i]);
  }
  out.family("attempts_running", "gauge", "Attempts in progress.");
  each_pair(
      [&](const std::string& type, const std::string& resource, const PairCounts&, const PairView& pair) {
        out.sample({{"type", type}, {"resource", resource}}, static_cast<std::uint64_t>(pair.running));
      });
  out.family("attempt_seconds", "summary",
             "Time from start to end of the attempts of this run that have ended.");
  each_pair(
      [&](const std::string& type, const std::string& resource, const PairCounts& counts, const PairView&) {
        out.summary({{"type", type}, {"resource", resource}}, counts.ended, counts.wall_s);
      });
  out.family("wait_seconds", "summary", "Time that these attempts waited, from ready to started.");
  each_pair(
      [&](const std::string& type, const std::string& resource, const PairCounts& counts, const PairView&) {
        out.summary({{"type", type}, {"resource", resource}}, counts.ended, counts.queue_s);
      });
  out.family("pair_open", "gauge", "1 if tasks of the type may go to the resource now, else 0.");
  each_pair(
      [&](const std::string& type, const std::string& resource, const PairCounts&, const PairView& pair) {
        out.sample({{"type", type}, {"resource", resource}}, std::uint64_t{pair.allowed});
      });
  const auto rates = [&](std::string_view name, std::string_view help, auto&& value) {
    out.family(name, "gauge", help);
    each_pair(
        [&](const std::string& type, const std::string& resource, const PairCounts&, const PairView& pair) {
          if (pair.rate)
            out.sample({{"type", type}, {"resource", resource}}, static_cast<double>(value(pair)));
        });
  };
  rates("rate", "Tasks per second on one slot, learned so far; absent while unknown.",
        [](const PairView& pair) { return *pair.rate; });
  rates("rate_low", "Low end of the 95% interval of the rate.",
        [](const PairView& pair) { return pair.low; });
  rates("rate_high", "High end of the 95% interval of the rate.",
        [](const PairView& pair) { return pair.high; });
  add_pace(out, view);
  add_resources(out, view, busy_s_);
  return std::move(out).end();
}

}  // namespace allot
