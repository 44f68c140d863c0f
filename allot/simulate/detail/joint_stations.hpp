// All resources of a system whose tasks draw on more than one server each.
//
// Every pair of a type and a resource has a virtual time, which passes at the speed of its tasks. Speeds
// change only with the numbers of tasks, and only for pairs that are joined by capacities. Resources under ps
// share by the two fillings of the model. Elsewhere, whole tasks are in service: they hold what they need
// until they end, and a task that does not get it waits.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/system.hpp"
#include "allot/simulate/detail/job.hpp"
#include "allot/simulate/detail/joined.hpp"
#include "allot/simulate/detail/queues.hpp"
#include "allot/simulate/detail/separate_stations.hpp"

namespace allot::detail {

template <typename QueueKind, typename Due>
class JointStations {
 public:
  using Queue = QueueKind;
  static constexpr bool kJoint = true;

  /// The system must outlive it. Throws InvalidModel if the policy has time shares.
  JointStations(const System& system, const StationsSetup& setup)
      : system_(system),
        resources_(system.resource_count()),
        binds_late_(setup.binds_late),
        due_(system.type_count() * resources_ + resources_),
        parts_(system.type_count() * resources_),
        lines_(resources_),
        groups_(joined_groups(system)),
        group_of_(resources_),
        tasks_(resources_, 0),
        wake_(resources_, kNever),
        held_(system.capacity_count(), 0.0),
        kept_(system.capacity_count(), 0.0),
        free_(system.capacity_count()) {
    if (setup.by_shares)
      throw InvalidModel("policy",
                         "it divides servers by time shares, and tasks here need more than a server of "
                         "their own; 'planned' takes needs");
    for (const CapacityId r : system.capacity_ids()) free_[index(r)] = system.amount(r);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const ResourceId j : groups_[g].resources) group_of_[index(j)] = g;
      fills_.emplace_back(system, groups_[g].pair_ids(system));
    }
  }

  Mix mix() const noexcept { return Mix::kAny; }

  /// Slots: first the pairs, then the times at which resources should be asked again.
  std::size_t first() const noexcept { return due_.first(); }
  double due(std::size_t slot) const noexcept { return due_.due(slot); }
  std::size_t resource_of(std::size_t slot) const noexcept {
    return slot < parts_.size() ? slot % resources_ : slot - parts_.size();
  }

  template <Mix>
  bool leave(std::size_t slot, double now, ThreadId& thread) {
    if (slot >= parts_.size()) return false;  // a server only stops idling
    Part& part = parts_[slot];
    const std::size_t j = slot % resources_;
    part.virtual_now = part.queue.first_finish();
    part.updated = now;
    part.finish_sum -= part.virtual_now;
    thread = part.queue.pop();
    --tasks_[j];
    touch(slot);
    if (is_whole(j)) hold(slot);
    return true;
  }

  template <Mix>
  void enter(std::size_t j, double now, const Job& job) {
    ++tasks_[j];
    touch_group(j);
    if (!is_whole(j) || (binds_late_ && lines_[j].waiting.empty() && fits(pair_of(job.type, j)))) {
      start(j, now, job);
      return;
    }
    lines_[j].waiting.push({job, entries_++});
    lines_[j].work += job.work;
  }

  /// Call it after all changes at one moment. Calls `tell(r, used)` with the use of each capacity, and
  /// `tell_busy(j, servers)` with the servers of a resource that work on its own tasks, where these may have
  /// changed.
  template <typename Tell, typename TellBusy>
  void settle(double now, Tell&& tell, TellBusy&& tell_busy) {
    for (const std::size_t g : touched_groups_) {
      Group& group = groups_[g];
      start_heads(group, now);  // touches this group alone
      group.is_touched = false;
      const bool has_changed = counts_changed(group);
      if (has_changed) fill(g, now);
      for (const std::size_t pair : group.pairs) {
        Part& part = parts_[pair];
        if (!std::exchange(part.is_stale, false)) continue;
        part.queue.settle();
        due_.set(pair, next_end(part, now));
      }
      if (has_changed) report(g, tell, tell_busy);
    }
    touched_groups_.clear();
    for (std::size_t j = 0; binds_late_ && j < resources_; ++j) due_.set(parts_.size() + j, wake_[j]);
  }

  double remaining(std::size_t j, double now) const noexcept {
    double work = lines_[j].work;
    for (std::size_t pair = j; pair < parts_.size(); pair += resources_) {
      const Part& part = parts_[pair];
      const double v = part.virtual_now + (now - part.updated) * part.speed;
      work += std::max(0.0, part.finish_sum - static_cast<double>(part.queue.size()) * v);
    }
    return work;
  }

  void rebase() noexcept {
    for (Part& part : parts_) {
      part.finish_sum = part.queue.shift(part.virtual_now);
      part.virtual_now = 0;
    }
    for (Line& line : lines_) {
      if (line.waiting.empty()) line.work = 0;
    }
  }

  /// Late binding: of the `ready` tasks by type, those that could start at the resource now or may be bound
  /// ahead. Returns whether there are any.
  bool find_startable(std::size_t j, std::span<const Count> ready, std::vector<Count>& startable) const {
    startable.assign(ready.size(), 0);
    bool any = false;
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i] == 0 || !may_enter(task_type(i), j)) continue;
      startable[i] = ready[i];
      any = true;
    }
    return any;
  }
  /// Late binding: the interface through which a resource takes tasks.
  struct Taker {
    JointStations& all;
    std::size_t j;
    double& wake;  ///< when to ask again what to take
    void enter(double now, const Job& job) { all.enter<Mix::kAny>(j, now, job); }
  };
  Taker taker(std::size_t j) noexcept { return {*this, j, wake_[j]}; }
  /// What is left of each capacity by tasks in service and by those that wait at the head of a line.
  std::span<const double> free() const noexcept { return free_; }
  /// Starts tasks at the head of a line that can start, before others are asked.
  void begin_asking(double now) {
    for (Group& group : groups_) start_heads(group, now);
  }

  /// From now on, `started` receives the tasks whose service begins. Calls `use` with the tasks in service
  /// and the start of their service.
  template <typename Use>
  void watch(std::vector<ThreadId>& started, Use&& use) {
    started_ = &started;
    for (std::size_t pair = 0; pair < parts_.size(); ++pair) {
      if (!is_whole(pair % resources_)) continue;
      parts_[pair].queue.for_each([&](ThreadId id, double) { use(id, since_[id]); });
    }
  }

 private:
  bool may_enter(TaskType i, std::size_t j) const noexcept {
    if (!system_.can_run(i, resource_id(j))) return false;
    return tasks_[j] < system_.resource(resource_id(j)).min_depth ||
           (lines_[j].waiting.empty() && fits(pair_of(index(i), j)));
  }

  /// A type at a resource: the tasks in service, all of the same speed.
  struct Part {
    double speed = 0;
    double virtual_now = 0;  // at `updated`
    double updated = 0;
    double finish_sum = 0;
    double filled_for = 0;  // the number of tasks that the speed is for
    bool is_stale = false;  // the queue or the speed has changed
    Queue queue;            // by virtual finish
  };
  struct Waiting {
    Job job;
    std::uint64_t entry = 0;  // increasing numbers
  };
  struct Line {
    FifoQueue<Waiting> waiting;
    double work = 0;
  };
  struct Fill {
    Fill(const System& system, std::span<const PairId> pairs)
        : held(system, Filling::Of::kHeld, pairs),
          shared(system, Filling::Of::kShared, pairs),
          tasks(pairs.size()),
          in_service(pairs.size()) {}
    Filling held;
    Filling shared;
    std::vector<double> tasks;  // that share held capacities
    std::vector<double> in_service;
  };

  std::size_t pair_of(std::size_t type, std::size_t j) const noexcept { return type * resources_ + j; }
  bool is_whole(std::size_t j) const noexcept {
    return binds_late_ || system_.resource(resource_id(j)).discipline == Discipline::kFcfs;
  }
  std::span<const Draw> needs(std::size_t pair) const noexcept {
    return system_.needs(task_type(pair / resources_), resource_id(pair % resources_));
  }

  void touch_group(std::size_t j) {
    Group& group = groups_[group_of_[j]];
    if (!std::exchange(group.is_touched, true)) touched_groups_.push_back(group_of_[j]);
  }
  void touch(std::size_t pair) {
    parts_[pair].is_stale = true;
    touch_group(pair % resources_);
  }

  void advance(Part& part, double now) noexcept {
    part.virtual_now += (now - part.updated) * part.speed;
    part.updated = now;
  }

  static double next_end(const Part& part, double now) noexcept {
    if (part.queue.empty() || !(part.speed > 0)) return kNever;
    return now + std::max(0.0, part.queue.first_finish() - part.virtual_now) / part.speed;
  }

  void start(std::size_t j, double now, const Job& job) {
    const std::size_t pair = pair_of(job.type, j);
    Part& part = parts_[pair];
    advance(part, now);
    part.queue.push(part.virtual_now + job.work, job.thread);
    part.finish_sum += part.virtual_now + job.work;
    touch(pair);
    if (!is_whole(j)) return;
    hold(pair);
    if (since_.size() <= job.thread) since_.resize(std::size_t{job.thread} + 1);
    since_[job.thread] = now;
    if (started_ != nullptr) started_->push_back(job.thread);
  }

  bool fits(std::size_t pair) const noexcept {
    const auto needs_here = needs(pair);
    return std::all_of(needs_here.begin(), needs_here.end(), [&](const Draw& draw) {
      return system_.is_shared(draw.capacity) ||
             draw.amount <= free_[index(draw.capacity)] + kFits * system_.amount(draw.capacity);
    });
  }

  /// Recomputes what whole tasks hold of the capacities that the pair needs, since running sums would drift.
  void hold(std::size_t pair) {
    for (const Draw& draw : needs(pair)) {
      if (system_.is_shared(draw.capacity)) continue;
      const std::size_t r = index(draw.capacity);
      held_[r] = 0;
      for (const Drawer& drawer : groups_[group_of_[pair % resources_]].drawers_of(draw.capacity)) {
        if (is_whole(drawer.pair % resources_))
          held_[r] += drawer.amount * static_cast<double>(parts_[drawer.pair].queue.size());
      }
      assert(held_[r] <= system_.amount(draw.capacity) * (1 + 2 * kFits));
      free_[r] = system_.amount(draw.capacity) - held_[r] - kept_[r];
    }
  }

  /// Starts the tasks at the head of lines in order of arrival. What a waiting task needs is kept for it, so
  /// that no later task delays it.
  void start_heads(Group& group, double now) {
    const bool had_lines = group.has_lines;
    group.has_lines = has_lines(group);
    if (!had_lines && !group.has_lines) return;
    for (const CapacityId r : group.capacities) keep(index(r), 0);
    heads_.clear();
    for (const ResourceId j : group.resources) {
      if (!lines_[index(j)].waiting.empty()) heads_.push_back(index(j));
    }
    const auto comes_later = [&](std::size_t a, std::size_t b) {
      return lines_[a].waiting.front().entry > lines_[b].waiting.front().entry;
    };
    std::make_heap(heads_.begin(), heads_.end(), comes_later);
    while (!heads_.empty()) {
      std::pop_heap(heads_.begin(), heads_.end(), comes_later);
      const std::size_t j = heads_.back();
      Line& line = lines_[j];
      const std::size_t pair = pair_of(line.waiting.front().job.type, j);
      if (!fits(pair)) {
        for (const Draw& draw : needs(pair)) {
          const std::size_t r = index(draw.capacity);
          if (!system_.is_shared(draw.capacity)) keep(r, kept_[r] + draw.amount);
        }
        heads_.pop_back();
        continue;
      }
      const Job job = line.waiting.pop().job;
      line.work = line.waiting.empty() ? 0.0 : line.work - job.work;
      start(j, now, job);
      if (line.waiting.empty()) {
        heads_.pop_back();
      } else {
        std::push_heap(heads_.begin(), heads_.end(), comes_later);
      }
    }
  }
  bool has_lines(const Group& group) const noexcept {
    return std::any_of(group.resources.begin(), group.resources.end(),
                       [&](ResourceId j) { return !lines_[index(j)].waiting.empty(); });
  }
  void keep(std::size_t r, double amount) noexcept {
    kept_[r] = amount;
    free_[r] = system_.amount(capacity_id(r)) - held_[r] - amount;
  }

  bool counts_changed(const Group& group) noexcept {
    return std::any_of(group.pairs.begin(), group.pairs.end(), [&](std::size_t pair) {
      return parts_[pair].filled_for != static_cast<double>(parts_[pair].queue.size());
    });
  }

  /// Sets new speeds where the levels have changed.
  void fill(std::size_t g, double now) {
    const Group& group = groups_[g];
    Fill& fill = fills_[g];
    for (std::size_t at = 0; at < group.pairs.size(); ++at) {
      Part& part = parts_[group.pairs[at]];
      part.filled_for = static_cast<double>(part.queue.size());
      fill.in_service[at] = part.filled_for;
      fill.tasks[at] = is_whole(group.pairs[at] % resources_) ? 0.0 : part.filled_for;
    }
    const std::span<const double> held = fill.held.levels(fill.tasks, held_);
    for (std::size_t at = 0; at < group.pairs.size(); ++at) {
      if (fill.tasks[at] > 0) fill.in_service[at] *= held[at];
    }
    const std::span<const double> shared = fill.shared.levels(fill.in_service);
    for (std::size_t at = 0; at < group.pairs.size(); ++at) {
      Part& part = parts_[group.pairs[at]];
      if (part.queue.empty()) continue;
      const double speed = (fill.tasks[at] > 0 ? held[at] : 1.0) * shared[at];
      if (speed == part.speed) continue;
      advance(part, now);
      part.speed = speed;
      part.is_stale = true;
    }
  }

  template <typename Tell, typename TellBusy>
  void report(std::size_t g, Tell&& tell, TellBusy&& tell_busy) const {
    const Group& group = groups_[g];
    for (const CapacityId r : group.capacities) {
      double used = 0;
      for (const Drawer& drawer : group.drawers_of(r)) {
        const Part& part = parts_[drawer.pair];
        used += drawer.amount *
                (system_.is_shared(r) ? part.speed * part.filled_for : fills_[g].in_service[drawer.at]);
      }
      tell(index(r), used);
    }
    for (const ResourceId j : group.resources) {
      double busy = 0;
      for (const Drawer& drawer : group.drawers_of(servers_of(j))) {
        if (drawer.pair % resources_ == index(j)) busy += drawer.amount * fills_[g].in_service[drawer.at];
      }
      tell_busy(index(j), busy);
    }
  }

  /// The part of a capacity by which sums of needs may exceed it through rounding.
  static constexpr double kFits = 1e-9;

  const System& system_;
  std::size_t resources_;
  bool binds_late_;
  Due due_;
  std::vector<Part> parts_;  // by pair
  std::vector<Line> lines_;  // by resource
  std::vector<Group> groups_;
  std::vector<Fill> fills_;  // by group
  std::vector<std::size_t> group_of_;
  std::vector<std::size_t> touched_groups_;
  std::vector<Count> tasks_;  // by resource, including those in line
  std::vector<double> wake_;
  std::vector<double> held_;  // by whole tasks, of each capacity
  std::vector<double> kept_;  // by those at the head of a line
  std::vector<double> free_;
  std::vector<std::size_t> heads_;  // scratch
  std::vector<double> since_;       // by thread: when its service began
  std::uint64_t entries_ = 0;
  std::vector<ThreadId>* started_ = nullptr;
};

}  // namespace allot::detail
