#include "allot/simulate/simulate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "allot/base/error.hpp"
#include "allot/base/memory.hpp"
#include "allot/base/statistics.hpp"
#include "allot/model/violations.hpp"
#include "allot/simulate/detail/engine.hpp"
#include "allot/solve/best.hpp"

namespace allot {
namespace {

/// Completions between two looks at the stop flag, at most.
constexpr std::uint64_t kChunk = 8192;
constexpr unsigned kMostWorkers = 4096;
constexpr std::chrono::milliseconds kMoment{1};
/// The part of the time left that a pilot run may take.
constexpr int kPilotPart = 4;
/// The replication number of pilot runs: apart from all others.
constexpr std::uint32_t kPilot = 0xffffff;
/// Up to the variance of exponential sizes, there is no tail to miss.
constexpr double kExponential = 1;
/// Completions that a pilot run may take, however few are asked for.
constexpr std::uint64_t kLeastPilot = 100'000;
/// With a single replication, its interval comes from so many batches.
constexpr std::size_t kBatches = 20;
/// Effort for the best assignment, which is for reference only.
constexpr std::uint64_t kReferenceSteps = 5'000'000;

struct Replication {
  detail::Window window;
  std::unique_ptr<LogHistogram> part;  ///< of the response times, where it is not complete; 64 KiB
  std::vector<double> batch_throughput;
  std::vector<double> batch_response;
  bool complete = false;  ///< was not asked to stop
  bool dry = false;       ///< nothing was left to do before all completions were seen
};

/// Per second; 0 for a moment too short to measure.
double rate(double count, double seconds) noexcept { return seconds > 0 ? count / seconds : 0.0; }

/// How many completions to simulate between two looks at the stop flag: as many as take a moment, since a
/// policy may be slow.
class Pace {
 public:
  std::uint64_t completions() const noexcept { return completions_; }

  /// A look is taken.
  void look() noexcept {
    const Clock::time_point now = Clock::now();
    if (now - last_ < kMoment) {
      completions_ = std::min(kChunk, 2 * completions_);
    } else if (now - last_ > 4 * kMoment) {
      completions_ = std::max<std::uint64_t>(1, completions_ / 4);
    }
    last_ = now;
  }

 private:
  std::uint64_t completions_ = 1;
  Clock::time_point last_ = Clock::now();
};

/// The work of one call of `simulate`.
class Campaign {
 public:
  Campaign(const Scenario& scenario, const NamedPolicy& policy, const Distribution& sizes,
           const SimulateOptions& options)
      : scenario_(scenario), policy_(policy), sizes_(sizes), options_(options) {
    // A policy that solves must not keep somebody waiting who wants to stop.
    StopLimits& solve = options_.policy.solve;
    if (solve.flag == nullptr) solve.flag = options_.stop.flag;
    if (!solve.deadline) solve.deadline = options_.stop.deadline;
  }

  SimulationResult run() {
    const Clock::time_point start = Clock::now();
    // What a System's constructor cannot know: a scenario is a plain struct.
    Rules rules;
    rules.work(scenario_.system.tasks(), scenario_.system.rates().pairs(), scenario_.threads,
               scenario_.population, scenario_.arrivals);
    throw_if_any(rules.found());
    check_memory(std::max<std::uint32_t>(1, options_.replications));
    make_shared_policy();
    try {
      warmup_ = options_.warmup ? *options_.warmup : find_warmup();
    } catch (const detail::StoppedEarly&) {
      settled_ = false;
    }
    run_replications(std::max<std::uint32_t>(1, options_.replications));
    bool precise = !options_.precision;
    while (options_.precision && !stopped_) {
      const std::optional<double> relative = relative_half_width();
      precise = relative && *relative <= *options_.precision;
      const auto done = static_cast<std::uint32_t>(replications_.size());
      if (precise || done >= options_.max_replications) break;
      // As many more as the interval suggests, but never more than twice what there is.
      const double ratio = relative ? *relative / *options_.precision : 2.0;
      const double wanted = std::ceil(done * std::clamp(ratio * ratio, 1.1, 2.0));
      run_replications(
          std::min(options_.max_replications, std::max(done + 1, static_cast<std::uint32_t>(wanted))));
    }
    SimulationResult result = summary();
    result.precise = precise;
    if (stopped_ && result.throughput_by_replication.empty()) {
      result.precise = false;
      result.notes.emplace_back("stopped before anything was measured: the figures say nothing");
    }
    if (options_.precision && !precise) {
      result.notes.push_back("the wanted precision was not reached with " +
                             std::to_string(result.replications) + " replications");
    }
    result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    result.completions_per_second =
        static_cast<double>(simulated_.load()) / std::max(result.wall_seconds, 1e-9);
    return result;
  }

 private:
  detail::EngineSetup setup(Policy& policy, std::uint32_t replication) const {
    return {&scenario_,
            &policy,
            shared_policy_ != nullptr,
            &sizes_,
            options_.seed,
            replication,
            options_.random_start,
            options_.policy.shares == ShareReading::kExact,
            &options_.stop,
            most_threads_};
  }

  unsigned workers_for(std::uint32_t replications) const {
    const unsigned cores =
        options_.threads != 0 ? options_.threads : std::max(1U, std::thread::hardware_concurrency());
    return std::min({cores, replications, kMostWorkers});
  }

  /// What would not fit into memory is refused with the estimate, before it is taken.
  void check_memory(std::uint32_t replications) {
    const double pairs =
        static_cast<double>(scenario_.system.type_count() * scenario_.system.resource_count());
    const double results = replications * (sizeof(Replication) + 400 + 8 * pairs);
    const double engines = workers_for(replications);
    const double threads = detail::threads_of(scenario_);
    require_memory(results, "replications", std::to_string(replications) + " replications");
    require_memory(results + engines * threads * detail::bytes_per_thread(), "tasks",
                   std::to_string(static_cast<std::uint64_t>(threads)) + " threads in " +
                       std::to_string(static_cast<unsigned>(engines)) + " replications at once");
    // Arrivals may pile up: each replication has its part, with room to grow.
    const double room =
        static_cast<double>(memory_available()) / 2 / engines / 2 / detail::bytes_per_thread();
    most_threads_ = static_cast<std::uint64_t>(
        std::clamp(room, threads + 1000, static_cast<double>(detail::kMostThreads)));
  }

  /// Makes the policy on the caller's thread, so that what it cannot do is thrown here. Where populations are
  /// constant it serves all replications, which only look at it: a solver runs once.
  void make_shared_policy() {
    std::unique_ptr<Policy> policy = policy_.make(scenario_.system, options_.policy);
    if (!scenario_.is_static()) return;
    std::vector<Count> population;
    for (const TaskType i : scenario_.system.types()) population.push_back(scenario_.system.count(i));
    policy->set_population(population);
    policy_note_ = policy->note();
    shared_policy_ = std::move(policy);
  }

  /// A policy for one replication: else what it has solved before would matter, and with it the number of
  /// worker threads.
  std::unique_ptr<Policy> own_policy() const {
    return shared_policy_ != nullptr ? nullptr : policy_.make(scenario_.system, options_.policy);
  }

  bool asked_to_stop() const noexcept {
    return (options_.stop.flag != nullptr && options_.stop.flag->load(std::memory_order_relaxed)) ||
           (options_.stop.deadline && Clock::now() >= *options_.stop.deadline);
  }

  /// MSER-5 on the throughput and the response times of a pilot run, but not before every thread has had some
  /// turns; a longer pilot run until that is so. Turns matter because all tasks are new at the start: a
  /// window that begins before they are as old as in the long run misses what they lack of the response
  /// times. Work that ends is measured from its beginning. With a deadline, a part of the time must do.
  std::uint64_t find_warmup() {
    constexpr std::size_t kPoints = 500;
    constexpr std::uint64_t kTurns = 4;
    const std::uint64_t enough = std::max<std::uint64_t>(options_.completions, kLeastPilot);
    std::optional<Clock::time_point> deadline;
    if (options_.stop.deadline)
      deadline = Clock::now() + (*options_.stop.deadline - Clock::now()) / kPilotPart;
    const auto is_late = [&] { return asked_to_stop() || (deadline && Clock::now() >= *deadline); };
    bool late = false;
    std::uint64_t warmup = 0;
    for (std::uint64_t step = std::clamp<std::uint64_t>(options_.completions / 10 / kPoints, 1, 64);
         step <= 4096; step *= 4) {
      const std::unique_ptr<Policy> own = own_policy();
      const std::unique_ptr<detail::Engine> engine =
          detail::make_engine(setup(own ? *own : *shared_policy_, kPilot));
      std::vector<double> throughput;
      std::vector<double> response;
      std::size_t turned = 0;  // points until all threads have had their turns
      Pace pace;
      for (std::size_t point = 0; point < kPoints && !late; ++point) {
        const double before = engine->now();
        const double sum = engine->response_sum();
        std::uint64_t done = 0;
        while (done < step && !engine->dry() && !late) {
          done += engine->run(std::min(step - done, pace.completions()));
          pace.look();
          late = is_late();
        }
        simulated_ += done;
        if (done < step && !late) return 0;
        if (done < step) break;
        throughput.push_back(static_cast<double>(step) / std::max(engine->now() - before, 1e-300));
        response.push_back((engine->response_sum() - sum) / static_cast<double>(step));
        if (turned == point && engine->fewest_turns() < kTurns) ++turned;
      }
      const WarmUp by_throughput = mser5(throughput);
      const WarmUp by_response = mser5(response);
      warmup = step * std::max({by_throughput.values, by_response.values, turned});
      settled_ = !late && by_throughput.settled && by_response.settled && turned < kPoints;
      if (late || settled_ || step * kPoints >= enough) break;
    }
    return warmup;
  }

  /// Brings the number of replications to `wanted`.
  void run_replications(std::uint32_t wanted) {
    const auto first = static_cast<std::uint32_t>(replications_.size());
    check_memory(wanted);
    replications_.resize(wanted);
    std::atomic<std::uint32_t> next{first};
    std::exception_ptr failure;
    const auto work = [&] {
      try {
        for (std::uint32_t at = next++; at < wanted && !asked_to_stop(); at = next++) replicate(at, wanted);
      } catch (const detail::StoppedEarly&) {
        next = wanted;
      } catch (...) {
        const std::lock_guard lock(mutex_);
        failure = std::current_exception();
        next = wanted;
      }
    };
    const unsigned workers = workers_for(wanted - first);
    std::vector<std::thread> threads;
    try {
      for (unsigned worker = 1; worker < workers; ++worker) threads.emplace_back(work);
    } catch (const std::system_error&) {  // as many as the machine grants will do
    }
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
    for (std::uint32_t at = first; at < wanted; ++at) stopped_ |= !replications_[at].complete;
  }

  void replicate(std::uint32_t number, std::uint32_t wanted) {
    const std::unique_ptr<Policy> own = own_policy();
    const Policy& policy = own ? *own : *shared_policy_;
    const std::unique_ptr<detail::Engine> engine =
        detail::make_engine(setup(own ? *own : *shared_policy_, number));
    if (number == 0) policy_note_ = policy.note();
    Replication& replication = replications_[number];
    const bool batches = options_.replications == 1;
    const std::uint64_t total = warmup_ + options_.completions;
    std::uint64_t reported = 0;
    Pace pace;
    const auto advance = [&](std::uint64_t completions) {
      for (std::uint64_t left = completions; left > 0;) {
        if (asked_to_stop()) return false;
        const std::uint64_t done = engine->run(std::min(left, pace.completions()));
        pace.look();
        simulated_ += done;
        left -= done;
        reported += done;
        if (done > 0) report(reported, total, wanted);
        if (left > 0 && engine->dry()) {
          replication.dry = true;
          return false;
        }
      }
      return true;
    };
    if (!advance(warmup_) && !replication.dry) return;
    engine->begin_window();
    if (number == 0 && options_.trace != nullptr) {
      options_.trace->begin(policy_.name);
      engine->set_trace(options_.trace);
    }
    bool going = true;
    if (batches) {
      for (std::size_t batch = 0; batch < kBatches && going; ++batch) {
        const std::uint64_t size =
            options_.completions * (batch + 1) / kBatches - options_.completions * batch / kBatches;
        const double before = engine->now();
        const double sum = engine->response_sum();
        going = advance(size);
        if (!going || size == 0 || !(engine->now() > before)) continue;
        replication.batch_throughput.push_back(static_cast<double>(size) / (engine->now() - before));
        replication.batch_response.push_back((engine->response_sum() - sum) / static_cast<double>(size));
      }
    } else {
      going = advance(options_.completions);
    }
    replication.window = engine->end_window();
    replication.complete = going || replication.dry;
    if (replication.complete && replication.window.completions > 0) {
      const std::lock_guard lock(mutex_);
      responses_.merge(engine->responses());
    } else {
      replication.part = std::make_unique<LogHistogram>(engine->responses());
    }
  }

  void report(std::uint64_t done, std::uint64_t total, std::uint32_t wanted) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    if (done >= total) ++finished_;
    const double share = done >= total ? 0.0 : static_cast<double>(done) / static_cast<double>(total);
    options_.progress(std::min(1.0, (static_cast<double>(finished_) + share) / wanted));
  }

  std::optional<double> relative_half_width() const {
    std::vector<double> values;
    for (const Replication& replication : replications_) {
      if (replication.complete) values.push_back(throughput_of(replication.window));
    }
    const MeanInterval interval = mean_interval(values);
    if (!interval.half_width || !(interval.mean > 0)) return std::nullopt;
    return *interval.half_width / interval.mean;
  }

  static double throughput_of(const detail::Window& window) {
    return rate(static_cast<double>(window.completions), window.seconds);
  }

  SimulationResult summary() const {
    std::vector<const Replication*> used;
    std::uint32_t complete = 0;
    for (const Replication& replication : replications_) {
      complete += replication.complete ? 1 : 0;
      if (replication.complete && replication.window.completions > 0) used.push_back(&replication);
    }
    if (stopped_ && used.size() < 2) {  // better a part of a run than nothing
      used.clear();
      for (const Replication& replication : replications_) {
        if (replication.window.completions > 0) used.push_back(&replication);
      }
    }
    const System& system = scenario_.system;
    const std::size_t types = system.type_count();
    const std::size_t resources = system.resource_count();
    SimulationResult result;
    result.policy = policy_.name;
    result.distribution = sizes_.spec();
    result.seed = options_.seed;
    result.replications = std::max(complete, static_cast<std::uint32_t>(used.size()));
    result.completions = options_.completions;
    for (const Replication* replication : used)
      result.completions = std::min(result.completions, replication->window.completions);
    result.warmup = warmup_;
    result.partial = stopped_;
    if (!policy_note_.empty()) result.notes.push_back(policy_note_);
    if (!settled_ && scenario_.arrivals.empty()) {
      result.notes.emplace_back(
          "the start may still show: no pilot run was long enough to settle; a longer warm-up would help");
    }
    note_end_of_work(result);
    if (used.empty()) {
      if (complete > 0) result.completions = 0;
      result.throughput_by_task.resize(types);
      result.throughput_by_resource.resize(resources);
      result.response_time_by_task.resize(types);
      result.utilization.resize(resources);
      return result;
    }

    std::vector<double> responses;
    std::vector<std::vector<double>> by_task(types);
    std::vector<std::vector<double>> by_resource(resources);
    std::vector<std::vector<double>> response_by_task(types);
    std::vector<double> busy(resources);
    LogHistogram histogram = responses_;
    double seconds = 0;
    double tasks = 0;
    double population = 0;
    for (const Replication* replication : used) {
      const detail::Window& window = replication->window;
      result.throughput_by_replication.push_back(throughput_of(window));
      result.replication_marks.push_back(
          {static_cast<std::uint32_t>(replication - replications_.data()), replication->complete});
      double response = 0;
      for (std::size_t i = 0; i < types; ++i) {
        std::uint64_t done = 0;
        for (const std::uint64_t n : window.completions_by_pair.row(task_type(i))) done += n;
        by_task[i].push_back(rate(static_cast<double>(done), window.seconds));
        if (done > 0) response_by_task[i].push_back(window.response_by_type[i] / static_cast<double>(done));
        response += window.response_by_type[i];
      }
      for (std::size_t j = 0; j < resources; ++j) {
        std::uint64_t done = 0;
        for (std::size_t i = 0; i < types; ++i) {
          done += window.completions_by_pair(task_type(i), resource_id(j));
        }
        by_resource[j].push_back(rate(static_cast<double>(done), window.seconds));
        busy[j] += window.busy[j];
      }
      responses.push_back(response / static_cast<double>(window.completions));
      if (replication->part) histogram.merge(*replication->part);
      seconds += window.seconds;
      tasks += static_cast<double>(window.completions);
      population += window.population_integral;
      result.little_residual = std::max(result.little_residual, window.little_residual);
    }
    result.throughput = estimate(result.throughput_by_replication);
    result.response_time = estimate(responses);
    if (used.size() == 1) {
      result.throughput.half_width = mean_interval(used.front()->batch_throughput).half_width;
      result.response_time.half_width = mean_interval(used.front()->batch_response).half_width;
    }
    result.p50 = histogram.quantile(0.50);
    result.p95 = histogram.quantile(0.95);
    result.p99 = histogram.quantile(0.99);
    for (const auto& values : by_task) result.throughput_by_task.push_back(estimate(values));
    for (const auto& values : by_resource) result.throughput_by_resource.push_back(estimate(values));
    for (const auto& values : response_by_task) result.response_time_by_task.push_back(estimate(values));
    double energy = 0;
    for (const ResourceId j : system.resource_ids()) {
      const Resource& resource = system.resource(j);
      const double units = static_cast<double>(resource.servers) * seconds;
      result.utilization.push_back(rate(busy[index(j)], units));
      energy += busy[index(j)] * resource.power + (units - busy[index(j)]) * resource.idle_power;
    }
    result.energy_per_task = energy / tasks;
    result.edp = result.energy_per_task * result.response_time.mean;
    for (std::size_t r = 0; r < used.size(); ++r) {
      result.little += result.throughput_by_replication[r] * responses[r] / static_cast<double>(used.size());
    }
    result.population = rate(population, seconds);
    note_heavy_tail(tasks, result);
    note_rhythm(result);
    note_growth(result);
    if (scenario_.arrivals.empty()) note_old_tasks(result);
    return result;
  }

  static Estimate estimate(std::span<const double> values) {
    const MeanInterval interval = mean_interval(values);
    return {interval.mean, interval.half_width};
  }

  /// Plans that end: every thread leaves, or there was none.
  void note_end_of_work(SimulationResult& result) const {
    std::uint64_t dry = 0;
    std::uint64_t most = 0;
    for (const Replication& replication : replications_) {
      dry += replication.dry ? 1 : 0;
      if (replication.dry) most = std::max(most, replication.window.completions);
    }
    if (dry == 0) return;
    if (most > 0) {
      result.notes.push_back("the work ended after " + std::to_string(most) +
                             " completions at most: no task was left that could complete");
    } else if (simulated_ > 0) {
      result.notes.emplace_back("the work ended during the warm-up: nothing was measured");
    } else {
      result.notes.emplace_back("nothing ever completes: there is no thread that could work");
    }
  }

  /// Little's law needs a steady state: tasks that wait for ever are in the system, but in no response time.
  void note_growth(SimulationResult& result) const {
    if (scenario_.arrivals.empty() || !(result.population > 1.1 * result.little) || result.completions < 1000)
      return;
    result.notes.emplace_back(
        "tasks pile up: more arrive than complete, so these means depend on the length of the run");
  }

  /// With a heavy tail the largest tasks may take as long as a run: they are in the system, but in no
  /// response time.
  void note_old_tasks(SimulationResult& result) const {
    constexpr double kShare = 0.03;
    if (sizes_.variance() <= kExponential) return;
    double share = 0;
    double runs = 0;
    for (const Replication& replication : replications_) {
      if (!replication.complete || replication.dry || !(replication.window.seconds > 0)) continue;
      share += std::min(1.0, replication.window.oldest / replication.window.seconds);
      ++runs;
    }
    if (runs == 0 || share / runs < kShare) return;
    char text[200];
    std::snprintf(text, sizeof text,
                  "the oldest task had been there for %.0f%% of a replication when it ended: response times "
                  "may be too small, as such tasks are not in them; run longer",
                  100 * share / runs);
    result.notes.emplace_back(text);
  }

  /// Sizes that never vary keep the rhythm of their start: all that differs between replications is that
  /// start.
  void note_rhythm(SimulationResult& result) const {
    constexpr double kHardly = 1e-3;
    if (sizes_.variance() >= kHardly) return;
    result.notes.emplace_back(sizes_.variance() == 0 && options_.random_start
                                  ? "sizes never vary, so the intervals rest on the random start alone: they "
                                    "hold the truth a little "
                                    "less often than 95% of the time"
                                  : "sizes hardly vary, so all replications keep the rhythm of the same "
                                    "start: the intervals are too "
                                    "narrow");
  }

  /// An interval cannot know of large tasks that were never drawn.
  void note_heavy_tail(double tasks, SimulationResult& result) const {
    const double error = 1.96 * std::sqrt(sizes_.variance() / tasks);
    if (error < 0.01 || sizes_.variance() <= kExponential) return;
    char text[200];
    if (std::isfinite(error)) {
      std::snprintf(text, sizeof text,
                    "sizes vary so much that the mean of the %.3g drawn is known to %.1f%% only: "
                    "the tail may not have been sampled; run longer",
                    tasks, 100 * error);
    } else {
      std::snprintf(text, sizeof text, "sizes have no finite variance: no interval can be trusted");
    }
    result.notes.emplace_back(text);
  }

  const Scenario& scenario_;
  const NamedPolicy& policy_;
  const Distribution& sizes_;
  SimulateOptions options_;
  std::unique_ptr<Policy> shared_policy_;
  std::string policy_note_;
  std::uint64_t warmup_ = 0;
  bool settled_ = true;  // within the pilot run
  std::vector<Replication> replications_;
  LogHistogram responses_;  // of the replications that are complete
  std::uint64_t most_threads_ = detail::kMostThreads;
  std::atomic<std::uint64_t> simulated_{0};
  std::mutex mutex_;
  std::uint32_t finished_ = 0;
  bool stopped_ = false;
};

}  // namespace

SimulationResult simulate(const Scenario& scenario, const PolicyInfo& policy, const Distribution& sizes,
                          const SimulateOptions& options) {
  return simulate(scenario, NamedPolicy{std::string(policy.name), policy.make}, sizes, options);
}

SimulationResult simulate(const Scenario& scenario, const NamedPolicy& policy, const Distribution& sizes,
                          const SimulateOptions& options) {
  return Campaign(scenario, policy, sizes, options).run();
}

std::optional<Difference> paired_difference(const SimulationResult& result, const SimulationResult& against) {
  std::vector<double> differences;
  std::size_t other = 0;
  for (std::size_t at = 0; at < result.replication_marks.size(); ++at) {
    const ReplicationMark& mark = result.replication_marks[at];
    while (other < against.replication_marks.size() && against.replication_marks[other].number < mark.number)
      ++other;
    if (other == against.replication_marks.size()) break;
    const ReplicationMark& partner = against.replication_marks[other];
    if (partner.number != mark.number || !mark.complete || !partner.complete) continue;
    differences.push_back(result.throughput_by_replication[at] - against.throughput_by_replication[other]);
  }
  if (differences.empty()) return std::nullopt;
  const MeanInterval interval = mean_interval(differences);
  return Difference{result.policy,
                    against.policy,
                    {interval.mean, interval.half_width},
                    interval.half_width && std::abs(interval.mean) > *interval.half_width};
}

std::vector<Difference> differences_from_first(std::span<const SimulationResult> results) {
  std::vector<Difference> differences;
  for (std::size_t at = 1; at < results.size(); ++at) {
    std::optional<Difference> difference = paired_difference(results[at], results[0]);
    if (difference) differences.push_back(std::move(*difference));
  }
  return differences;
}

Comparison compare(const Scenario& scenario, std::span<const PolicyInfo* const> policies,
                   const Distribution& sizes, const SimulateOptions& options) {
  Comparison comparison;
  for (std::size_t at = 0; at < policies.size(); ++at) {
    SimulateOptions one = options;
    if (options.progress) {
      one.progress = [&, at](double share) {
        options.progress((static_cast<double>(at) + share) / static_cast<double>(policies.size()));
      };
    }
    SimulationResult result = simulate(scenario, *policies[at], sizes, one);
    const bool stopped = result.partial;
    if (!stopped || result.replications > 0 || at == 0) comparison.policies.push_back(std::move(result));
    if (stopped) break;
  }
  comparison.differences = differences_from_first(comparison.policies);
  return comparison;
}

std::optional<Solution> reference_assignment(const Scenario& scenario, const StopLimits& stop) {
  if (!scenario.is_static() || scenario.system.population() == 0) return {};
  SolveOptions options;
  options.stop = stop;
  options.stop.steps = kReferenceSteps;
  Solution solution = best_known(scenario.system, options);
  const bool none = solution.outcome == Outcome::kInfeasible || solution.outcome == Outcome::kInterrupted ||
                    solution.outcome == Outcome::kTimeLimit;
  if (none) return {};
  return solution;
}

}  // namespace allot
