// The consequences of a task's end for others: tasks that waited for it start or fail, and outputs that are
// no longer needed are removed.
#include <utility>

#include "allot/run/loop.hpp"
#include "allot/run/request.hpp"

namespace allot {

void RunLoop::keep_record(const AttemptEnd& end, bool is_final) {
  journal_.finish(end, is_final);
  ++records_;
}

/// The only record of a task that was never given to a worker.
void RunLoop::fail_unstarted(std::size_t task, int attempt, std::string why) {
  AttemptEnd end;
  end.task = task;
  end.attempt = attempt;
  end.start_unix = world_.unix_now();
  end.status = AttemptStatus::kFailed;
  end.forgiven = attempt == 0;
  end.error = std::move(why);
  keep_record(end, true);
  progress_.ended(items_[task].type, false, attempt > 0);
  observer_.ended(end, items_[task], true, {});
}

void RunLoop::follow(const Gates::News& news) {
  for (const Gates::News::Doomed& doomed : news.doomed)
    fail_unstarted(doomed.task, 0, items_[doomed.cause].identity + ", which it waited for, has failed");
  for (const std::size_t task : news.open) {
    if (crew_) ready_[task] = world_.now();  // tasks that open before that were ready when the run began
    backlog_.add(items_[task].type, task);
  }
  for (const std::size_t task : news.removable) removals_.emplace_back(records_, task);
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    const TaskType type = task_type(i);
    backlog_.set_blocked(type, gates_.waiting(type), gates_.streaming(type));
  }
}

/// Removes outputs whose takers all have durable final records.
void RunLoop::remove_outputs() {
  while (!removals_.empty() && removals_.front().first <= journal_.committed()) {
    const std::size_t task = removals_.front().second;
    removals_.pop_front();
    files_.remove_output(output_path(job_, items_[task], task + 1));
    follow(gates_.removed(task));
  }
}

}  // namespace allot
