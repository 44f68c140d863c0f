#include "allot/run/reporter.hpp"

#include <algorithm>
#include <utility>

namespace allot {
namespace {

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double to_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

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
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) left.push_back(backlog_.left(task_type(i)));
  progress_.phase(phase);
  progress_.refresh(placer_, attempts_, slots, left, now);
}

void Reporter::report_running(Clock::time_point now) {
  const std::size_t resources = job_.resources.size();
  std::vector<std::vector<double>> elapsed(job_.tasks.size() * resources);
  for (const auto& [id, attempt] : attempts_.all()) {
    elapsed[index(attempt.type()) * resources + index(attempt.resource())].push_back(
        to_seconds(now - attempt.began));
  }
  for (std::size_t at = 0; at < elapsed.size(); ++at) {
    const std::size_t i = at / resources;
    const std::size_t j = at % resources;
    if (!job_.tasks[i].commands[j]) continue;
    std::sort(elapsed[at].begin(), elapsed[at].end());  // the table has no order
    placer_.dispatcher().report_running(task_type(i), resource_id(j), elapsed[at]);
  }
}

/// Notes are about shares and floors: news for who asked for some, and while there is work of every type.
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
