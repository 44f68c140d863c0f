#include "bench/real_machine/closed_loop.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <numeric>
#include <utility>

namespace real_machine {
namespace {

using allot::Clock;
using allot::Count;
using Seconds = std::chrono::duration<double>;

/// What a server of the executor keeps.
struct Serving {
  const Server& server;
  std::size_t station;
  std::size_t number;
  std::vector<Run>& runs;
};

std::size_t servers_in_use(const Machine& machine, const LoopOptions& options, std::size_t station) {
  const std::size_t all = machine.stations[station].servers.size();
  return options.servers.empty() ? all : std::min(all, options.servers[station]);
}

/// Where the placement is fixed, that and no more.
bool is_used(const Machine& machine, const LoopOptions& options, std::size_t type, std::size_t station) {
  if (!machine.can_run(type, station) || servers_in_use(machine, options, station) == 0) return false;
  const auto& placement = options.policy_options.assignment;
  return !placement || options.counts[type] == 0 ||
         (*placement)(allot::task_type(type), allot::resource_id(station)) > 0;
}

allot::ExecutorOptions executor_options(const LoopOptions& options) {
  allot::ExecutorOptions out{.policy = options.policy, .objective = options.policy_options.objective};
  out.dispatcher.policy_options = options.policy_options;
  out.dispatcher.seed = options.seed;
  if (allot::find_policy(options.policy)->needs_assignment) out.dispatcher.exploration = 0;
  out.moment = std::chrono::nanoseconds(0);  // what a plan gives nothing gets nothing
  out.rule = options.rule;
  return out;
}

class Loop {
 public:
  Loop(const Machine& machine, const LoopOptions& options)
      : machine_(machine), options_(options), next_input_(machine.types.size()) {}

  LoopResult run() {
    const auto [setup, kinds] = set_up();
    allot::Executor executor(setup, executor_options(options_));
    start_ = Clock::now();
    // One of each type in turn, so that no resource starts with a crowd of one type.
    for (Count n = 0; n < *std::max_element(options_.counts.begin(), options_.counts.end()); ++n) {
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (n < options_.counts[i])
          executor.submit_while(
              kinds[i], [this](const auto& result) { return goes_on(result); }, start_);
      }
    }
    LoopResult result;
    result.seconds = measure(executor);
    result.types = machine_.types.size();
    result.stations = machine_.stations.size();
    result.in_flight = in_flight();
    result.plan = executor.dispatcher().plan();
    is_over_ = true;
    executor.shutdown_now();
    if (failure_) std::rethrow_exception(failure_);
    for (const auto& station : runs_) {
      for (const auto& mine : station) {
        std::copy_if(mine.begin(), mine.end(), std::back_inserter(result.runs),
                     [&](const Run& run) { return run.end >= 0 && run.end < result.seconds; });
      }
    }
    std::sort(result.runs.begin(), result.runs.end(),
              [](const Run& a, const Run& b) { return a.end < b.end; });
    return result;
  }

 private:
  /// The argument: when the task came into being.
  using Kind = allot::TaskKind<void(Clock::time_point&)>;

  std::pair<allot::ExecutorSetup, std::vector<Kind>> set_up() {
    allot::ExecutorSetup setup;
    std::vector<Kind> kinds;
    std::vector<allot::Place<Serving>> places;
    for (std::size_t s = 0; s < machine_.stations.size(); ++s) {
      const Station& station = machine_.stations[s];
      allot::Resource resource = station.resource;
      if (options_.order == Order::kArrival) resource.discipline = allot::Discipline::kFcfs;
      resource.servers = std::max<Count>(1, static_cast<Count>(servers_in_use(machine_, options_, s)));
      runs_.emplace_back(station.servers.size());
      std::vector<int> cores;
      for (const Server& server : station.servers) cores.push_back(server.core);
      places.push_back(setup.resource(
          resource,
          [this, s](std::size_t k) {
            return Serving{machine_.stations[s].servers[k], s, k, runs_[s][k]};
          },
          cores));
    }
    if (options_.model) {
      for (const allot::Capacity& capacity : options_.model->capacities()) setup.capacity(capacity);
    }
    for (std::size_t i = 0; i < machine_.types.size(); ++i) {
      allot::TaskClass type{.name = machine_.types[i], .count = options_.counts[i]};
      if (options_.model) type.needs = options_.model->task(allot::task_type(i)).needs;
      if (!options_.priorities.empty()) type.priority = options_.priorities[i];
      const auto run = [this, i](Serving& here, Clock::time_point& placed) { run_one(i, here, placed); };
      std::vector<decltype(on(places[0], run))> functions;
      for (std::size_t s = 0; s < places.size(); ++s) {
        if (is_used(machine_, options_, i, s)) functions.push_back(on(places[s], run));
      }
      kinds.push_back(setup.kind<void(Clock::time_point&)>(type, functions));
    }
    return {std::move(setup), std::move(kinds)};
  }

  void run_one(std::size_t type, Serving& here, Clock::time_point& placed) {
    const std::size_t input = next_input_[type].fetch_add(1, std::memory_order_relaxed) % machine_.inputs;
    const Clock::time_point begin = Clock::now();
    here.server.kernels[type]->run(input);
    const Clock::time_point end = Clock::now();
    here.runs.push_back({type, here.station, here.number, since_measuring(placed), since_measuring(begin),
                         since_measuring(end)});
    if (here.runs.back().end >= 0) ended_.fetch_add(1, std::memory_order_relaxed);
    placed = end;  // of the next
  }

  /// The first failure ends the run.
  bool goes_on(const allot::TaskResult<void>& result) {
    if (!result.ok() && !is_over_.exchange(true)) failure_ = result.error();
    return !is_over_;
  }

  Count in_flight() const {
    return std::accumulate(options_.counts.begin(), options_.counts.end(), Count{0});
  }

  /// Waits until the end of the measurement and says how long it was: `measure_s`, and on until enough tasks
  /// have ended that those cut at the edges do not count, but not for ever.
  double measure(allot::Executor& executor) const {
    constexpr Count kTurns = 40;  // ends for each task in flight
    const Count enough = kTurns * in_flight();
    double length = options_.measure_s;
    // All tasks end if one has failed.
    const auto is_cut = [&] {
      const Seconds left(options_.warm_up_s + length - Seconds(Clock::now() - start_).count());
      return executor.wait_for(std::chrono::duration_cast<std::chrono::nanoseconds>(left));
    };
    while (!is_cut() && ended_ < enough && length < options_.stretch * options_.measure_s)
      length += 0.1 * options_.measure_s;
    return length;
  }

  double since_measuring(Clock::time_point time) const {
    return Seconds(time - start_).count() - options_.warm_up_s;
  }

  const Machine& machine_;
  const LoopOptions& options_;
  std::vector<std::vector<std::vector<Run>>> runs_;  // by station and server
  std::vector<std::atomic<std::size_t>> next_input_;
  Clock::time_point start_;
  std::atomic<Count> ended_ = 0;  // since the measurement began
  std::atomic<bool> is_over_ = false;
  std::exception_ptr failure_;
};

}  // namespace

double LoopResult::throughput(std::size_t type) const {
  return static_cast<double>(
             std::count_if(runs.begin(), runs.end(), [&](const Run& run) { return run.type == type; })) /
         seconds;
}

double LoopResult::throughput(std::size_t type, std::size_t station) const {
  return static_cast<double>(
             std::count_if(runs.begin(), runs.end(),
                           [&](const Run& run) { return run.type == type && run.station == station; })) /
         seconds;
}

double LoopResult::throughput_of_station(std::size_t station) const {
  return static_cast<double>(std::count_if(runs.begin(), runs.end(),
                                           [&](const Run& run) { return run.station == station; })) /
         seconds;
}

std::optional<double> LoopResult::mean_seconds(std::size_t type, std::size_t station) const {
  double sum = 0;
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (run.type != type || run.station != station) continue;
    sum += run.end - run.start;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

std::optional<double> LoopResult::mean_cycle(std::size_t type, std::size_t station) const {
  constexpr double kIdle = 100e-6;  // between tasks: for longer, there was none to take
  std::vector<double> last;         // end of each server's latest
  double sum = 0;
  std::size_t count = 0;
  for (const Run& run : runs) {
    if (run.station != station) continue;
    if (last.size() <= run.server) last.resize(run.server + 1, run.start);
    const double gap = last[run.server] > 0 ? run.start - last[run.server] : 0;
    last[run.server] = run.end;
    if (run.type != type) continue;
    sum += run.end - run.start + (gap < kIdle ? std::max(0.0, gap) : 0);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

double LoopResult::mean_response() const {
  double sum = 0;
  for (const Run& run : runs) sum += run.end - run.placed;
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

LoopOptions held(const allot::Assignment& placement) {
  LoopOptions loop;
  for (std::size_t i = 0; i < placement.types(); ++i)
    loop.counts.push_back(placement.row_sum(allot::task_type(i)));
  loop.policy = "fixed";
  loop.policy_options.assignment = placement;
  return loop;
}

LoopResult run_closed_loop(const Machine& machine, const LoopOptions& options) {
  return Loop(machine, options).run();
}

}  // namespace real_machine
