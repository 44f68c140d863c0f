#include "allot/run/profile.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <filesystem>
#include <optional>
#include <utility>

#include "allot/base/own_file.hpp"
#include "allot/base/random.hpp"
#include "allot/base/statistics.hpp"
#include "allot/dispatch/sharing_design.hpp"
#include "allot/run/detail/profile_sample.hpp"
#include "allot/run/detail/stop_order.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/request.hpp"

namespace allot {
namespace {

using detail::last_start;
using detail::problem_of;
using detail::Sample;

/// Intervals are checked after 10, 15, 22, 33, ... runs: every check is a chance to stop too early.
constexpr double kLookGrowth = 1.5;
/// Empty commands per resource; their median is used.
constexpr int kLaunches = 11;

/// The runs of one pair under one condition.
struct Series {
  std::vector<double> seconds;
  double spent_s = 0;
  std::uint64_t next_look = 0;
  int visits = 0;
  int failures_in_a_row = 0;
  bool done = false;
};

class Profiler {
 public:
  Profiler(const Job& job, const ProfileOptions& options)
      : job_(job),
        options_(options),
        random_(options.seed),
        crew_(crew_resources(job), options.crew),
        holdings_(job),
        types_(job.tasks.size()),
        resources_(job.resources.size()),
        slots_(resources_) {
    profile_.pairs = PerPair<PairProfile>(types_, resources_);
    profile_.launch_s.assign(resources_, 0);
    profile_.interference.resize(resources_);
    for (std::size_t i = 0; i < types_; ++i) {
      rows_.push_back(job.tasks[i].inputs.rows());
      for (std::size_t j = 0; j < resources_; ++j) pair(i, j).possible = job.tasks[i].commands[j].has_value();
    }
    for (std::size_t s = 0; s < crew_.slots().size(); ++s)
      slots_[index(crew_.slots()[s].resource)].push_back(s);
  }

  Profile measure() {
    open_slots();
    for (std::size_t j = 0; j < resources_ && !stopped(); ++j) measure_launch(j);
    PerPair<Series> alone(types_, resources_);
    measure_rounds(alone, false);
    PerPair<Series> full(types_, resources_);
    measure_rounds(full, true);
    for (std::size_t i = 0; i < types_; ++i) {
      for (std::size_t j = 0; j < resources_; ++j) {
        if (job_.resources[j].servers == 1) pair(i, j).full = pair(i, j).alone;
      }
    }
    measure_mix();
    if (options_.sharing) measure_sharing();
    profile_.interrupted = stopped();
    crew_.finish();
    return profile_;
  }

 private:
  PairProfile& pair(std::size_t i, std::size_t j) { return profile_.pairs(task_type(i), resource_id(j)); }
  bool stopped() const noexcept { return options_.stop != nullptr && options_.stop->load(); }
  void show(const std::string& doing) {
    if (options_.progress) options_.progress(profile_, doing);
  }

  /// One turn of the loop; `events` is set to what ended.
  void turn(std::vector<CrewEvent>& events) {
    events.clear();
    crew_.pump(Clock::now(), events);
    if (!events.empty()) return;
    files_.clear();
    crew_.files(files_);
    polled_.clear();
    for (const auto& [file, writes] : files_) {
      polled_.push_back({file, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
    }
    ::poll(polled_.data(), polled_.size(), 50);
    crew_.pump(Clock::now(), events);
  }

  void open_slots() {
    std::vector<CrewEvent> events;
    while (!crew_.settled() && !stopped()) {
      turn(events);
      for (const CrewEvent& event : events) {
        if (event.kind != CrewEvent::Kind::kGone) continue;
        const std::size_t j = index(crew_.slots()[event.slot].resource);
        for (std::size_t i = 0; i < types_; ++i) pair(i, j).problem = event.text;
      }
    }
  }

  /// A random row. If inputs are outputs of other tasks, a row whose input exists.
  std::size_t draw_row(TaskType type) {
    const std::size_t rows = rows_[index(type)];
    const std::size_t row = random_.below(rows);
    for (std::size_t k = 0; k < rows; ++k) {
      if (has_input(job_, type, (row + k) % rows)) return (row + k) % rows;
    }
    return row;
  }

  /// Absent if there is no room for one more.
  std::optional<TaskRequest> request_for(TaskType type, ResourceId j, Count slot) {
    if (!holdings_.fits(type, j) || !holdings_.is_free(j, slot)) return std::nullopt;
    taken_ = holdings_.take(type, j, slot);
    const JobItem item{type, draw_row(type), job_.tasks[index(type)].name};
    TaskRequest request =
        make_request(job_, {&item, 1 + item.row, j, taken_->servers.front().number, 1, &*taken_}, run_id_);
    if (!request.final_output.empty()) {
      std::error_code error;
      std::filesystem::create_directories(std::filesystem::path(request.final_output).parent_path(), error);
      scratch_.push_back(request.temporary_output);
    }
    request.final_output.clear();
    request.temporary_output.clear();
    return request;
  }

  std::optional<TaskRequest> empty_request() const {
    TaskRequest request;
    request.argv = {"true"};
    return request;
  }

  /// Keeps the slots busy with one request after another until `count` were started, and waits for all.
  /// `make(slot)` gives the next one.
  template <typename Make>
  std::vector<Sample> closed_loop(std::span<const std::size_t> slots, std::size_t count, const Make& make) {
    std::size_t started = 0;
    return closed_loop_while(
        slots, [&](std::size_t) { return started++ < count; }, make);
  }

  /// The same as long as `goes_on(slot)` is true when a slot is free.
  template <typename GoesOn, typename Make>
  std::vector<Sample> closed_loop_while(std::span<const std::size_t> slots, const GoesOn& goes_on,
                                        const Make& make) {
    std::vector<Sample> samples;
    std::vector<std::optional<std::pair<TaskType, Clock::time_point>>> busy(crew_.slots().size());
    std::vector<std::optional<Holding>> held(crew_.slots().size());
    std::size_t running = 0;
    const auto give_back = [&](std::size_t slot) {
      if (const auto holding = std::exchange(held[slot], std::nullopt)) holdings_.give_back(*holding);
    };
    const auto start = [&](std::size_t slot) {
      if (stopped() || crew_.slots()[slot].state != Slot::State::kIdle || !goes_on(slot)) return;
      auto [type, request] = make(crew_.slots()[slot]);
      if (!request) return;
      held[slot] = std::exchange(taken_, std::nullopt);
      request->id = ++next_id_;
      if (const auto problem = crew_.start(slot, *request)) {
        give_back(slot);
        Sample sample;
        sample.type = type;
        sample.resource = crew_.slots()[slot].resource;
        sample.problem = *problem;
        samples.push_back(std::move(sample));
        return;
      }
      busy[slot] = {type, Clock::now()};
      ++running;
    };
    for (const std::size_t slot : slots) start(slot);
    std::vector<CrewEvent> events;
    detail::StopOrder order;
    while (running > 0) {
      turn(events);
      if (stopped()) {
        if (const int number = order.due(Clock::now())) {
          for (std::size_t slot = 0; slot < busy.size(); ++slot) {
            if (busy[slot]) crew_.signal(slot, number);
          }
        }
      }
      for (const CrewEvent& event : events) {
        if (event.kind != CrewEvent::Kind::kRecord || !busy[event.slot]) continue;
        give_back(event.slot);
        if (stopped() && event.record.status != TaskStatus::kOk) {  // most likely stopped by us: does not
                                                                    // count
          busy[event.slot].reset();
          --running;
          continue;
        }
        Sample sample;
        sample.type = busy[event.slot]->first;
        sample.resource = crew_.slots()[event.slot].resource;
        sample.began = busy[event.slot]->second;
        sample.ended = Clock::now();
        sample.seconds = event.record.wall_s;
        sample.ok = event.record.status == TaskStatus::kOk && !event.record.was_stopped;
        sample.not_found = event.record.not_found;
        if (!sample.ok) sample.problem = problem_of(event.record);
        samples.push_back(std::move(sample));
        busy[event.slot].reset();
        --running;
        start(event.slot);
      }
    }
    for (const std::string& path : scratch_) {
      std::error_code error;
      std::filesystem::remove(path, error);
    }
    scratch_.clear();
    return samples;
  }

  void measure_launch(std::size_t j) {
    const std::vector<std::size_t>& all = slots_[j];
    std::vector<double> seconds;
    for (const Sample& sample : closed_loop(std::span(all).first(1), kLaunches, [&](const Slot&) {
           return std::pair(TaskType{}, empty_request());
         })) {
      if (sample.ok) seconds.push_back(sample.seconds);
    }
    if (seconds.empty()) return;
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2),
                     seconds.end());
    profile_.launch_s[j] = seconds[seconds.size() / 2];
  }

  void measure_rounds(PerPair<Series>& series, bool full) {
    for (;;) {
      std::vector<std::pair<TaskType, ResourceId>> todo;
      for (const TaskType i : series.type_ids()) {
        for (const ResourceId j : series.resource_ids()) {
          const bool wide = job_.resources[index(j)].servers > 1;
          const PairProfile& known = profile_.pairs(i, j);
          if (known.possible && known.problem.empty() && !series(i, j).done && (wide || !full))
            todo.emplace_back(i, j);
        }
      }
      if (todo.empty() || stopped()) return;
      for (std::size_t left = todo.size(); left > 1; --left)
        std::swap(todo[left - 1], todo[random_.below(left)]);
      for (const auto& [i, j] : todo) {
        if (stopped()) return;
        visit(i, j, series(i, j), full);
      }
    }
  }

  /// One visit to a pair: one run alone, or all slots busy until one run per slot has ended.
  void visit(TaskType i, ResourceId j, Series& series, bool full) {
    PairProfile& pair = profile_.pairs(i, j);
    const std::vector<std::size_t>& all = slots_[index(j)];
    const std::size_t width = full ? all.size() : 1;
    const std::vector<Sample> samples =
        closed_loop(std::span(all).first(width), full ? 2 * width : 1,
                    [&](const Slot& slot) { return std::pair(i, request_for(i, j, slot.number)); });
    double sum = 0;
    std::size_t counted = 0;
    // With all slots full, only runs that ended while others were still being started count.
    const Clock::time_point last = last_start(samples);
    for (const Sample& sample : samples) {
      if (!sample.ok) {
        ++pair.failures;
        ++series.failures_in_a_row;
        if (sample.not_found || series.failures_in_a_row >= options_.most_failures)
          pair.problem = sample.problem;
        continue;
      }
      series.failures_in_a_row = 0;
      if (full && sample.ended > last) continue;
      sum += std::max(sample.seconds - profile_.launch_s[index(j)], 1e-9);
      ++counted;
    }
    if (counted == 0) return;
    if (series.visits++ == 0) return;  // the first visit is for warming up
    series.seconds.push_back(sum / static_cast<double>(counted));
    series.spent_s += sum;
    Timing& timing = full ? pair.full : pair.alone;
    summarise(series, timing);
    timing.runs = full ? timing.runs + counted : series.seconds.size();
    look(series, timing);
    show((full ? "all slots: " : "alone: ") + job_.tasks[index(i)].name + " on " +
         job_.resources[index(j)].name);
  }

  static void summarise(const Series& series, Timing& timing) {
    const Estimate interval = mean_interval(series.seconds);
    timing.mean_s = interval.mean;
    timing.half_s = interval.half_width.value_or(interval.mean);
    timing.spent_s = series.spent_s;
  }

  void look(Series& series, Timing& timing) const {
    const std::uint64_t runs = series.seconds.size();
    if (series.next_look == 0) series.next_look = options_.least_runs;
    if (series.spent_s >= options_.most_s) series.done = true;
    if (runs < series.next_look && !series.done) return;
    series.next_look = static_cast<std::uint64_t>(std::ceil(kLookGrowth * static_cast<double>(runs)));
    const bool enough = runs >= options_.least_runs && series.spent_s >= options_.least_s;
    timing.converged = runs >= options_.least_runs && timing.half_s <= options_.precision * timing.mean_s;
    if (enough && timing.converged) series.done = true;
  }

  /// All slots of all resources at once, each with random types.
  void measure_mix() {
    if (stopped() || !(options_.mixed_s > 0)) return;
    std::vector<std::size_t> all;
    std::vector<std::vector<std::size_t>> usable(resources_);
    std::size_t busy_resources = 0;
    for (std::size_t j = 0; j < resources_; ++j) {
      for (std::size_t i = 0; i < types_; ++i) {
        if (pair(i, j).possible && pair(i, j).problem.empty() && pair(i, j).full.runs > 0)
          usable[j].push_back(i);
      }
      if (usable[j].empty()) continue;
      ++busy_resources;
      all.insert(all.end(), slots_[j].begin(), slots_[j].end());
    }
    if (busy_resources < 2) return;
    show("a mix on all resources");
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(options_.mixed_s));
    PerPair<double> sum(types_, resources_);
    PerPair<double> count(types_, resources_);
    // In pieces, so that the loop can stop in time; each piece keeps every slot busy for some tasks.
    while (Clock::now() < end && !stopped()) {
      const std::vector<Sample> samples = closed_loop(all, 4 * all.size(), [&](const Slot& slot) {
        const std::size_t j = index(slot.resource);
        const std::size_t i = usable[j][random_.below(usable[j].size())];
        return std::pair(task_type(i), request_for(task_type(i), slot.resource, slot.number));
      });
      const Clock::time_point last = last_start(samples);
      for (const Sample& sample : samples) {
        if (!sample.ok || sample.ended > last) continue;
        const double launch = profile_.launch_s[index(sample.resource)];
        sum(sample.type, sample.resource) += std::max(sample.seconds - launch, 1e-9);
        count(sample.type, sample.resource) += 1;
      }
    }
    for (const ResourceId j : sum.resource_ids()) {
      double mixed = 0;
      double expected = 0;
      for (const TaskType i : sum.type_ids()) {
        if (count(i, j) == 0) continue;
        profile_.pairs(i, j).mixed_s = sum(i, j) / count(i, j);
        mixed += sum(i, j);
        expected += count(i, j) * profile_.pairs(i, j).full.mean_s;
      }
      if (expected > 0) profile_.interference[index(j)] = mixed / expected;
    }
  }

  bool is_usable(TaskType i, ResourceId j) {
    const PairProfile& known = profile_.pairs(i, j);
    return known.possible && known.problem.empty() && known.alone.runs > 0;
  }

  /// Runs the mixes of a design, with one type per slot, and fits what tasks share.
  void measure_sharing() {
    std::vector<TaskClass> tasks;
    PerPair<double> rates(types_, resources_, 0.0);
    for (const TaskType i : rates.type_ids()) {
      tasks.push_back({.name = job_.tasks[index(i)].name});
      for (const ResourceId j : rates.resource_ids()) rates(i, j) = is_usable(i, j) ? 1.0 : 0.0;
    }
    const System shape(std::vector<Resource>(job_.resources.begin(), job_.resources.end()), std::move(tasks),
                       Rates(std::move(rates)));
    std::vector<PerPair<Count>> mixes =
        design_mixes(shape, {.pair_mixes = 12, .random_mixes = 18, .seed = options_.seed});
    for (std::size_t left = mixes.size(); left > 1; --left)
      std::swap(mixes[left - 1], mixes[static_cast<std::size_t>(random_.below(left))]);
    std::vector<MixMeasurement> measured;
    for (std::size_t k = 0; k < mixes.size() && !stopped(); ++k) {
      show("mix " + std::to_string(k + 1) + " of " + std::to_string(mixes.size()));
      MixMeasurement mix = measure_mix_of(mixes[k]);
      if (!stopped()) measured.push_back(std::move(mix));
    }
    const bool is_any = std::any_of(measured.begin(), measured.end(), [](const MixMeasurement& mix) {
      const std::vector<double>& ended = mix.throughput.values();
      return std::any_of(ended.begin(), ended.end(), [](double x) { return x > 0; });
    });
    if (!is_any || stopped()) return;
    SharingFitOptions fit{.seed = options_.seed};
    fit.stop.flag = options_.stop;
    profile_.sharing = fit_sharing(measured, fit);
  }

  MixMeasurement measure_mix_of(const PerPair<Count>& tasks) {
    std::vector<std::size_t> busy;
    std::vector<TaskType> type_at(crew_.slots().size());
    MixMeasurement mix{PerPair<double>(types_, resources_, 0.0), PerPair<double>(types_, resources_, 0.0)};
    for (const ResourceId j : tasks.resource_ids()) {
      std::size_t next = 0;
      for (const TaskType i : tasks.type_ids()) {
        for (Count n = 0; n < tasks(i, j) && next < slots_[index(j)].size(); ++n) {
          const std::size_t slot = slots_[index(j)][next++];
          busy.push_back(slot);
          type_at[slot] = i;
          mix.in_service(i, j) += 1;
        }
      }
    }
    const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                     std::chrono::duration<double>(options_.mix_s));
    std::vector<int> started(crew_.slots().size(), 0);
    // No slot stops before the slowest has started twice: until then all have busy neighbours.
    const auto goes_on = [&](std::size_t slot) {
      const bool is_early =
          std::any_of(busy.begin(), busy.end(), [&](std::size_t s) { return started[s] < 2; });
      ++started[slot];
      return is_early || Clock::now() < end;
    };
    const std::vector<Sample> samples = closed_loop_while(busy, goes_on, [&](const Slot& slot) {
      const std::size_t at = slots_[index(slot.resource)][static_cast<std::size_t>(slot.number)];
      return std::pair(type_at[at], request_for(type_at[at], slot.resource, slot.number));
    });
    PerPair<double> sum(types_, resources_, 0.0);
    PerPair<double> count(types_, resources_, 0.0);
    const Clock::time_point last = last_start(samples);
    for (const Sample& sample : samples) {
      if (!sample.ok || sample.ended > last) continue;
      sum(sample.type, sample.resource) +=
          std::max(sample.seconds - profile_.launch_s[index(sample.resource)], 1e-9);
      count(sample.type, sample.resource) += 1;
    }
    for (const TaskType i : sum.type_ids()) {
      for (const ResourceId j : sum.resource_ids()) {
        if (count(i, j) > 0) mix.throughput(i, j) = mix.in_service(i, j) * count(i, j) / sum(i, j);
      }
    }
    return mix;
  }

  const Job& job_;
  const ProfileOptions& options_;
  RandomStream random_;
  Crew crew_;
  Holdings holdings_;
  std::optional<Holding> taken_;  // for the last request
  std::size_t types_;
  std::size_t resources_;
  Profile profile_;
  std::vector<std::size_t> rows_;                // inputs of each type
  std::vector<std::vector<std::size_t>> slots_;  // of each resource
  const std::string run_id_ = "profile-" + random_digits(8);
  std::vector<std::string> scratch_;  // files that tasks write
  std::vector<std::pair<int, bool>> files_;
  std::vector<pollfd> polled_;
  std::uint64_t next_id_ = 0;
};

}  // namespace

Profile measure_profile(const Job& job, const ProfileOptions& options) {
  return Profiler(job, options).measure();
}

}  // namespace allot
