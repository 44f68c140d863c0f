// Tasks with needs once more, naively: every task by itself, everything worked out anew at every event. What
// the simulator traces is replayed with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/simulate/trace.hpp"

namespace allot::testing {

/// Who draws how much of what.
struct NaiveDrawer {
  std::vector<double> draws;  ///< of each capacity
  double level = 1;
};

/// All levels rise together from 0, each until one of its capacities is used up; at most to 1. `amounts`:
/// what there is of each capacity.
inline void naive_fill(std::vector<NaiveDrawer>& drawers, const std::vector<double>& amounts) {
  std::vector<bool> rises(drawers.size(), true);
  for (NaiveDrawer& drawer : drawers) drawer.level = 0;
  for (;;) {
    double step = std::numeric_limits<double>::infinity();
    std::vector<double> left = amounts;
    std::vector<double> speed(amounts.size(), 0.0);
    for (std::size_t d = 0; d < drawers.size(); ++d) {
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        left[r] -= drawers[d].draws[r] * drawers[d].level;
        if (rises[d]) speed[r] += drawers[d].draws[r];
      }
      if (rises[d]) step = std::min(step, 1 - drawers[d].level);
    }
    if (!std::isfinite(step)) return;
    for (std::size_t r = 0; r < amounts.size(); ++r) {
      if (speed[r] > 0) step = std::min(step, std::max(0.0, left[r] / speed[r]));
    }
    for (std::size_t d = 0; d < drawers.size(); ++d) {
      if (rises[d]) drawers[d].level += step;
    }
    for (std::size_t d = 0; d < drawers.size(); ++d) {
      if (!rises[d]) continue;
      if (drawers[d].level >= 1 - 1e-13) rises[d] = false;
      for (std::size_t r = 0; r < amounts.size(); ++r) {
        if (drawers[d].draws[r] > 0 && left[r] - speed[r] * step <= 1e-12 * amounts[r]) rises[d] = false;
      }
    }
  }
}

class NaiveNeeds {
 public:
  /// `binds_late`: whole tasks everywhere, and who starts is not for this to say.
  NaiveNeeds(const System& system, bool binds_late) : system_(system), binds_late_(binds_late) {}

  /// Replays the events of a trace that begins with the run, and returns what does not agree; empty: all
  /// does.
  std::string replay(std::span<const TraceEvent> events) {
    for (std::size_t at = 0; at < events.size() && problem_.empty();) {
      std::size_t end = at;
      while (end < events.size() && events[end].time == events[at].time) ++end;
      moment(events.subspan(at, end - at));
      at = end;
    }
    return problem_;
  }

  std::size_t completions() const { return completions_; }
  /// The largest part of a held capacity that was ever in use, and of a shared one that was wanted.
  double most_held() const { return most_held_; }
  double most_wanted() const { return most_wanted_; }

 private:
  using What = TraceEvent::What;

  struct Task {
    std::uint64_t number = 0;
    TaskType type{};
    ResourceId resource{};
    double work = 0;  ///< seconds left at full speed
    bool in_service = false;
    std::uint64_t entry = 0;
    double speed = 0;
  };

  bool is_whole(const Task& task) const {
    return binds_late_ || system_.resource(task.resource).discipline == Discipline::kFcfs;
  }
  double draw(const Task& task, CapacityId r) const {
    for (const Draw& need : system_.needs(task.type, task.resource)) {
      if (need.capacity == r) return need.amount;
    }
    return 0;
  }

  void moment(std::span<const TraceEvent> events) {
    const double now = events.front().time;
    const double tolerance = 1e-9 * (1 + now);
    for (const TraceEvent& event : events) {
      if (event.what != What::kComplete) continue;
      const Task* next = nullptr;
      for (const Task& task : tasks_) {
        if (task.speed > 0 && (next == nullptr || task.work / task.speed < next->work / next->speed))
          next = &task;
      }
      if (next == nullptr) return fail(now, event.task, "completes, and nothing is in service");
      const double at = now_ + next->work / next->speed;
      if (std::abs(at - now) > tolerance)
        return fail(now, event.task,
                    "completes; the next to do so is task " + std::to_string(next->number) + " at " +
                        std::to_string(at));
      advance(now);
      const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                      [&](const Task& task) { return task.number == event.task; });
      if (found == tasks_.end() || !(std::abs(found->work) < 10 * tolerance * std::max(1.0, found->speed)))
        return fail(now, event.task, "completes before its time");
      tasks_.erase(found);
      ++completions_;
    }
    for (const Task& task : tasks_) {
      if (task.speed > 0 && now_ + task.work / task.speed < now - tolerance)
        return fail(now, task.number, "should have completed");
    }
    advance(now);
    for (const TraceEvent& event : events) {
      if (event.what == What::kPlace)
        tasks_.push_back({event.task, event.type, event.resource,
                          event.size / system_.rate(event.type, event.resource), false, entries_++});
    }
    start(events, now);
    if (problem_.empty()) find_speeds(now);
  }

  void advance(double now) {
    for (Task& task : tasks_) task.work -= (now - now_) * task.speed;
    now_ = now;
  }

  /// Marks those that start, and compares them with the trace.
  void start(std::span<const TraceEvent> events, double now) {
    std::map<std::uint64_t, bool> traced;
    for (const TraceEvent& event : events) {
      if (event.what == What::kStart) traced[event.task] = true;
    }
    for (Task& task : tasks_) {
      if (!is_whole(task)) task.in_service = true;
    }
    if (binds_late_) {
      for (Task& task : tasks_) task.in_service |= traced.count(task.number) > 0;
      return;
    }
    std::vector<double> left;
    for (const CapacityId r : system_.capacity_ids()) {
      left.push_back(system_.amount(r));
      for (const Task& task : tasks_) {
        if (task.in_service && is_whole(task)) left.back() -= draw(task, r);
      }
    }
    std::vector<bool> is_blocked(system_.resource_count(), false);
    for (Task& task : tasks_) {  // in the order of entry
      if (task.in_service || is_blocked[index(task.resource)]) continue;
      bool fits = true;
      for (const CapacityId r : system_.capacity_ids()) {
        if (!system_.is_shared(r) && draw(task, r) > 0 &&
            draw(task, r) > left[index(r)] + 1e-9 * system_.amount(r))
          fits = false;
      }
      // Whoever waits keeps what it needs for itself.
      for (const CapacityId r : system_.capacity_ids()) left[index(r)] -= draw(task, r);
      if (!fits) {
        is_blocked[index(task.resource)] = true;
        continue;
      }
      task.in_service = true;
      if (traced.count(task.number) == 0) return fail(now, task.number, "should start");
    }
    for (const auto& [number, yes] : traced) {
      for (const Task& task : tasks_) {
        if (task.number == number && !task.in_service) return fail(now, number, "should not start");
      }
    }
  }

  void find_speeds(double now) {
    std::vector<double> held;
    std::vector<double> shared;
    for (const CapacityId r : system_.capacity_ids()) {
      const bool is_shared = system_.is_shared(r);
      held.push_back(is_shared ? 1e300 : system_.amount(r));
      shared.push_back(is_shared ? system_.amount(r) : 1e300);
      double used = 0;
      double wanted = 0;
      for (const Task& task : tasks_) {
        if (!task.in_service) continue;
        if (is_whole(task)) used += draw(task, r);
        wanted += draw(task, r);
      }
      if (is_shared) {
        most_wanted_ = std::max(most_wanted_, wanted / system_.amount(r));
        continue;
      }
      most_held_ = std::max(most_held_, used / system_.amount(r));
      if (used > system_.amount(r) * (1 + 1e-8))
        return fail(now, 0, "or others overdraw " + system_.capacity_name(r));
      held.back() = std::max(0.0, system_.amount(r) - used);
    }
    std::vector<NaiveDrawer> sharing;
    for (const Task& task : tasks_) {
      NaiveDrawer drawer;
      for (const CapacityId r : system_.capacity_ids())
        drawer.draws.push_back(is_whole(task) || system_.is_shared(r) ? 0.0 : draw(task, r));
      sharing.push_back(drawer);
    }
    naive_fill(sharing, held);
    std::vector<NaiveDrawer> slowed;
    for (std::size_t at = 0; at < tasks_.size(); ++at) {
      const double part = tasks_[at].in_service ? (is_whole(tasks_[at]) ? 1.0 : sharing[at].level) : 0.0;
      NaiveDrawer drawer;
      for (const CapacityId r : system_.capacity_ids())
        drawer.draws.push_back(system_.is_shared(r) ? part * draw(tasks_[at], r) : 0.0);
      tasks_[at].speed = part;
      slowed.push_back(drawer);
    }
    naive_fill(slowed, shared);
    for (std::size_t at = 0; at < tasks_.size(); ++at) tasks_[at].speed *= slowed[at].level;
  }

  void fail(double now, std::uint64_t task, const std::string& what) {
    problem_ = "at " + std::to_string(now) + " task " + std::to_string(task) + " " + what;
  }

  const System& system_;
  bool binds_late_;
  double now_ = 0;
  std::vector<Task> tasks_;  // in the order of entry
  std::uint64_t entries_ = 0;
  std::size_t completions_ = 0;
  double most_held_ = 0;
  double most_wanted_ = 0;
  std::string problem_;
};

}  // namespace allot::testing
