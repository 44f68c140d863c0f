// What must hold where types follow each other.
#include <algorithm>

#include "tests/worlds/invariants.hpp"

namespace allot::worlds {

Invariants::Fate Invariants::fate(std::size_t task) const {
  if (const auto now = ended_.find(task); now != ended_.end())
    return now->second ? Fate::kDone : Fate::kFailed;
  if (task >= disk_.tasks.size() || !disk_.tasks[task].final_attempt) return Fate::kNone;
  return disk_.tasks[task].done() ? Fate::kDone : Fate::kFailed;
}

/// No task runs before what it waits for has ended well, and its input is there.
Invariants::Problem Invariants::too_early(std::size_t task) const {
  const JobItem& item = loop_.items()[task];
  const JobTask& type = scene_.job.tasks[index(item.type)];
  const std::string name = "task " + std::to_string(task);
  if (type.from) {
    const std::size_t before = task_of(*type.from, item.row);
    if (fate(before) != Fate::kDone) return name + " runs before the one whose output it takes is done";
    if (!disk_.outputs.contains(before)) return name + " runs, and its input is gone";
  }
  for (const TaskType before : type.after) {
    for (std::size_t row = 0; row < scene_.job.tasks[index(before)].inputs.rows(); ++row) {
      if (fate(task_of(before, row)) != Fate::kDone)
        return name + " runs before all that it comes after are done";
    }
  }
  return std::nullopt;
}

/// Counted anew: made now, or there and not yet worked on by all.
Invariants::Problem Invariants::outputs_in_use() const {
  for (std::size_t i = 0; i < scene_.job.tasks.size(); ++i) {
    const JobTask& type = scene_.job.tasks[i];
    if (!type.at_most) continue;
    Count used = loop_.attempts().by_type()[i];
    for (std::size_t row = 0; row < type.inputs.rows(); ++row) {
      if (fate(first_[i] + row) != Fate::kDone) continue;
      bool waits = false;
      bool failed = false;
      for (const TaskType taker : takers_[i]) {
        waits |= fate(task_of(taker, row)) == Fate::kNone;
        failed |= fate(task_of(taker, row)) == Fate::kFailed;
      }
      const bool to_be_removed = !type.keep && !failed && disk_.outputs.contains(first_[i] + row);
      used += waits || to_be_removed ? 1 : 0;
    }
    if (used > *type.at_most) return "t" + std::to_string(i) + " has more outputs in use than it may";
  }
  return std::nullopt;
}

Invariants::Problem Invariants::removed(std::size_t task) const {
  const JobItem& item = loop_.items()[task];
  if (scene_.job.tasks[index(item.type)].keep) return "an output that is to be kept is removed";
  if (!disk_.tasks[task].done()) return "an output is removed whose task is not recorded as done";
  for (const TaskType taker : takers_[index(item.type)]) {
    if (!disk_.tasks[task_of(taker, item.row)].done())
      return "an output is removed before all who take it are durably done";
  }
  return std::nullopt;
}

Invariants::Problem Invariants::stages_at_end(const RunSummary& summary) const {
  for (std::size_t task = 0; task < disk_.tasks.size(); ++task) {
    const JobItem& item = loop_.items()[task];
    const JobTask& type = scene_.job.tasks[index(item.type)];
    const std::string name = "task " + std::to_string(task);
    bool has_failed_before = type.from && fate(task_of(*type.from, item.row)) == Fate::kFailed;
    for (const TaskType before : type.after) {
      for (std::size_t row = 0; row < scene_.job.tasks[index(before)].inputs.rows(); ++row)
        has_failed_before |= fate(task_of(before, row)) == Fate::kFailed;
    }
    if (has_failed_before && fate(task) != Fate::kFailed) return name + " outlives one that it waited for";
    if (!has_failed_before && disk_.tasks[task].final_attempt == 0)
      return name + " failed for others, which have not";
    if (!disk_.tasks[task].done() || takers_[index(item.type)].empty()) continue;
    const auto& takers = takers_[index(item.type)];
    const bool served = std::all_of(takers.begin(), takers.end(), [&](TaskType taker) {
      return disk_.tasks[task_of(taker, item.row)].done();
    });
    if (disk_.outputs.contains(task) != (type.keep || !served))
      return "the output of " + name + (type.keep || !served ? " is gone" : " was left");
  }
  if (summary.outcome == RunSummary::Outcome::kFinished && loop_.backlog().left() > 0)
    return "tasks wait to be started that have their final record";
  const auto slots = loop_.crew()->slots();
  const bool any_gone = std::any_of(slots.begin(), slots.end(),
                                    [](const Slot& slot) { return slot.state == Slot::State::kGone; });
  if (summary.outcome == RunSummary::Outcome::kStranded && !any_gone)
    return "it ended with tasks that wait for each other";
  return std::nullopt;
}

}  // namespace allot::worlds
