#include "allot/run/gates.hpp"

#include <algorithm>

#include "allot/jobs/stages.hpp"

namespace allot {

Gates::Gates(const Job& job, std::span<const JobItem> items)
    : job_(job), items_(items), kinds_(job.tasks.size()), states_(items.size(), State::kWaits) {
  std::size_t first = 0;
  const std::vector<std::vector<TaskType>> takers = allot::takers(job);
  for (std::size_t i = 0; i < kinds_.size(); ++i) {
    kinds_[i].first = first;
    kinds_[i].rows = job.tasks[i].inputs.rows();
    first += kinds_[i].rows;
    for (const TaskType type : takers[i]) kinds_[i].takers.push_back(index(type));
    for (const TaskType type : job.tasks[i].after) kinds_[index(type)].followers.push_back(i);
  }
}

/// The task whose output it takes. Its type has a `from`.
std::size_t Gates::before(std::size_t task) const noexcept {
  return kinds_[index(*job_.tasks[type_of(task)].from)].first + items_[task].row;
}

bool Gates::has_failed_before(std::size_t task) const noexcept {
  return job_.tasks[type_of(task)].from && states_[before(task)] == State::kFailed;
}

/// For a failed task: the first task before it that failed.
std::size_t Gates::cause_of(std::size_t task) const noexcept {
  while (has_failed_before(task)) task = before(task);
  return task;
}

Gates::News Gates::begin(std::span<const TaskState> states) {
  News news;
  to_take_.assign(items_.size(), 0);
  std::vector<std::size_t> failed(kinds_.size(), items_.size());  // by type: the first that has
  for (std::size_t task = 0; task < items_.size(); ++task) {
    Kind& kind = kinds_[type_of(task)];
    const TaskState::Kind found = states[task].kind;
    if (found == TaskState::Kind::kPending) {
      ++kind.waiting;
      if (job_.tasks[type_of(task)].from) ++to_take_[before(task)];
    } else {
      states_[task] = found == TaskState::Kind::kDone ? State::kDone : State::kFailed;
    }
    if (states_[task] == State::kFailed) failed[type_of(task)] = std::min(failed[type_of(task)], task);
    if (states_[task] != State::kDone) {
      for (const std::size_t follower : kind.followers) ++kinds_[follower].before;
    }
  }
  for (std::size_t task = 0; task < items_.size(); ++task) {
    const JobTask& type = job_.tasks[type_of(task)];
    if (states_[task] != State::kDone) continue;
    if (type.at_most) ++kinds_[type_of(task)].in_use;
    // A killed run may have left the output.
    if (to_take_[task] == 0) all_have_taken(task, news);
  }
  for (const TaskType type : stage_order(job_)) {
    const Kind& kind = kinds_[index(type)];
    std::size_t cause = items_.size();
    for (const TaskType before : job_.tasks[index(type)].after)
      cause = std::min(cause, failed[index(before)]);
    for (std::size_t task = kind.first; task < kind.first + kind.rows; ++task) {
      if (cause < items_.size()) {
        doom(task, cause_of(cause), news);
      } else if (has_failed_before(task)) {
        doom(task, cause_of(before(task)), news);
      }
      if (states_[task] == State::kFailed) failed[index(type)] = std::min(failed[index(type)], task);
    }
  }
  for (std::size_t task = 0; task < items_.size(); ++task) try_to_open(task, news);
  return news;
}

Gates::News Gates::ended(std::size_t task, bool ok) {
  News news;
  if (ok) {
    done(task, news);
  } else {
    fail(task, news);
    doom_followers(task, task, news);
    for (std::size_t k = 0; k < news.doomed.size(); ++k) doom_followers(news.doomed[k].task, task, news);
  }
  return news;
}

Gates::News Gates::removed(std::size_t task) {
  News news;
  free_room(type_of(task), news);
  return news;
}

void Gates::try_to_open(std::size_t task, News& news) {
  const std::size_t type = type_of(task);
  Kind& kind = kinds_[type];
  if (states_[task] != State::kWaits || kind.before > 0) return;
  if (job_.tasks[type].from && states_[before(task)] != State::kDone) return;
  states_[task] = State::kHeld;
  kind.held.push_back(task);
  admit(type, news);
}

/// Opens held tasks for which there is room.
void Gates::admit(std::size_t type, News& news) {
  Kind& kind = kinds_[type];
  const auto& at_most = job_.tasks[type].at_most;
  while (!kind.held.empty() && (!at_most || kind.in_use < *at_most)) {
    const std::size_t task = kind.held.front();
    kind.held.pop_front();
    if (states_[task] != State::kHeld) continue;  // it has failed in the meantime
    leave(task, State::kOpen);
    if (at_most) ++kind.in_use;
    news.open.push_back(task);
  }
}

/// Stops counting the task as waiting.
void Gates::leave(std::size_t task, State state) {
  if (states_[task] == State::kWaits || states_[task] == State::kHeld) --kinds_[type_of(task)].waiting;
  states_[task] = state;
}

void Gates::done(std::size_t task, News& news) {
  const Kind& kind = kinds_[type_of(task)];
  leave(task, State::kDone);
  for (const std::size_t taker : kind.takers) try_to_open(kinds_[taker].first + items_[task].row, news);
  for (const std::size_t follower : kind.followers) {
    Kind& next = kinds_[follower];
    if (--next.before > 0) continue;
    for (std::size_t k = 0; k < next.rows; ++k) try_to_open(next.first + k, news);
  }
  if (to_take_[task] == 0) all_have_taken(task, news);
  has_taken(task, news);
}

void Gates::fail(std::size_t task, News& news) {
  const bool had_room = states_[task] == State::kOpen;
  leave(task, State::kFailed);
  if (had_room) free_room(type_of(task), news);
  has_taken(task, news);
}

void Gates::doom(std::size_t task, std::size_t cause, News& news) {
  if (states_[task] != State::kWaits) return;
  news.doomed.push_back({task, cause});
  fail(task, news);
}

/// Fails all tasks that wait for a failed task.
void Gates::doom_followers(std::size_t task, std::size_t cause, News& news) {
  const Kind& kind = kinds_[type_of(task)];
  for (const std::size_t taker : kind.takers) doom(kinds_[taker].first + items_[task].row, cause, news);
  for (const std::size_t follower : kind.followers) {
    const Kind& next = kinds_[follower];
    for (std::size_t k = 0; k < next.rows && next.waiting > 0; ++k) doom(next.first + k, cause, news);
  }
}

/// The task has its final record: it no longer needs the output that it took.
void Gates::has_taken(std::size_t task, News& news) {
  if (!job_.tasks[type_of(task)].from) return;
  const std::size_t maker = before(task);
  if (--to_take_[maker] == 0 && states_[maker] == State::kDone) all_have_taken(maker, news);
}

/// The output of a successful task is no longer needed. It is kept if one of its takers failed, so that the
/// taker can be tried again; then it no longer counts.
void Gates::all_have_taken(std::size_t task, News& news) {
  const std::size_t type = type_of(task);
  const Kind& kind = kinds_[type];
  const bool all_well = std::all_of(kind.takers.begin(), kind.takers.end(), [&](std::size_t taker) {
    return states_[kinds_[taker].first + items_[task].row] == State::kDone;
  });
  if (!job_.tasks[type].keep && all_well) {
    news.removable.push_back(task);
  } else {
    free_room(type, news);
  }
}

void Gates::free_room(std::size_t type, News& news) {
  if (!job_.tasks[type].at_most) return;
  --kinds_[type].in_use;
  admit(type, news);
}

Count Gates::streaming(TaskType type) const noexcept {
  for (TaskType step = type;; step = *job_.tasks[index(step)].from) {
    if (kinds_[index(step)].before > 0) return 0;
    if (!job_.tasks[index(step)].from) return waiting(type);
  }
}

std::vector<std::size_t> Gates::waiting_tasks(TaskType type) const {
  const Kind& kind = kinds_[index(type)];
  std::vector<std::size_t> tasks;
  for (std::size_t task = kind.first; task < kind.first + kind.rows; ++task) {
    if (states_[task] == State::kWaits || states_[task] == State::kHeld) tasks.push_back(task);
  }
  return tasks;
}

}  // namespace allot
