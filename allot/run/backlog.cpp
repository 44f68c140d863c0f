#include "allot/run/backlog.hpp"

#include <algorithm>

namespace allot {

void Backlog::retry(TaskType type, std::uint64_t task, std::optional<ResourceId> avoid,
                    Clock::time_point ready) {
  sleepers_.push({ready, type, {task, avoid}});
  ++types_[index(type)].sleeping;
}

void Backlog::wake(Clock::time_point now) {
  while (!sleepers_.empty() && sleepers_.top().ready <= now) {
    Queue& queue = types_[index(sleepers_.top().type)];
    queue.retries.push_back(sleepers_.top().retry);
    --queue.sleeping;
    sleepers_.pop();
  }
}

std::optional<Clock::time_point> Backlog::next_wake() const {
  if (sleepers_.empty()) return std::nullopt;
  return sleepers_.top().ready;
}

std::optional<std::uint64_t> Backlog::take(TaskType type, ResourceId resource, bool alone) {
  Queue& queue = types_[index(type)];
  const auto found = std::find_if(queue.retries.begin(), queue.retries.end(),
                                  [&](const Retry& retry) { return alone || retry.avoid != resource; });
  if (found != queue.retries.end()) {
    const std::uint64_t task = found->task;
    queue.retries.erase(found);
    return task;
  }
  if (queue.fresh.empty()) return std::nullopt;
  const std::uint64_t task = queue.fresh.front();
  queue.fresh.pop_front();
  return task;
}

bool Backlog::has(TaskType type, ResourceId resource, bool alone) const {
  const Queue& queue = types_[index(type)];
  return !queue.fresh.empty() ||
         std::any_of(queue.retries.begin(), queue.retries.end(),
                     [&](const Retry& retry) { return alone || retry.avoid != resource; });
}

Count Backlog::left() const noexcept {
  Count all = 0;
  for (std::size_t i = 0; i < types_.size(); ++i) all += left(task_type(i));
  return all;
}

std::vector<std::uint64_t> Backlog::give_up(TaskType type) {
  Queue& queue = types_[index(type)];
  std::vector<std::uint64_t> tasks(queue.fresh.begin(), queue.fresh.end());
  for (const Retry& retry : queue.retries) tasks.push_back(retry.task);
  std::vector<Sleeper> others;
  for (; !sleepers_.empty(); sleepers_.pop()) {
    if (sleepers_.top().type == type) {
      tasks.push_back(sleepers_.top().retry.task);
    } else {
      others.push_back(sleepers_.top());
    }
  }
  for (const Sleeper& sleeper : others) sleepers_.push(sleeper);
  queue = Queue{};
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

}  // namespace allot
