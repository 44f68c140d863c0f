#include "tests/worlds/disk.hpp"

#include <algorithm>

#include "allot/jobs/journal.hpp"

namespace allot::worlds {
namespace {

TaskState state_of(const Disk::Task& task) {
  TaskState state;
  for (const auto& [number, attempt] : task.attempts) {
    state.attempts = std::max(state.attempts, number);
    if (attempt.forgiven) continue;
    state.failures +=
        attempt.status == AttemptStatus::kFailed || attempt.status == AttemptStatus::kTimeout ? 1 : 0;
    state.lost += attempt.status == AttemptStatus::kLost ? 1 : 0;
  }
  if (task.final_attempt) state.kind = task.done() ? TaskState::Kind::kDone : TaskState::Kind::kFailed;
  return state;
}

}  // namespace

MemoryJournal::MemoryJournal(Disk& disk, int most_requeues) : disk_(disk), most_requeues_(most_requeues) {
  std::vector<std::pair<Disk::Task*, int>> open;
  for (Disk::Task& task : disk_.tasks) {
    for (auto& [number, attempt] : task.attempts) {
      if (attempt.status == AttemptStatus::kStarted) open.emplace_back(&task, number);
    }
  }
  for (const auto& [task, number] : open) {
    Disk::Attempt& attempt = task->attempts[number];
    attempt.status = AttemptStatus::kLost;
    attempt.forgiven = open.size() > 1;
    if (!task->final_attempt && state_of(*task).lost > most_requeues_) task->final_attempt = number;
  }
}

std::optional<std::vector<TaskState>> MemoryJournal::register_tasks(const Job&,
                                                                    std::span<const JobItem> items,
                                                                    const std::function<bool()>& go_on) {
  if (!go_on()) return std::nullopt;
  disk_.tasks.resize(items.size());
  std::vector<TaskState> states;
  for (const Disk::Task& task : disk_.tasks) states.push_back(state_of(task));
  return states;
}

void MemoryJournal::start(AttemptStart start) {
  Record record;
  static_cast<AttemptStart&>(record.end) = std::move(start);
  record.end.status = AttemptStatus::kStarted;
  queue_.push_back(std::move(record));
}

void MemoryJournal::finish(AttemptEnd end, bool is_final) { queue_.push_back({std::move(end), is_final}); }

void MemoryJournal::commit() {
  if (queue_.empty()) return;
  if (full_) {
    failure_ = "the disk is full";
    return;
  }
  failure_.reset();
  for (const Record& record : queue_) {
    Disk::Task& task = disk_.tasks[record.end.task];
    const std::string name = "task " + std::to_string(record.end.task);
    if (record.end.status == AttemptStatus::kStarted && task.attempts.contains(record.end.attempt))
      disk_.violations.push_back(name + " has two attempts of one number");
    task.attempts[record.end.attempt] = {record.end.status, record.end.forgiven, record.end.resource,
                                         record.end.error};
    committed_ += record.end.status == AttemptStatus::kStarted ? 0 : 1;
    if (!record.is_final) continue;
    if (task.final_attempt) disk_.violations.push_back(name + " has two final records");
    task.final_attempt = record.end.attempt;
  }
  queue_.clear();
}

void MemoryJournal::flush() {
  commit();
  if (failure_) throw JournalError(JournalProblem::kIo, *failure_);
  if (!outcome_.empty()) disk_.runs.push_back(outcome_);
}

}  // namespace allot::worlds
