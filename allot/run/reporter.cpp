#include "allot/run/reporter.hpp"

#include <algorithm>
#include <utility>

namespace allot {

bool Reporter::tick(RunPhase phase, std::span<const Slot> slots, Clock::time_point now, double unix_now,
                    bool may_write) {
  if (now < next_tick_) return false;
  next_tick_ = now + to_duration(options_.tick_s);
  report_running(now);
  const bool notes = now >= next_note_ && may_write;
  if (!notes && !observer_.watches()) return false;
  refresh(phase, slots, now);
  tell_plan_note();
  if (notes) {
    note_to_journal(unix_now);
    next_note_ = now + to_duration(options_.note_s);
  }
  return observer_.watches();
}

void Reporter::refresh(RunPhase phase, std::span<const Slot> slots, Clock::time_point now) {
  std::vector<Count> left;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    left.push_back(backlog_.left(task_type(i)));
    progress_.waits(task_type(i), left[i] - backlog_.queued(task_type(i)));
  }
  progress_.phase(phase);
  progress_.refresh(placer_, attempts_, slots, left, now);
}

void Reporter::report_running(Clock::time_point now) {
  PerPair<std::vector<double>> elapsed(job_.tasks.size(), job_.resources.size());
  for (const auto& [id, attempt] : attempts_.all()) {
    elapsed(attempt.type(), attempt.resource()).push_back(to_seconds(now - attempt.began));
  }
  for (const TaskType i : elapsed.type_ids()) {
    for (const ResourceId j : elapsed.resource_ids()) {
      if (!job_.tasks[index(i)].commands[index(j)]) continue;
      std::vector<double>& seconds = elapsed(i, j);
      std::sort(seconds.begin(), seconds.end());  // the table of attempts is unordered
      placer_.dispatcher().report_running(i, j, seconds);
    }
  }
}

/// Notes are about shares and floors: shown if the user asked for them, and while there is work of every
/// type.
void Reporter::tell_plan_note() {
  const std::string& note = progress_.view().plan_note;
  if (note == last_plan_note_) return;
  last_plan_note_ = note;
  const bool asked = options_.objective == RunObjective::kPriority ||
                     std::any_of(job_.tasks.begin(), job_.tasks.end(),
                                 [](const JobTask& task) { return task.floor.has_value(); });
  bool all_types = true;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) all_types &= backlog_.left(task_type(i)) > 0;
  if (asked && all_types && !note.empty()) observer_.note(note);
}

void Reporter::note_to_journal(double unix_now) {
  if (std::vector<LearntRate> rates = progress_.rates(unix_now); !rates.empty())
    journal_.note_rates(std::move(rates));
  const std::uint64_t number = placer_.dispatcher().plan()->number;
  if (progress_.view().predicted && number != noted_plan_)
    journal_.note_prediction(progress_.predictions(unix_now));
  noted_plan_ = number;
}

RunSummary Reporter::summary(Clock::time_point now) const {
  RunSummary summary;
  summary.view = progress_.view();
  summary.done_now = progress_.done_now();
  summary.failed_now = progress_.failed_now();
  summary.bound_s = progress_.bound();
  const DispatchStatistics statistics = placer_.dispatcher().statistics(now);
  if (statistics.ended > 0) {
    summary.little = statistics.departures * statistics.mean_response;
    summary.in_flight = statistics.mean_in_flight;
  }
  return summary;
}

}  // namespace allot
