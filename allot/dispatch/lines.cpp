#include "allot/dispatch/lines.hpp"

#include <algorithm>

namespace allot {

void Lines::resize(std::size_t types, std::size_t resources) {
  types = std::max(types, unbound_.size());
  resources = std::max(resources, columns_.size());
  cells_.grow(types, resources);
  unbound_.resize(types);
  waiting_by_type_.resize(types);
  candidates_.resize(types);
  offer_.resize(types);
  while (columns_.size() < resources) columns_.push_back({ServiceOrder(types, options_.when_ahead)});
  std::vector<double> weights(types);
  for (const ResourceId j : cells_.resource_ids()) {
    for (const TaskType i : cells_.type_ids()) weights[index(i)] = cells_(i, j).weight;
    column(j).order.set_weights(weights);
  }
}

// ---- waiting

void Lines::enter(WaitingTask& task) {
  if (task.arrival == 0) task.arrival = ++arrivals_;
  line_of(task).put(task);
  ++waiting_by_type_[index(task.ticket.type)];
  ++waiting_;
}

void Lines::put(WaitingTask& task) {
  task.unbound = false;
  enter(task);
}

void Lines::put_unbound(WaitingTask& task) {
  task.unbound = true;
  enter(task);
}

void Lines::remove(WaitingTask& task) noexcept {
  line_of(task).remove(task);
  --waiting_by_type_[index(task.ticket.type)];
  --waiting_;
}

void Lines::rebind(WaitingTask& task, const Ticket& ticket) {
  line_of(task).remove(task);
  task.unbound = false;
  task.ticket = ticket;
  line_of(task).put(task);
}

// ---- taking

WaitingTask* Lines::first(TaskType i, ResourceId j) const noexcept {
  const Cell& cell = cells_(i, j);
  if (WaitingTask* const own = cell.line.first()) return own;
  return cell.weight > 0 ? unbound(i).first() : nullptr;
}

WaitingTask* Lines::chosen(ResourceId j, double now, std::span<WaitingTask* const> candidates,
                           bool idling_helps) {
  if (options_.trials_first) {
    for (WaitingTask* const task : candidates) {
      if (task == nullptr || !task->ticket.explores) continue;
      task->in_order = false;
      return task;
    }
  }
  if (column(j).by_arrival) {
    WaitingTask* first = nullptr;
    for (WaitingTask* const task : candidates) {
      if (task != nullptr && (first == nullptr || task->arrival < first->arrival)) first = task;
    }
    if (first != nullptr) first->in_order = false;
    return first;
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) offer_[i] = candidates[i] == nullptr ? 0 : 1;
  const std::optional<TaskType> next = column(j).order.next(offer_, now, idling_helps);
  if (!next) return nullptr;
  candidates[index(*next)]->in_order = true;
  return candidates[index(*next)];
}

WaitingTask* Lines::take_one(ResourceId j, double now, std::span<WaitingTask* const> candidates,
                             bool idling_helps) {
  WaitingTask* const task = chosen(j, now, candidates, idling_helps);
  if (task != nullptr) remove(*task);
  return task;
}

void Lines::put_back(WaitingTask& task, ResourceId j) {
  if (task.in_order) column(j).order.given_back(task.ticket.type);
  enter(task);
}

std::optional<double> Lines::idle_until(ResourceId j) const noexcept {
  const Column& column = columns_[index(j)];
  return column.by_arrival ? std::nullopt : column.order.idle_until();
}

// ---- the plan

void Lines::set_weights(ResourceId j, std::span<const double> weights) {
  for (std::size_t i = 0; i < types(); ++i) {
    cells_(task_type(i), j).weight = i < weights.size() ? weights[i] : 0.0;
  }
  column(j).order.set_weights(weights);
}

}  // namespace allot
