#include "allot/run/progress.hpp"

#include <algorithm>
#include <cmath>

#include "allot/jobs/stages.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/pipeline_bound.hpp"

namespace allot {
namespace {

/// In seconds of the run. Estimates of the time left solve linear programs while the loop waits; in between,
/// the last estimate counts down.
constexpr double kEstimateEvery_s = 1;

}  // namespace

Progress::Progress(const Job& job, Clock::time_point begin)
    : job_(job),
      begin_(begin),
      done_by_pair_(job.tasks.size(), job.resources.size()),
      slot_s_(job.resources.size()),
      recent_(job.tasks.size(), begin) {
  for (const JobTask& task : job.tasks) {
    TypeView& type = view_.types.emplace_back();
    type.name = task.name;
    type.total = task.inputs.rows();
    if (task.from) type.from = job.tasks[index(*task.from)].name;
    view_.total += type.total;
  }
  view_.has_stages = has_stages(job);
  for (const JobResource& resource : job.resources) {
    ResourceView& seen = view_.resources.emplace_back();
    seen.name = resource.name;
    seen.slots = resource.servers;
  }
  view_.pairs = PerPair<PairView>(job.tasks.size(), job.resources.size());
  for (const TaskType i : view_.pairs.type_ids()) {
    for (const ResourceId j : view_.pairs.resource_ids())
      view_.pairs(i, j).possible = job.tasks[index(i)].commands[index(j)].has_value();
  }
}

// ---- events

void Progress::found_done(TaskType type) {
  ++view_.types[index(type)].done;
  ++view_.done;
}

void Progress::found_failed(TaskType type) {
  ++view_.types[index(type)].failed;
  ++view_.failed;
}

void Progress::ended(TaskType type, bool ok, bool by_itself) {
  ok ? found_done(type) : found_failed(type);
  ++(ok ? done_now_ : failed_now_);
  if (!ok && by_itself) ++failed_by_itself_;
}

void Progress::attempt_ended(const RunningAttempt& attempt, double seconds, bool ok, Clock::time_point now) {
  add_time(attempt, seconds, slot_s_);
  if (!ok) return;
  ++done_by_pair_(attempt.type(), attempt.resource());
  recent_.add(attempt.type(), now);
}

void Progress::add_time(const RunningAttempt& attempt, double seconds, std::vector<SlotSeconds>& to) const {
  for (const Holding::Server& server : attempt.holding.servers) {
    to[index(server.resource)].held += seconds * server.part;
    if (server.resource == attempt.resource()) to[index(server.resource)].own += seconds * server.part;
  }
}

// ---- the view

/// The system at the means (0) or at the lower (-1) or upper (1) ends of the intervals; nothing while some
/// type with tasks left has no known rate.
std::optional<System> Progress::system_at(int end) const {
  PerPair<double> rates(job_.tasks.size(), job_.resources.size());
  std::vector<Count> counts(job_.tasks.size(), 0);
  for (const TaskType i : rates.type_ids()) {
    bool known = false;
    for (const ResourceId j : rates.resource_ids()) {
      const PairView& seen = view_.pairs(i, j);
      if (!seen.allowed || !seen.rate) continue;
      rates(i, j) = end < 0 ? seen.low : end > 0 ? seen.high : *seen.rate;
      if (!std::isfinite(rates(i, j))) rates(i, j) = *seen.rate;
      known |= rates(i, j) > 0;
    }
    const TypeView& type = view_.types[index(i)];
    if (!known && type.done + type.failed < type.total) return std::nullopt;
    counts[index(i)] = known ? 1 : 0;
    if (!known) rates(i, ResourceId{}) = 1;  // a finished type still needs some rate
  }
  return job_system(job_, rates.values(), counts);
}

void Progress::refresh(const Placer& placer, const Attempts& attempts, std::span<const Slot> slots,
                       std::span<const Count> left, Clock::time_point now) {
  view_.elapsed_s = to_seconds(now - begin_ - paused_);
  view_.running = attempts.size();
  refresh_types(placer, attempts, now);
  refresh_resources(attempts, slots, now);
  refresh_time_left(placer, attempts, left);
}

void Progress::refresh_types(const Placer& placer, const Attempts& attempts, Clock::time_point now) {
  for (const TaskType i : view_.pairs.type_ids()) {
    for (const ResourceId j : view_.pairs.resource_ids()) {
      PairView& seen = view_.pairs(i, j);
      if (!seen.possible) continue;
      seen.allowed = placer.allows(i, j);
      seen.running = attempts.by_pair()(i, j);
      seen.done = done_by_pair_(i, j);
      const RateEstimate estimate = placer.dispatcher().estimate(i, j);
      seen.rate = estimate.known() ? std::optional(estimate.rate) : std::nullopt;
      seen.low = estimate.rate_low;
      seen.high = estimate.rate_high;
    }
  }
  const std::shared_ptr<const Plan> plan = placer.dispatcher().plan();
  // While a type has no known rate, the plan is based on guesses.
  const bool predicts = plan->predicted && system_at(0);
  view_.predicted.reset();
  if (predicts) view_.predicted = plan->predicted->throughput;
  view_.plan_note = plan->note;
  const auto throughput = recent_.rates(now);
  view_.throughput = 0;
  for (std::size_t i = 0; i < view_.types.size(); ++i) {
    TypeView& type = view_.types[i];
    type.running = static_cast<std::uint64_t>(attempts.by_type()[i]);
    type.throughput = throughput[i];
    view_.throughput += throughput[i];
    type.predicted = predicts ? plan->predicted->throughput_by_task[i] : 0;
  }
}

void Progress::refresh_resources(const Attempts& attempts, std::span<const Slot> slots,
                                 Clock::time_point now) {
  for (std::size_t j = 0; j < view_.resources.size(); ++j) {
    ResourceView& seen = view_.resources[j];
    seen.busy = 0;
    seen.open = 0;
  }
  for (const Slot& slot : slots) {
    ResourceView& seen = view_.resources[index(slot.resource)];
    seen.open += slot.state == Slot::State::kBusy || slot.state == Slot::State::kIdle ? 1 : 0;
  }
  std::vector<SlotSeconds> slot_s = slot_s_;
  std::vector<double> taken(view_.resources.size(), 0.0);
  for (const auto& [id, attempt] : attempts.all()) {
    add_time(attempt, to_seconds(now - attempt.began), slot_s);
    for (const Holding::Server& server : attempt.holding.servers)
      taken[index(server.resource)] += server.part;
  }
  for (std::size_t j = 0; j < taken.size(); ++j) {
    view_.resources[j].open = std::min(view_.resources[j].open, view_.resources[j].slots);
    view_.resources[j].busy = static_cast<Count>(std::ceil(taken[j] - 1e-6));
  }
  for (std::size_t j = 0; j < view_.resources.size(); ++j) {
    ResourceView& seen = view_.resources[j];
    const Resource& resource = job_.resources[j];
    const double all_s = static_cast<double>(resource.servers) * view_.elapsed_s;
    seen.busy_s = slot_s[j].held;
    seen.energy_j =
        resource.power * slot_s[j].own + resource.idle_power * std::max(0.0, all_s - slot_s[j].own);
  }
}

void Progress::refresh_time_left(const Placer& placer, const Attempts& attempts,
                                 std::span<const Count> not_started) {
  std::vector<Count> left(not_started.begin(), not_started.end());
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += attempts.by_type()[i];
  const double age_s = view_.elapsed_s - estimated_s_;
  const bool is_done = std::all_of(left.begin(), left.end(), [](Count count) { return count == 0; });
  if (view_.left_s && !is_done && age_s >= 0 && age_s < kEstimateEvery_s) {
    for (std::optional<double>* const seconds :
         {&view_.left_s, &view_.left_low_s, &view_.left_high_s, &view_.bound_s})
      if (*seconds) *seconds = std::max(0.0, **seconds - (view_.elapsed_s - counted_s_));
  } else {
    estimate_time_left(placer, left);
    estimated_s_ = view_.elapsed_s;
  }
  counted_s_ = view_.elapsed_s;
}

/// Estimates the time left: the programs at the means and at both ends of the intervals. Only the means use
/// whole tasks, because that takes many programs.
void Progress::estimate_time_left(const Placer& placer, std::span<const Count> left) {
  view_.left_s = view_.left_low_s = view_.left_high_s = view_.bound_s = std::nullopt;
  const auto system = system_at(0);
  if (!system) return;
  view_.bound_s = pipeline_bound(job_, *system, left);
  view_.left_s = view_.bound_s;
  if (!view_.left_s) return;
  const std::optional<double> plain =
      system->has_needs() ? pipeline_bound(job_, *system, left, false) : view_.bound_s;
  // At the pace of the plan if that is slower than the bound.
  const std::shared_ptr<const Plan> plan = placer.dispatcher().plan();
  if (plan->predicted && !placer.finishes()) {
    for (std::size_t i = 0; i < left.size(); ++i) {
      const double pace = plan->predicted->throughput_by_task[i];
      if (left[i] == 0 || !(pace > 0)) continue;
      view_.left_s = std::max(*view_.left_s, static_cast<double>(left[i]) / pace);
    }
  }
  const auto slow = system_at(-1);
  const auto fast = system_at(1);
  if (!slow || !fast) return;
  const double scale = plain && *plain > 0 ? *view_.left_s / *plain : 1;
  if (const auto longest = pipeline_bound(job_, *slow, left, false)) view_.left_high_s = *longest * scale;
  if (const auto shortest = pipeline_bound(job_, *fast, left, false)) view_.left_low_s = *shortest * scale;
}

// ---- for the journal

std::vector<LearntRate> Progress::rates(double time_unix) const {
  std::vector<LearntRate> rates;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      const PairView& seen = view_.pairs(task_type(i), resource_id(j));
      if (!seen.possible || !seen.rate || seen.done == 0) continue;
      rates.push_back({job_.tasks[i].name, job_.resources[j].name, *seen.rate, seen.low, seen.high,
                       static_cast<std::int64_t>(seen.done), time_unix});
    }
  }
  return rates;
}

std::vector<Prediction> Progress::predictions(double time_unix) const {
  std::vector<Prediction> predictions;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i)
    predictions.push_back({time_unix, job_.tasks[i].name, view_.types[i].predicted});
  return predictions;
}

std::optional<double> Progress::bound() const {
  std::vector<Count> did(job_.tasks.size());
  for (const TaskType i : done_by_pair_.type_ids()) {
    for (const std::uint64_t done : done_by_pair_.row(i)) did[index(i)] += static_cast<Count>(done);
    for (const PairView& seen : view_.pairs.row(i)) {
      if (seen.possible && seen.allowed && !seen.rate && did[index(i)] > 0) return std::nullopt;
    }
  }
  const auto system = system_at(0);
  if (!system) return std::nullopt;
  // For a part of the job, it is unknown which stages had to wait for which.
  return view_.done == view_.total ? pipeline_bound(job_, *system, did) : batch_bound(*system, did, true);
}

}  // namespace allot
