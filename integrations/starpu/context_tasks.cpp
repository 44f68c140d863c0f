// The tasks of a context: push, pop, and end.
#include <starpu_scheduler.h>

#include <algorithm>
#include <limits>

#include "integrations/starpu/context.hpp"
#include "integrations/starpu/locked.hpp"
#include "integrations/starpu/message.hpp"
#include "integrations/starpu/tasks.hpp"

namespace allot::starpu {
namespace {

/// Maximum tasks that a StarPU worker has started at once: STARPU_MAX_PIPELINE.
constexpr std::size_t kPipeline = 4;
constexpr double kNotAgain = std::numeric_limits<double>::infinity();

double seconds(Clock::time_point time) {
  return std::chrono::duration<double>(time.time_since_epoch()).count();
}

/// The number of the calling worker; -1: the caller is not a worker.
int this_worker() {
  const int id = starpu_worker_get_id();
  return id < STARPU_NMAXWORKERS ? id : -1;
}

}  // namespace

// ---- ready

/// Creates the HeldTask of a task and places it, but does not put it into a line; null: no worker can run it
/// now.
HeldTask* Context::admit(starpu_task* task) {
  task->sched_data = nullptr;
  const bool picky = settings_.types == TypesBy::kSymbol || choosy(task);
  const TypeKey key = key_of(task, settings_.types);
  std::optional<TaskType> i = table_.find(key);
  const ResourceSet set = i ? able(task, *i, picky) : able(task);
  if (set == 0) {  // and creates no type
    park(task);
    return nullptr;
  }
  if (!i) {
    i = make_type(key, task);
    if (!picky) {
      types_[index(*i)].able = set;
      types_[index(*i)].workers_version = workers_version_;
    }
  }
  HeldTask& held = held_.make();
  held.task = task;
  held.choosy = picky;
  held.able = set;
  held.ticket.type = *i;
  place(held);
  task->sched_data = &held;
  return &held;
}

void Context::place(HeldTask& held) {
  const TaskType i = held.ticket.type;
  held.urgency = held.task->priority;
  if (placement_.binds_late()) return;  // the worker that takes it decides
  if (types_[index(i)].planned && placement_.fits_plan(i)) {
    while (const std::optional<Ticket> ticket = dispatcher_->place(i)) {
      if (holds(held.able, ticket->resource)) {
        held.ticket = *ticket;
        return;
      }
      dispatcher_->cancel(*ticket);
      if (!ticket->explores) break;  // otherwise the plan has not been asked yet
    }
  }
  ++tally_.greedy;
  std::array<double, kMostResources> transfers{};
  if (STARPU_TASK_GET_NBUFFERS(held.task) > 0) {
    for (std::size_t j = 0; j < groups_.size(); ++j) {
      if (holds(held.able, resource_id(j))) {
        transfers[j] = transfer_seconds(held.task, groups_.group(resource_id(j)).workers.front());
      }
    }
  }
  held.ticket = dispatcher_->place_at(i, placement_.soonest(i, held.able, transfers));
}

/// No worker of the context can run the task now: it waits for one.
void Context::park(starpu_task* task) {
  if (tally_.parked++ == 0) {
    say("no worker of context " + std::to_string(id_) + " can run the task '" +
        name_of(task, settings_.types) + "': it waits until one comes (others like it wait in silence)");
  }
  parked_.push_back(task);
}

/// Removes a HeldTask that is in no line, as if it had never existed.
void Context::forget(HeldTask& held) {
  give_back_ticket(held);
  held.task->sched_data = nullptr;
  held_.release(held);
}

/// For a task that no worker has taken; under late binding it has no ticket.
void Context::give_back_ticket(const HeldTask& held) {
  if (!placement_.binds_late()) dispatcher_->cancel(held.ticket);
}

/// The worker for which data are fetched while the task waits; -1: none. Under late binding the worker is not
/// known before: devices fetch the data of a task while they run the one before it.
int Context::fetches_ahead(const HeldTask& held) const {
  if (placement_.binds_late() || starpu_get_prefetch_flag() == 0 || STARPU_TASK_GET_NBUFFERS(held.task) == 0)
    return -1;
  const int worker = groups_.group(held.ticket.resource).workers.front();
  return starpu_worker_get_memory_node(static_cast<unsigned>(worker)) == STARPU_MAIN_RAM ? -1 : worker;
}

/// A worker that could run the task and no longer asks; -1: none. Under late binding it may be any of
/// several: the planner wakes the others.
int Context::sleeper(const HeldTask& held) const noexcept {
  int other = -1;
  for (std::size_t j = 0; j < groups_.size(); ++j) {
    if (!holds(held.able, resource_id(j))) continue;
    if (held.unbound && !placement_.plan_has(held.ticket.type, resource_id(j))) continue;
    for (const int worker : groups_.group(resource_id(j)).workers) {
      if (!workers_[static_cast<std::size_t>(worker)].idle.load(std::memory_order_seq_cst)) continue;
      if (resource_id(j) == held.ticket.resource) return worker;
      other = worker;
    }
  }
  return other;
}

void Context::push(starpu_task* task) {
  int wake = -1;
  {
    Locked lock(mutex_);
    HeldTask* held = admit(task);
    if (const int worker = held == nullptr ? -1 : fetches_ahead(*held); worker >= 0) {
      const std::uint64_t version = workers_version_;
      // Before any worker can take the task, and without the lock, which is not needed for StarPU's data.
      lock.unlock();
      starpu_prefetch_task_input_for(task, static_cast<unsigned>(worker));
      lock.lock();
      if (workers_version_ != version) {  // the workers have changed: decide again
        forget(*held);
        held = admit(task);
      }
    }
    if (held != nullptr) {
      placement_.put(*held);
      changed();
      wake = sleeper(*held);
    }
    starpu_push_task_end(task);
  }
  if (wake >= 0) starpu_wake_worker_relax_light(wake);
}

void Context::push_bound(starpu_task* task, int worker) {
  if (task->sched_ctx != id_) return;
  const Locked lock(mutex_);
  task->sched_data = nullptr;
  const std::optional<ResourceId> j = groups_.resource_of(worker);
  if (!j || task->cl == nullptr) return;
  const TypeKey key = key_of(task, settings_.types);
  std::optional<TaskType> i = table_.find(key);
  if (!i) i = make_type(key, task);
  HeldTask& held = held_.make();
  held.task = task;
  held.pinned = true;
  held.ticket.type = *i;
  held.ticket.resource = *j;
  placement_.pin(held, Clock::now(), *dispatcher_);
  task->sched_data = &held;
  ++tally_.bound;
}

// ---- running

void Context::take_on(Worker& worker, HeldTask& held, double now) {
  held.taken = now;
  held.next = nullptr;
  (worker.last == nullptr ? worker.first : worker.last->next) = &held;
  worker.last = &held;
  worker.taken.fetch_add(1, std::memory_order_relaxed);
}

/// Removes the first of a worker's tasks.
HeldTask& Context::take_off(Worker& worker) {
  HeldTask& held = *as_held(worker.first);
  worker.first = held.next;
  if (worker.first == nullptr) worker.last = nullptr;
  worker.taken.fetch_sub(1, std::memory_order_relaxed);
  return held;
}

starpu_task* Context::pop() {
  const int id = this_worker();
  if (id < 0) return nullptr;
  Worker& me = workers_[static_cast<std::size_t>(id)];
  if (!me.here.load(std::memory_order_acquire)) return nullptr;
  // Set before looking, so that a push after the look knows which worker to wake.
  if (!me.idle.load(std::memory_order_relaxed)) me.idle.store(true, std::memory_order_seq_cst);
  const bool is_cpu = starpu_worker_get_type(id) == STARPU_CPU_WORKER;
  const bool left_over = is_cpu && me.taken.load(std::memory_order_relaxed) > 0;
  if (!left_over) {
    if (waiting_.load(std::memory_order_seq_cst) == 0) return nullptr;
    const bool nothing_new =
        me.asked.load(std::memory_order_relaxed) == changes_.load(std::memory_order_seq_cst);
    const double again = me.ask_again.load(std::memory_order_relaxed);
    if (nothing_new && (again == kNotAgain || seconds(Clock::now()) < again)) return nullptr;
  }

  const Locked lock(mutex_);
  if (!me.here.load(std::memory_order_relaxed) || !dispatcher_) return nullptr;
  const Clock::time_point now = Clock::now();
  // A CPU worker that asks has ended all its tasks; other workers may run several at once.
  close_left_over(me, nullptr, is_cpu ? 0 : kPipeline, now);
  const std::uint64_t version = changes_.load(std::memory_order_seq_cst);
  HeldTask* const held =
      placement_.take(me.resource, seconds(now), *dispatcher_,
                      [id](const HeldTask& waiting) { return implementation(waiting.task, id).has_value(); });
  waiting_.store(placement_.waiting(), std::memory_order_seq_cst);
  if (held == nullptr) {
    me.asked.store(version, std::memory_order_relaxed);
    me.ask_again.store(placement_.idle_until(me.resource).value_or(kNotAgain), std::memory_order_relaxed);
    return nullptr;
  }
  const std::optional<unsigned> which = implementation(held->task, id);
  if (!which) {  // tasks of the type differ
    held->choosy = true;
    placement_.put_back(*held);
    changed();
    return nullptr;
  }
  starpu_task_set_implementation(held->task, *which);
  me.idle.store(false, std::memory_order_relaxed);
  take_on(me, *held, seconds(now));
  return held->task;
}

/// The HeldTask of a task of this context: `sched_data` of other contexts must not be used.
HeldTask* Context::held_of(const starpu_task* task) const noexcept {
  return task->sched_ctx == id_ ? static_cast<HeldTask*>(task->sched_data) : nullptr;
}

void Context::begin(starpu_task* task) {
  HeldTask* const held = held_of(task);
  if (held == nullptr || !held->pinned) return;
  const int id = this_worker();
  if (id < 0) return;
  const Locked lock(mutex_);
  take_on(workers_[static_cast<std::size_t>(id)], *held, seconds(Clock::now()));
}

void Context::end(starpu_task* task) {
  HeldTask* const held = held_of(task);
  const int id = this_worker();
  if (held == nullptr || id < 0) return;
  task->sched_data = nullptr;
  Worker& me = workers_[static_cast<std::size_t>(id)];
  const Locked lock(mutex_);
  if (held->task != task) return;
  const Clock::time_point now = Clock::now();
  bool mine = false;
  for (const WaitingTask* taken = me.first; taken != nullptr && !mine; taken = taken->next)
    mine = taken == held;
  if (!mine) return close(*held, std::nullopt, now);
  close_left_over(me, held, 0, now);
  take_off(me);
  // The time in which it had the worker to itself, including transfers that nothing else hid.
  const double busy = seconds(now) - std::max(held->taken, me.free_since);
  me.free_since = seconds(now);
  close(*held, busy, now);
}

void Context::close(HeldTask& held, std::optional<double> busy, Clock::time_point now) {
  placement_.end(held, busy, now, *dispatcher_);
  held_.release(held);
  changed();
}

/// Closes tasks of a worker whose end StarPU has not reported (it does not for internal ones, such as those
/// of reductions): all before `until`, or all but the latest `keep`.
void Context::close_left_over(Worker& worker, const HeldTask* until, std::size_t keep,
                              Clock::time_point now) {
  std::size_t left = 0;
  for (const WaitingTask* held = worker.first; held != until; held = held->next) ++left;
  for (; left > keep; --left) {
    close(take_off(worker), std::nullopt, now);
    ++tally_.closed;
  }
}

}  // namespace allot::starpu
