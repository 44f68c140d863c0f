#include "allot/simulate/simulate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "allot/base/error.hpp"
#include "allot/base/memory.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/statistics.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/violations.hpp"
#include "allot/simulate/detail/batches.hpp"
#include "allot/simulate/detail/engine.hpp"
#include "allot/simulate/detail/summary.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/solve/best.hpp"

namespace allot {
namespace {

using detail::Replication;

/// At most this many completions between two checks of the stop flag.
constexpr std::uint64_t kChunk = 8192;
constexpr unsigned kMostWorkers = 4096;
constexpr std::chrono::milliseconds kMoment{1};
/// The part of the time left that a pilot run may take.
constexpr int kPilotPart = 4;
/// The replication number of pilot runs: distinct from all others.
constexpr std::uint32_t kPilot = 0xffffff;
/// A pilot run may take this many completions, even if fewer are requested.
constexpr std::uint64_t kLeastPilot = 100'000;
/// The interval of a single replication comes from this many batches.
constexpr std::size_t kBatches = 20;
/// Effort for the best assignment, which is for reference only.
constexpr std::uint64_t kReferenceSteps = 5'000'000;

/// How many completions to simulate between two checks of the stop flag: as many as take kMoment, since a
/// policy may be slow.
class Pace {
 public:
  std::uint64_t completions() const noexcept { return completions_; }

  /// Records a check.
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
    // A policy that solves must not delay a stop.
    StopLimits& solve = options_.policy.solve;
    if (solve.flag == nullptr) solve.flag = options_.stop.flag;
    if (!solve.deadline) solve.deadline = options_.stop.deadline;
    options_.policy.scenario = &scenario_;
  }

  SimulationResult run() {
    const Clock::time_point start = Clock::now();
    // Rules beyond those of System's constructor: a scenario is a plain struct.
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
      // As many replications as the interval suggests, but at most twice as many as now.
      const double ratio = relative ? *relative / *options_.precision : 2.0;
      const double wanted = std::ceil(done * std::clamp(ratio * ratio, 1.1, 2.0));
      run_replications(
          std::min(options_.max_replications, std::max(done + 1, static_cast<std::uint32_t>(wanted))));
    }
    SimulationResult result = summary();
    result.precise = precise;
    if (stopped_ && result.throughput_by_replication.empty()) {
      result.precise = false;
      result.notes.emplace_back("stopped before anything was measured: the figures mean nothing");
    }
    note_needs(result);
    if (options_.precision && !precise) {
      result.notes.push_back("the requested precision was not reached with " +
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

  /// Refuses a run that would not fit into memory, with the estimate, before allocating.
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
    // Arrivals may accumulate: each replication has its part of the memory, with room to grow.
    const double room =
        static_cast<double>(memory_available()) / 2 / engines / 2 / detail::bytes_per_thread();
    most_threads_ = static_cast<std::uint64_t>(
        std::clamp(room, threads + 1000, static_cast<double>(detail::kMostThreads)));
  }

  /// Makes the policy on the caller's thread, so that its exceptions are thrown here. If populations are
  /// constant, it serves all replications, which only read it: a solver runs once.
  void make_shared_policy() {
    std::unique_ptr<Policy> policy = policy_.make(scenario_.system, options_.policy);
    if (!scenario_.is_static()) return;
    std::vector<Count> population;
    for (const TaskType i : scenario_.system.types()) population.push_back(scenario_.system.count(i));
    policy->set_population(population);
    policy_note_ = policy->note();
    shared_policy_ = std::move(policy);
  }

  /// A policy for one replication: with a shared one, results would depend on what it has solved before, and
  /// so on the number of worker threads.
  std::unique_ptr<Policy> own_policy() const {
    return shared_policy_ != nullptr ? nullptr : policy_.make(scenario_.system, options_.policy);
  }

  bool asked_to_stop() const noexcept {
    return (options_.stop.flag != nullptr && options_.stop.flag->load(std::memory_order_relaxed)) ||
           (options_.stop.deadline && Clock::now() >= *options_.stop.deadline);
  }

  /// MSER-5 on the throughput and the response times of a pilot run, but not before every thread has had some
  /// turns; otherwise the pilot run is extended. Turns matter because all tasks are new at the start: a
  /// window that begins before tasks are as old as in the long run underestimates response times. Work that
  /// ends is measured from its beginning. With a deadline, the pilot run may take only a part of the time.
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
      std::size_t turned = 0;  // the number of points until all threads have had their turns
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

  /// Runs replications until there are `wanted`.
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
    } catch (const std::system_error&) {  // continue with as many threads as the machine grants
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
    if (number == 0) {
      policy_note_ = policy.note();
      keeps_tasks_whole_ = policy.bind_late() != nullptr;
    }
    Replication& replication = replications_[number];
    const bool in_batches = options_.replications == 1;
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
    if (in_batches) {
      detail::Batches batches(scenario_, *engine, replication);
      for (std::size_t batch = 0; batch < kBatches && going; ++batch) {
        const std::uint64_t size =
            options_.completions * (batch + 1) / kBatches - options_.completions * batch / kBatches;
        going = advance(size);
        if (going) batches.end_one(size);
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

  /// Whether processor sharing may have fractions of tasks in service, because whole tasks do not fill a held
  /// capacity.
  bool shares_parts() const {
    const System& system = scenario_.system;
    const double more = scenario_.is_static() ? 0.0 : static_cast<double>(kMaxCount);
    std::vector<double> tasks;
    bool any = false;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resource_ids()) {
        const std::span<const Draw> draws = system.needs(i, j);
        const bool is_plain = draws.empty() || (draws.size() == 1 && draws.front().amount == 1);
        tasks.push_back(draws.empty() ? 0.0 : static_cast<double>(system.count(i)) + more);
        any |= !is_plain && tasks.back() > 0 && system.resource(j).discipline == Discipline::kPs;
      }
    }
    return any && has_lumps(system, tasks);
  }

  void note_needs(SimulationResult& result) const {
    const System& system = scenario_.system;
    if (!system.has_needs() || keeps_tasks_whole_ || !(result.throughput.mean > 0)) return;
    if (shares_parts()) {
      result.notes.push_back("approximate: " + std::string(kCountsFractions));
    }
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0 || result.throughput_by_task[index(i)].mean > 0) continue;
      result.notes.push_back(quote::name(system.task(i).name) +
                             " completed nothing: other types may always hold what it needs");
    }
  }

  SimulationResult summary() const {
    return detail::summarise({.scenario = scenario_,
                              .policy = policy_.name,
                              .policy_note = policy_note_,
                              .sizes = sizes_,
                              .options = options_,
                              .warmup = warmup_,
                              .settled = settled_,
                              .stopped = stopped_,
                              .simulated = simulated_,
                              .replications = replications_,
                              .responses = responses_});
  }

  std::optional<double> relative_half_width() const {
    std::vector<double> values;
    for (const Replication& replication : replications_) {
      if (replication.complete) values.push_back(detail::throughput_of(replication.window));
    }
    const Estimate interval = mean_interval(values);
    if (!interval.half_width || !(interval.mean > 0)) return std::nullopt;
    return *interval.half_width / interval.mean;
  }

  const Scenario& scenario_;
  const NamedPolicy& policy_;
  const Distribution& sizes_;
  SimulateOptions options_;
  std::unique_ptr<Policy> shared_policy_;
  std::string policy_note_;
  bool keeps_tasks_whole_ = false;  ///< only whole tasks are in service, whatever the discipline
  std::uint64_t warmup_ = 0;
  bool settled_ = true;  // within the pilot run
  std::vector<Replication> replications_;
  LogHistogram responses_;  // of the complete replications
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
  std::vector<double> throughputs;
  std::vector<double> values;
  std::size_t other = 0;
  for (std::size_t at = 0; at < result.replication_marks.size(); ++at) {
    const ReplicationMark& mark = result.replication_marks[at];
    while (other < against.replication_marks.size() && against.replication_marks[other].number < mark.number)
      ++other;
    if (other == against.replication_marks.size()) break;
    const ReplicationMark& partner = against.replication_marks[other];
    if (partner.number != mark.number || !mark.complete || !partner.complete) continue;
    throughputs.push_back(result.throughput_by_replication[at] - against.throughput_by_replication[other]);
    values.push_back(result.value_by_replication[at] - against.value_by_replication[other]);
  }
  if (throughputs.empty()) return std::nullopt;
  const auto estimate = [](std::span<const double> differences) -> Estimate {
    const Estimate interval = mean_interval(differences);
    return {interval.mean, interval.half_width};
  };
  const auto excludes_0 = [](const Estimate& difference) {
    return difference.half_width && std::abs(difference.mean) > *difference.half_width;
  };
  Difference difference{result.policy, against.policy, estimate(throughputs), false, estimate(values), false};
  difference.significant = excludes_0(difference.throughput);
  difference.value_significant = excludes_0(difference.value);
  return difference;
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
  if (why_no_even_sharing(scenario.system)) return {};
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
