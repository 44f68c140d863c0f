// Reports the events of single tasks to an observer.
#pragma once

#include <algorithm>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/simulate/trace.hpp"

namespace allot::detail {

class Tracer {
 public:
  /// Both must outlive it. `binds_late`: tasks are placed when a server takes them.
  Tracer(const System& system, const Threads& threads, bool binds_late)
      : system_(system), threads_(threads), binds_late_(binds_late) {}

  bool is_on() const noexcept { return sink_ != nullptr; }

  /// Reports from now on. First come the tasks already in the system: when each was placed, and when its
  /// service began.
  template <typename Stations>
  void begin(TraceSink* sink, Stations& stations, double now) {
    sink_ = sink;
    std::vector<TraceEvent> events;
    for (ThreadId id = 0; id < threads_.size(); ++id) {
      const Thread& thread = threads_[id];
      if (!thread.alive || thread.resource == kNone) continue;
      events.push_back(event_of(TraceEvent::What::kPlace, id, thread.entered));
      if (serves_at_once(id)) events.push_back(event_of(TraceEvent::What::kStart, id, thread.entered));
    }
    stations.watch(started_, [&](ThreadId id, double time) {
      const Thread& thread = threads_[id];
      double start = time;
      if constexpr (!Stations::kJoint) {
        // Tasks run without a break, so the beginning follows from the end, up to rounding.
        const double work =
            thread.size * system_.seconds_per_task(task_type(thread.type), resource_id(thread.resource));
        start = std::clamp(time - work, thread.entered, now);
      }
      events.push_back(event_of(TraceEvent::What::kStart, id, start));
    });
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
      if (a.time != b.time) return a.time < b.time;
      return a.task != b.task ? a.task < b.task : a.what < b.what;
    });
    for (const TraceEvent& event : events) sink_->event(event);
  }

  void placed(ThreadId id, double time) {
    sink_->event(event_of(TraceEvent::What::kPlace, id, time));
    if (serves_at_once(id)) sink_->event(event_of(TraceEvent::What::kStart, id, time));
  }
  void completed(ThreadId id, double time, double response) {
    sink_->event(event_of(TraceEvent::What::kComplete, id, time, response));
  }
  /// Reports the tasks whose service began when stations were settled.
  void started(double time) {
    for (const ThreadId id : started_) sink_->event(event_of(TraceEvent::What::kStart, id, time));
    started_.clear();
  }

 private:
  TraceEvent event_of(TraceEvent::What what, ThreadId id, double time, double response = 0) const {
    const Thread& thread = threads_[id];
    return {what,        time,    thread.task, id, task_type(thread.type), resource_id(thread.resource),
            thread.size, response};
  }

  bool serves_at_once(ThreadId id) const noexcept {
    return !binds_late_ && system_.resource(resource_id(threads_[id].resource)).discipline == Discipline::kPs;
  }

  const System& system_;
  const Threads& threads_;
  bool binds_late_;
  TraceSink* sink_ = nullptr;
  std::vector<ThreadId> started_;
};

}  // namespace allot::detail
