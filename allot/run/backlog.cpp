#include "allot/run/backlog.hpp"

#include <algorithm>
#include <utility>

namespace allot {
namespace {

auto find_for(const std::deque<Backlog::Retry>& retries, ResourceId resource, bool only_place) {
  return std::find_if(retries.begin(), retries.end(),
                      [&](const Backlog::Retry& retry) { return only_place || retry.avoid != resource; });
}

std::optional<std::uint64_t> take_from(std::deque<Backlog::Retry>& retries, ResourceId resource,
                                       bool only_place) {
  const auto found = find_for(retries, resource, only_place);
  if (found == retries.end()) return std::nullopt;
  const std::uint64_t task = found->task;
  retries.erase(found);
  return task;
}

}  // namespace

void Backlog::retry(TaskType type, const Retry& retry, Clock::time_point ready) {
  sleepers_.push({ready, type, retry});
  ++types_[index(type)].sleeping;
}

void Backlog::wake(Clock::time_point now) {
  while (!sleepers_.empty() && sleepers_.top().ready <= now) {
    const Sleeper& sleeper = sleepers_.top();
    Queue& queue = types_[index(sleeper.type)];
    (sleeper.retry.alone ? queue.alone : queue.retries).push_back(sleeper.retry);
    --queue.sleeping;
    sleepers_.pop();
  }
}

std::optional<Clock::time_point> Backlog::next_wake() const {
  if (sleepers_.empty()) return std::nullopt;
  return sleepers_.top().ready;
}

std::optional<std::uint64_t> Backlog::take(TaskType type, ResourceId resource, bool only_place) {
  Queue& queue = types_[index(type)];
  if (const auto task = take_from(queue.retries, resource, only_place)) return task;
  if (queue.fresh.empty()) return std::nullopt;
  const std::uint64_t task = queue.fresh.front();
  queue.fresh.pop_front();
  return task;
}

bool Backlog::has(TaskType type, ResourceId resource, bool only_place) const {
  const Queue& queue = types_[index(type)];
  return !queue.fresh.empty() || find_for(queue.retries, resource, only_place) != queue.retries.end();
}

std::optional<std::uint64_t> Backlog::take_alone(TaskType type, ResourceId resource, bool only_place) {
  return take_from(types_[index(type)].alone, resource, only_place);
}

bool Backlog::has_alone(TaskType type, ResourceId resource, bool only_place) const {
  const Queue& queue = types_[index(type)];
  return find_for(queue.alone, resource, only_place) != queue.alone.end();
}

Count Backlog::left() const noexcept {
  Count all = 0;
  for (std::size_t i = 0; i < types_.size(); ++i) all += left(task_type(i));
  return all;
}

std::vector<Backlog::Group> Backlog::groups() const {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    const Queue& queue = types_[i];
    const std::size_t first = groups.size();
    const auto add = [&](std::optional<ResourceId> avoid, Count count) {
      for (std::size_t at = first; at < groups.size(); ++at) {
        if (groups[at].avoid != avoid) continue;
        groups[at].count += count;
        return;
      }
      groups.push_back({task_type(i), avoid, count});
    };
    for (const Retry& retry : queue.retries) add(retry.avoid, 1);
    if (!queue.fresh.empty()) add(std::nullopt, static_cast<Count>(queue.fresh.size()));
  }
  return groups;
}

std::vector<std::uint64_t> Backlog::give_up(TaskType type) {
  Queue& queue = types_[index(type)];
  std::vector<std::uint64_t> tasks(queue.fresh.begin(), queue.fresh.end());
  for (const Retry& retry : queue.retries) tasks.push_back(retry.task);
  for (const Retry& retry : queue.alone) tasks.push_back(retry.task);
  std::vector<Sleeper> others;
  for (; !sleepers_.empty(); sleepers_.pop()) {
    if (sleepers_.top().type == type) {
      tasks.push_back(sleepers_.top().retry.task);
    } else {
      others.push_back(sleepers_.top());
    }
  }
  for (const Sleeper& sleeper : others) sleepers_.push(sleeper);
  queue.fresh.clear();
  queue.retries.clear();
  queue.alone.clear();
  queue.sleeping = 0;
  std::sort(tasks.begin(), tasks.end());
  return tasks;
}

}  // namespace allot
