#include "integrations/starpu/placement.hpp"

#include <limits>
#include <utility>

namespace allot::starpu {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

Clock::time_point time_at(double seconds) {
  return Clock::time_point(
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
}

}  // namespace

void Placement::resize(std::size_t types, std::size_t resources) {
  types_ = std::max(types, types_);
  columns_.resize(std::max(resources, columns_.size()));
  cells_.grow(types_, columns_.size());
  rows_.resize(types_);
  candidates_.resize(types_);
  // A new type gets a part of each resource before a plan decides, so that it can run even if no plan comes.
  lines_.resize(types_, columns_.size());
}

void Placement::count(const HeldTask& task, Count change) {
  Row& row = rows_[index(task.ticket.type)];
  row.in_flight += change;
  row.peak = std::max(row.peak, row.in_flight);
  if (!task.unbound) count_there(task, change);
}

/// Counts it at its resource.
void Placement::count_there(const HeldTask& task, Count change) {
  cell(task.ticket.type, task.ticket.resource).in_flight += change;
  columns_[index(task.ticket.resource)].tasks += change;
}

void Placement::count_waiting(const HeldTask& task, Count change) {
  for (const ResourceId j : resource_ids()) {
    if (holds(task.able, j)) cell(task.ticket.type, j).could_run += change;
  }
}

void Placement::put(HeldTask& task) {
  if (late_ && !task.pinned) {
    lines_.put_unbound(task);
  } else {
    // An earlier task of the same type may be better off elsewhere, and wait for that.
    if (task.ticket.explores) task.urgency = std::numeric_limits<int>::max();
    task.placed = task.ticket.resource;
    ++cell(task.ticket.type, task.placed).placed;
    if (!task.pinned) lines_.put(task);
  }
  if (!task.pinned) count_waiting(task, 1);
  count(task, 1);
  tell_waiting(task.ticket.type);
}

void Placement::pin(HeldTask& task, Clock::time_point now, Dispatcher& dispatcher) {
  const auto [i, j] = std::pair(task.ticket.type, task.ticket.resource);
  if (late_) task.start = late_->take_at(i, j, now);
  task.ticket = task.start ? task.start->ticket : dispatcher.place_at(i, j, now);
  put(task);
}

bool Placement::plan_has(TaskType i, ResourceId j) const noexcept {
  const System& planned = late_->plan().system;
  if (index(i) >= planned.type_count() || index(j) >= planned.resource_count()) return true;
  return *late_->plan().part(i, j) > 0;
}

void Placement::take_out(HeldTask& task) {
  lines_.remove(task);
  if (!task.unbound) --cell(task.ticket.type, task.placed).placed;
  count_waiting(task, -1);
  count(task, -1);
  tell_waiting(task.ticket.type);
}

void Placement::set_able(HeldTask& task, ResourceSet able) {
  count_waiting(task, -1);
  task.able = able;
  count_waiting(task, 1);
}

void Placement::put_back(HeldTask& task) {
  if (task.start) {
    late_->put_back(*task.start);
    task.start.reset();
    count_there(task, -1);
    --cell(task.ticket.type, task.placed).placed;
    task.unbound = true;
  }
  lines_.put_back(task, task.ticket.resource);
  count_waiting(task, 1);
  tell_waiting(task.ticket.type);
}

/// Counts a task whose ticket is now for another resource.
void Placement::count_move(ResourceId from, const HeldTask& task) {
  const auto [i, to] = std::pair(task.ticket.type, task.ticket.resource);
  --cell(i, from).in_flight;
  --columns_[index(from)].tasks;
  ++cell(i, to).in_flight;
  ++columns_[index(to)].tasks;
  ++moved_;
}

// ---- the next task

/// Seconds until all tasks there have ended, by the mean times. Without servers, nothing ends.
double Placement::backlog(ResourceId j) const {
  if (columns_[index(j)].servers == 0) return kNever;
  double seconds = 0;
  for (const TaskType i : type_ids()) {
    seconds += static_cast<double>(cell(i, j).in_flight) * expected_seconds(i, j);
  }
  return seconds / columns_[index(j)].servers;
}

/// A quarter more or fewer is close to the plan, and so is one task, which may just have ended.
bool Placement::fits(const Row& row, Count more) noexcept {
  const Count tasks = row.in_flight + more;
  const Count slack = std::max<Count>(1, row.planned / 4);
  return row.has_target && tasks >= row.planned - slack && tasks <= row.planned + slack;
}

/// Whether a resource that has never run the type gets one more task to measure its time.
bool Placement::may_try(TaskType i, ResourceId j) const noexcept {
  return static_cast<double>(cell(i, j).in_flight) < columns_[index(j)].servers;
}

/// Whether resource j may take a task of type i that waits at another one.
bool Placement::may_take(TaskType i, ResourceId j, ResourceId from) const {
  const Cell& here = cell(i, j);
  if (fits(rows_[index(i)], 0)) return here.in_flight < here.target;
  return here.seconds == 0 ? may_try(i, j) : here.seconds < backlog(from);
}

/// Whether a task of type i that waits at resource j, where the plan has no place for it, should rather wait
/// for resource k, where it has one. If j leaves a task to k for this reason, k may take it: otherwise none
/// would.
bool Placement::better_at(ResourceId k, TaskType i, ResourceId j) const {
  const Cell& here = cell(i, j);
  const Cell& there = cell(i, k);
  if (!rows_[index(i)].has_target || here.target > 0 || here.seconds == 0) return false;
  return there.target > 0 && backlog(k) + there.seconds < here.seconds;
}

bool Placement::better_elsewhere(const HeldTask& task, ResourceId j) const {
  for (const ResourceId k : resource_ids()) {
    if (holds(task.able, k) && better_at(k, task.ticket.type, j)) return true;
  }
  return false;
}

/// The task of type i that resource j would run now, or null.
WaitingTask* Placement::candidate(TaskType i, ResourceId j, const Accepts& accepts) const {
  if (cell(i, j).could_run == 0) return nullptr;  // even if many wait for others
  const auto accepted = [&](const WaitingTask& waiting) {
    return !as_held(waiting).choosy || accepts(as_held(waiting));
  };
  if (WaitingTask* const own = lines_.line(i, j).first(accepted)) {
    if (own->ticket.explores || !better_elsewhere(as_held(*own), j)) return own;
  }
  WaitingTask* best = nullptr;
  Count most = 0;
  for (const ResourceId k : resource_ids()) {
    const Line& line = lines_.line(i, k);
    if (k == j || line.empty()) continue;
    const Count surplus = cell(i, k).in_flight - cell(i, k).target;
    if (best != nullptr && surplus <= most) continue;
    if (!may_take(i, j, k) && !better_at(j, i, k)) continue;
    WaitingTask* const task = line.first([&](const WaitingTask& waiting) {
      return holds(as_held(waiting).able, j) && !waiting.ticket.explores && accepted(waiting);
    });
    if (task == nullptr) continue;
    best = task;
    most = surplus;
  }
  return best;
}

/// The next task of the plan; before idling, a task for which the plan has no place.
HeldTask* Placement::take_late(ResourceId j, double now, const Accepts& accepts) {
  const auto accepted = [&](const WaitingTask& waiting) {
    return holds(as_held(waiting).able, j) && (!as_held(waiting).choosy || accepts(as_held(waiting)));
  };
  const Clock::time_point time = time_at(now);
  auto start = late_->next(j, time, [&](TaskType i) { return lines_.unbound(i).first(accepted) != nullptr; });
  WaitingTask* task = start ? lines_.unbound(start->ticket.type).first(accepted) : nullptr;
  for (const TaskType i : type_ids()) {
    if (task != nullptr) break;
    task = lines_.unbound(i).first(
        [&](const WaitingTask& waiting) { return is_stranded(as_held(waiting)) && accepted(waiting); });
  }
  if (task == nullptr) {
    if (const auto again = late_->ask_again(j))
      columns_[index(j)].idle_until = std::chrono::duration<double>(again->time_since_epoch()).count();
    return nullptr;
  }
  if (!start) start = late_->take_at(task->ticket.type, j, time);
  HeldTask& held = *as_held(task);
  lines_.remove(held);
  held.unbound = false;
  held.placed = j;
  held.ticket = start->ticket;
  held.start = start;
  ++cell(held.ticket.type, j).placed;
  count_there(held, 1);
  count_waiting(held, -1);
  tell_waiting(held.ticket.type);
  return &held;
}

/// Whether the plan has places for tasks of the type, but none that can run this one.
bool Placement::is_stranded(const HeldTask& task) const noexcept {
  if (!task.choosy) return false;
  bool has_place = false;
  for (const ResourceId j : resource_ids()) {
    if (!plan_has(task.ticket.type, j)) continue;
    if (holds(task.able, j)) return false;
    has_place = true;
  }
  return has_place;
}

HeldTask* Placement::take(ResourceId j, double now, Dispatcher& dispatcher, const Accepts& accepts) {
  Column& column = columns_[index(j)];
  column.idle_until.reset();
  if (late_) return take_late(j, now, accepts);
  bool any = false;
  // Shares refer to the planned work. With other work, as in a task graph, a worker that waits keeps no
  // share.
  bool as_planned = true;
  for (const TaskType i : type_ids()) {
    as_planned &= rows_[index(i)].in_flight == 0 ? rows_[index(i)].planned == 0 : fits(rows_[index(i)], 0);
    WaitingTask* const task = candidate(i, j, accepts);
    candidates_[index(i)] = task;
    any |= task != nullptr;
  }
  if (!any) return nullptr;
  HeldTask* const task = as_held(lines_.take_one(j, now, candidates_, as_planned));
  if (task == nullptr) {
    column.idle_until = lines_.idle_until(j);
    return nullptr;
  }
  if (const ResourceId from = task->ticket.resource; from != j) {
    task->ticket = dispatcher.move(task->ticket, j);
    count_move(from, *task);
  }
  count_waiting(*task, -1);
  return task;
}

void Placement::end(const HeldTask& task, std::optional<double> seconds, Clock::time_point now,
                    Dispatcher& dispatcher) {
  count(task, -1);
  const auto [i, j] = std::pair(task.ticket.type, task.ticket.resource);
  const double known = seconds.value_or(std::numeric_limits<double>::quiet_NaN());
  if (task.start) return late_->ended(*task.start, known, true, now);
  if (!task.ticket.explores) lines_.served(i, j, seconds.value_or(expected_seconds(i, j)));
  dispatcher.complete(task.ticket, known, true, now);
}

Count Placement::in_flight() const noexcept {
  Count all = 0;
  for (const Column& column : columns_) all += column.tasks;
  return all;
}

std::vector<HeldTask*> Placement::waiting_tasks() const {
  std::vector<HeldTask*> tasks;
  const auto add = [&](WaitingTask& task) { tasks.push_back(as_held(&task)); };
  for (const TaskType i : type_ids()) {
    lines_.unbound(i).for_each(add);
    for (const ResourceId j : resource_ids()) lines_.line(i, j).for_each(add);
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const HeldTask* a, const HeldTask* b) { return a->arrival < b->arrival; });
  return tasks;
}

// ---- plans

std::vector<Count> Placement::take_peaks() {
  std::vector<Count> peaks;
  for (Row& row : rows_) {
    peaks.push_back(row.peak);
    row.peak = row.in_flight;
  }
  return peaks;
}

/// The plan may be older than the latest types and resources, which keep their weights.
void Placement::weigh(const Plan& plan) {
  const double without = when_ahead_ == Lines::WhenAhead::kServe ? 1.0 : 0.0;
  std::vector<double> weights(types_);
  for (const ResourceId j : plan.system.resource_ids()) {
    for (const TaskType i : type_ids()) weights[index(i)] = lines_.weight(i, j);
    for (const TaskType i : plan.system.types()) {
      weights[index(i)] = rows_[index(i)].has_target ? *plan.part(i, j) : without;
    }
    lines_.set_weights(j, weights);
  }
}

void Placement::follow(const Plan& plan, Dispatcher& dispatcher) {
  const System& system = plan.system;
  for (const TaskType i : system.types()) {
    Row& row = rows_[index(i)];
    row.has_target = plan.target.has_value() && system.count(i) > 0;
    row.planned = system.count(i);
    row.fastest = 0;
    for (const ResourceId j : system.resource_ids()) {
      Cell& now = cell(i, j);
      now.target = plan.target ? (*plan.target)(i, j) : 0;
      now.seconds = system.seconds_per_task(i, j);
      if (now.seconds > 0 && (row.fastest == 0 || now.seconds < row.fastest)) row.fastest = now.seconds;
    }
  }
  if (late_) return;
  weigh(plan);
  for (const TaskType i : system.types()) {
    if (lines_.waiting(i) == 0 || !fits(rows_[index(i)], 0)) continue;
    for (const ResourceId to : system.resource_ids()) {
      for (const ResourceId from : system.resource_ids()) move_surplus(i, from, to, dispatcher);
    }
  }
}

/// Tasks that wait at a resource with more of the type than planned move to where some are missing.
void Placement::move_surplus(TaskType i, ResourceId from, ResourceId to, Dispatcher& dispatcher) {
  const Cell& there = cell(i, from);
  while (!lines_.line(i, from).empty() && there.in_flight > there.target &&
         cell(i, to).in_flight < cell(i, to).target) {
    HeldTask& task = *as_held(lines_.line(i, from).last());
    if (!holds(task.able, to) || task.choosy || task.ticket.explores) return;
    lines_.rebind(task, dispatcher.move(task.ticket, to));
    count_move(from, task);
  }
}

ResourceId Placement::soonest(TaskType i, ResourceSet able, std::span<const double> transfers) const {
  ResourceId best{};
  double least = kNever;
  bool within = false;  // the best so far is a trial that is allowed there, or has a known time
  for (const ResourceId j : resource_ids()) {
    const Column& column = columns_[index(j)];
    if (!holds(able, j) || column.servers == 0) continue;
    const bool fine = cell(i, j).seconds > 0 || may_try(i, j);
    if (within && !fine) continue;
    double end = backlog(j) + expected_seconds(i, j) + (transfers.empty() ? 0.0 : transfers[index(j)]);
    // Tasks with unknown times count by their number only, with less weight than any known time.
    end += 1e-9 * static_cast<double>(column.tasks) / column.servers;
    if (fine == within && end >= least) continue;
    best = j;
    least = end;
    within = fine;
  }
  return best;
}

}  // namespace allot::starpu
