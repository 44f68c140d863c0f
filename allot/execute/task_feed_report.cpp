// The reports of a feed: names, numbers, metrics and traces.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/execute/task_feed.hpp"
#include "allot/format/metrics_text.hpp"
#include "allot/format/trace_events.hpp"

namespace allot {
namespace {

template <typename Named>
std::size_t find_named(const std::vector<Named>& all, std::string_view name, const char* what) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
  if (found == all.end()) throw InvalidModel(what, "there is no " + quote::name(std::string(name)));
  return static_cast<std::size_t>(found - all.begin());
}

}  // namespace

TaskType TaskFeed::kind(std::string_view name) const {
  const Lock lock(*this);
  return task_type(find_named(kinds_, name, "kind"));
}

ResourceId TaskFeed::resource(std::string_view name) const {
  return resource_id(find_named(resources_, name, "resource"));
}

std::string TaskFeed::kind_name(TaskType i) const {
  const Lock lock(*this);
  return kinds_[index(i)].name;
}

std::size_t TaskFeed::kinds() const {
  const Lock lock(*this);
  return kinds_.size();
}

FeedStatistics TaskFeed::statistics(Clock::time_point now) const {
  const Lock lock(*this);
  FeedStatistics result{pairs_, {}, {}, seconds(now)};
  for (const TaskType i : pairs_.type_ids()) result.waiting.push_back(lines_.waiting(i));
  for (WaitingTask* task = inbox_.load(std::memory_order_acquire); task != nullptr; task = task->next)
    ++result.waiting[index(task->ticket.type)];
  for (std::size_t j = 0; j < resources_.size(); ++j)
    result.busy.push_back(resources_[j].servers - static_cast<Count>(free_[j].size()));
  return result;
}

std::string TaskFeed::metrics(Clock::time_point now) const {
  const FeedStatistics now_ = statistics(now);
  const std::shared_ptr<const Plan> plan = dispatcher_.plan();
  MetricsText out;
  const auto each_pair = [&](const auto& visit) {
    for (const TaskType i : now_.pairs.type_ids()) {
      for (const ResourceId j : now_.pairs.resource_ids()) {
        if (now_.pairs(i, j).is_possible) visit(i, j, kind_name(i), resources_[index(j)].name);
      }
    }
  };
  using Text = const std::string&;
  out.family("tasks", "gauge", "Tasks by how far they have come.");
  for (const TaskType i : now_.pairs.type_ids()) {
    FeedStatistics::Pair sum;
    for (const FeedStatistics::Pair& pair : now_.pairs.row(i)) {
      sum.completed += pair.completed;
      sum.failed += pair.failed;
      sum.running += pair.running;
    }
    const std::string kind = kind_name(i);
    out.sample({{"type", kind}, {"state", "done"}}, sum.completed);
    out.sample({{"type", kind}, {"state", "failed"}}, sum.failed);
    out.sample({{"type", kind}, {"state", "running"}}, static_cast<std::uint64_t>(sum.running));
    out.sample({{"type", kind}, {"state", "waiting"}}, static_cast<std::uint64_t>(now_.waiting[index(i)]));
  }
  out.family("attempts", "counter", "Tasks that have ended, by how they ended.");
  each_pair([&](TaskType i, ResourceId j, Text kind, Text resource) {
    out.sample({{"type", kind}, {"resource", resource}, {"status", "ok"}}, now_.pairs(i, j).completed);
    out.sample({{"type", kind}, {"resource", resource}, {"status", "failed"}}, now_.pairs(i, j).failed);
  });
  out.family("attempts_running", "gauge", "Tasks that a server has.");
  each_pair([&](TaskType i, ResourceId j, Text kind, Text resource) {
    out.sample({{"type", kind}, {"resource", resource}},
               static_cast<std::uint64_t>(now_.pairs(i, j).running));
  });
  out.family("attempt_seconds", "summary", "Time from start to end of the tasks that have ended.");
  each_pair([&](TaskType i, ResourceId j, Text kind, Text resource) {
    const FeedStatistics::Pair& pair = now_.pairs(i, j);
    out.summary({{"type", kind}, {"resource", resource}}, pair.completed + pair.failed, pair.busy_seconds);
  });
  const auto rates = [&](const char* name, const char* help, double RateEstimate::*value) {
    out.family(name, "gauge", help);
    each_pair([&](TaskType i, ResourceId j, Text kind, Text resource) {
      const RateEstimate estimate = dispatcher_.estimate(i, j);
      if (estimate.known()) out.sample({{"type", kind}, {"resource", resource}}, estimate.*value);
    });
  };
  rates("rate", "Tasks per second on one server, learned so far; absent while unknown.", &RateEstimate::rate);
  rates("rate_low", "Low end of the 95% interval of the rate.", &RateEstimate::rate_low);
  rates("rate_high", "High end of the 95% interval of the rate.", &RateEstimate::rate_high);
  out.family("planned_throughput", "gauge", "Tasks per second that the plan promises.");
  for (std::size_t i = 0; plan->predicted && i < plan->predicted->throughput_by_task.size(); ++i)
    out.sample({{"type", kind_name(task_type(i))}}, plan->predicted->throughput_by_task[i]);
  out.family("slots", "gauge", "Servers of the resource.");
  for (const Resource& resource : resources_)
    out.sample({{"resource", resource.name}}, static_cast<std::uint64_t>(resource.servers));
  out.family("slots_busy", "gauge", "Servers at work.");
  for (std::size_t j = 0; j < resources_.size(); ++j)
    out.sample({{"resource", resources_[j].name}}, static_cast<std::uint64_t>(now_.busy[j]));
  out.family("busy_seconds", "counter", "Time of servers with a task that has ended.");
  for (const ResourceId j : now_.pairs.resource_ids()) {
    double busy = 0;
    for (const TaskType i : now_.pairs.type_ids()) busy += now_.pairs(i, j).busy_seconds;
    out.sample({{"resource", resources_[index(j)].name}}, busy);
  }
  return std::move(out).end();
}

std::string TaskFeed::trace() const {
  std::vector<Slice> tasks;
  {
    const Lock lock(*this);
    tasks = slices_;
  }
  TraceEvents events;
  for (const Resource& resource : resources_) events.add_process(resource.name);
  std::vector<TraceSlice> slices;
  for (const Slice& task : tasks) {
    slices.push_back({.process = index(task.resource),
                      .slot = task.server,
                      .start_ns = nanoseconds(task.begin),
                      .end_ns = nanoseconds(task.end),
                      .name = kind_name(task.kind),
                      .category = task.failed ? "failed" : "task",
                      .colour = task.failed ? "terrible" : ""});
  }
  return events.json(std::move(slices), 0);
}

}  // namespace allot
