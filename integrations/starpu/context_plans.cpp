// Planning in the background, and the report of a context at its end.
#include <starpu_scheduler.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "integrations/starpu/context.hpp"
#include "integrations/starpu/message.hpp"

namespace allot::starpu {
namespace {

/// Number of looks over which the peak of tasks in flight is taken: a program that submits the next task
/// shortly after the last has ended keeps its count.
constexpr std::size_t kPeaks = 8;

/// Maximum plans in the statistics; the latest are kept.
constexpr std::size_t kMostPlans = 256;

/// For small counts any difference; large counts fluctuate.
bool moved(Count planned, Count now) noexcept { return std::abs(now - planned) > planned / 10; }

}  // namespace

/// StarPU reports workers that arrive, but (1.3) not those that leave before the context ends. It may be
/// changing its list right now, so a worker counts as gone only if it is missing twice. If it appears again,
/// it is added again here, because StarPU, which never lost it, will not report it.
void Context::reconcile_workers() {
  std::vector<int> gone;
  std::vector<int> back;
  for (std::size_t id = 0; id < workers_.size(); ++id) {
    Worker& worker = workers_[id];
    const bool here = worker.here.load(std::memory_order_relaxed);
    if (!here && !worker.taken_for_gone) continue;
    const bool listed = starpu_sched_ctx_contains_worker(static_cast<int>(id), id_) != 0;
    if (here && !listed && worker.missed) {
      gone.push_back(static_cast<int>(id));
      worker.taken_for_gone = true;
    } else if (!here && listed) {
      back.push_back(static_cast<int>(id));
      worker.taken_for_gone = false;
    }
    worker.missed = here && !listed;
  }
  if (!gone.empty()) remove(gone);
  if (!back.empty()) add(back);
}

bool Context::look() {
  const Clock::time_point begin = Clock::now();
  std::vector<Count> peaks;
  bool idle = false;
  {
    const std::lock_guard lock(mutex_);
    reconcile_workers();
    if (!dispatcher_ || groups_.no_workers())
      return false;  // a plan without workers would be the last in the statistics
    const std::uint64_t changes = changes_.load(std::memory_order_relaxed);
    idle = std::exchange(looked_, changes) == changes;
    peaks = placement_.take_peaks();
  }
  // Not while tasks wait: a sleeping worker may have to be woken for them.
  if (idle && peaks_.size() == kPeaks && waiting_.load(std::memory_order_seq_cst) == 0) {
    dozing_.store(true, std::memory_order_seq_cst);
    if (changes_.load(std::memory_order_seq_cst) == looked_) return false;
    dozing_.store(false, std::memory_order_seq_cst);  // changes in between may not have woken the planner
  }
  peaks_.push_back(peaks);
  if (peaks_.size() > kPeaks) peaks_.erase(peaks_.begin());
  std::vector<Count> counts(peaks.size(), 0);
  bool any = false;
  for (const std::vector<Count>& earlier : peaks_) {
    for (std::size_t i = 0; i < earlier.size(); ++i) counts[i] = std::max(counts[i], earlier[i]);
  }
  const std::shared_ptr<const Plan> before = dispatcher_->plan();
  const System& planned = before->system;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    any |= counts[i] > 0;
    if (i < planned.type_count() && !moved(planned.count(task_type(i)), counts[i])) {
      counts[i] = planned.count(task_type(i));
    }
  }
  bool renewed = false;
  try {
    if (!devices_.empty()) {
      const std::lock_guard lock(mutex_);
      say_needs();
    }
    if (any) dispatcher_->set_counts(counts);
    renewed = solve_(*dispatcher_);
  } catch (const std::exception& error) {
    plan_failed(error.what());
  }
  if (renewed) {
    const std::shared_ptr<const Plan> plan = dispatcher_->plan();
    if (plan->stale) {
      plan_failed(plan->note);
    } else {
      ++tally_.solves;
    }
    if (settings_.verbose) say_plan(*plan);
    const std::lock_guard lock(mutex_);
    if (!plan->stale) remember(plan);
    placement_.follow(*plan, *dispatcher_);
    changed();
  }
  const bool waiting = waiting_.load(std::memory_order_seq_cst) > 0;
  if (waiting && placement_.binds_late()) {  // a rate may have to be learned where a worker found nothing to
                                             // do
    const std::lock_guard lock(mutex_);
    changed();
  }
  if (waiting) wake_sleepers();
  tally_.planning_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
  return !idle || waiting;
}

void Context::plan_failed(const std::string& why) {
  ++tally_.failed_solves;
  if (std::exchange(said_failure_, true)) return;
  say("context " + std::to_string(id_) + ": no new plan, the former one stays: " + why);
}

void Context::say_plan(const Plan& plan) const {
  std::string line = "context " + std::to_string(id_) + ", plan " + std::to_string(plan.number) + ":";
  for (const TaskType i : plan.system.types()) {
    line += " " + plan.system.task(i).name + "=";
    for (const ResourceId j : plan.system.resource_ids()) {
      const std::string part =
          plan.target ? std::to_string((*plan.target)(i, j)) : quote::number(plan.part(i, j).value_or(0));
      line += (index(j) == 0 ? "" : ",") + part;
    }
  }
  if (plan.predicted) line += " " + std::to_string(plan.predicted->throughput) + "/s";
  say(plan.note.empty() ? line : line + " (" + plan.note + ")");
}

void Context::remember(std::shared_ptr<const Plan> plan) {
  if (settings_.statistics.empty()) return;
  if (made_plans_.size() == kMostPlans) made_plans_.pop_front();
  made_plans_.emplace_back(Clock::now(), std::move(plan));
}

/// For drivers that block: a sleeping worker may have something to do now.
void Context::wake_sleepers() {
  std::vector<int> sleeping;
  {
    const std::lock_guard lock(mutex_);
    for (const WorkerGroups::Group& group : groups_.groups()) {
      for (const int worker : group.workers) {
        if (workers_[static_cast<std::size_t>(worker)].idle.load(std::memory_order_seq_cst)) {
          sleeping.push_back(worker);
        }
      }
    }
  }
  for (const int worker : sleeping) starpu_wake_worker_relax_light(worker);
}

Report Context::report(Clock::time_point now) const {
  Report all;
  all.policy = "allot-" + std::string(policy_.name);
  all.context = id_;
  for (const Type& type : types_) all.types.push_back(type.name);
  for (const WorkerGroups::Group& group : groups_.groups()) {
    all.resources.push_back(group.name);
    all.workers.push_back(static_cast<Count>(group.most));
  }
  if (dispatcher_) {
    all.plan = dispatcher_->plan();
    all.seen = dispatcher_->statistics(now);
    for (const auto& [at, plan] : made_plans_)
      all.plans.emplace_back(all.seen.seconds - std::chrono::duration<double>(now - at).count(), plan);
    for (std::size_t i = 0; i < types_.size(); ++i) {
      for (std::size_t j = 0; j < groups_.size(); ++j) {
        all.placements.push_back(placement_.placed(task_type(i), resource_id(j)));
        all.rates.push_back(dispatcher_->estimate(task_type(i), resource_id(j)));
      }
    }
    if (wants_shares_) all.shares = shares_of(settings_, all.types);
  }
  static_cast<Tally&>(all) = tally_;
  all.moved = placement_.moved();
  return all;
}

}  // namespace allot::starpu
