#include "bench/real_machine/closed_loop.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>

#include "allot/dispatch/late_dispatch.hpp"
#include "allot/dispatch/lines.hpp"

namespace real_machine {
namespace {

using allot::Clock;
using allot::Count;
using Seconds = std::chrono::duration<double>;

/// A task in flight.
struct Task : allot::WaitingTask {
  Clock::time_point placed;  // when it came into being, which is before its ticket if it was placed anew
  allot::LateDispatch::Start start;  // under a policy that binds late
};

struct Station {
  std::condition_variable changed;
  std::vector<Count> present;  // tasks that wait or run, by type
  std::size_t idle = 0;        // servers that wait for a task
};

class Loop {
 public:
  Loop(const Machine& machine, const LoopOptions& options)
      : machine_(machine),
        options_(options),
        policy_(*allot::find_policy(options.policy)),
        types_(machine.types.size()),
        is_late_(policy_.binds_late || options.binding == Binding::kFirstFit),
        dispatcher_(resources(), dispatch_types(), priors(), dispatcher_options()),
        lines_({when_ahead(), true}),
        weights_(types_),
        next_input_(types_) {
    lines_.resize(types_, machine.stations.size());
    if (policy_.binds_late && options.binding != Binding::kFirstFit) late_.emplace(dispatcher_);
    for (std::size_t s = 0; s < machine.stations.size(); ++s) {
      stations_.push_back(std::make_unique<Station>());
      stations_.back()->present.assign(types_, 0);
      if (options.order == Order::kArrival || options.binding == Binding::kFirstFit)
        lines_.set_order(allot::resource_id(s), allot::Lines::Order::kArrival);
    }
  }

  LoopResult run() {
    start_ = Clock::now();
    std::vector<std::vector<Run>> runs;
    std::vector<std::thread> threads;
    for (std::size_t s = 0; s < stations_.size(); ++s) {
      for (std::size_t k = 0; k < server_count(s); ++k) runs.emplace_back();
    }
    std::size_t next = 0;
    try {
      for (std::size_t s = 0; s < stations_.size(); ++s) {
        for (std::size_t k = 0; k < server_count(s); ++k) {
          threads.emplace_back([this, s, k, &mine = runs[next++]] { serve(s, k, mine); });
        }
      }
      // One of each type in turn, so that no resource starts with a crowd of one type.
      for (Count n = 0; n < *std::max_element(options_.counts.begin(), options_.counts.end()); ++n) {
        for (std::size_t i = 0; i < types_; ++i) {
          if (n < options_.counts[i]) submit(i);
        }
      }
    } catch (...) {
      fail(std::current_exception());
    }
    const double measured_s = measure();
    stop_ = true;
    {
      const std::lock_guard lock(mutex_);
      for (auto& station : stations_) station->changed.notify_all();
    }
    for (auto& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);

    LoopResult result;
    result.seconds = measured_s;
    result.types = types_;
    result.stations = stations_.size();
    result.in_flight = in_flight();
    result.plan = dispatcher_.plan();
    for (const auto& mine : runs) {
      for (const Run& run : mine) {
        if (run.end >= 0 && run.end < measured_s) result.runs.push_back(run);
      }
    }
    std::sort(result.runs.begin(), result.runs.end(),
              [](const Run& a, const Run& b) { return a.end < b.end; });
    return result;
  }

 private:
  Count in_flight() const {
    return std::accumulate(options_.counts.begin(), options_.counts.end(), Count{0});
  }

  /// Waits until the end of the measurement and says how long it was: `measure_s`, and on until enough tasks
  /// have ended that those cut at the edges do not count, but not for ever.
  double measure() {
    constexpr Count kTurns = 40;  // ends for each task in flight
    const Count enough = kTurns * in_flight();
    std::unique_lock lock(ending_mutex_);
    const auto stopped = [this] { return stop_.load(); };
    ending_.wait_for(lock, Seconds(options_.warm_up_s + options_.measure_s), stopped);
    double length = options_.measure_s;
    while (!stopped() && ended_ < enough && length < options_.stretch * options_.measure_s) {
      length += 0.1 * options_.measure_s;
      ending_.wait_until(
          lock, start_ + std::chrono::duration_cast<Clock::duration>(Seconds(options_.warm_up_s + length)),
          stopped);
    }
    return length;
  }

  std::size_t server_count(std::size_t station) const {
    const std::size_t all = machine_.stations[station].servers.size();
    return options_.servers.empty() ? all : std::min(all, options_.servers[station]);
  }

  std::vector<allot::Resource> resources() const {
    std::vector<allot::Resource> out;
    for (std::size_t s = 0; s < machine_.stations.size(); ++s) {
      out.push_back(machine_.stations[s].resource);
      out.back().servers = std::max<Count>(1, static_cast<Count>(server_count(s)));
    }
    return out;
  }

  std::vector<allot::TaskClass> dispatch_types() const {
    std::vector<allot::TaskClass> out;
    for (std::size_t i = 0; i < types_; ++i) {
      out.push_back({.name = machine_.types[i], .count = options_.counts[i]});
      if (options_.model) out.back().needs = options_.model->task(allot::task_type(i)).needs;
      if (!options_.priorities.empty()) out.back().priority = options_.priorities[i];
    }
    return out;
  }

  /// Nothing is known but what can run where; where the placement is fixed, that and no more.
  std::vector<allot::RatePrior> priors() const {
    const auto& placement = options_.policy_options.assignment;
    std::vector<allot::RatePrior> out;
    for (std::size_t i = 0; i < types_; ++i) {
      for (std::size_t s = 0; s < machine_.stations.size(); ++s) {
        const bool used = !placement || options_.counts[i] == 0 ||
                          (*placement)(allot::task_type(i), allot::resource_id(s)) > 0;
        out.push_back(used && machine_.can_run(i, s) && server_count(s) > 0 ? allot::RatePrior::unknown()
                                                                            : allot::RatePrior::cannot_run());
      }
    }
    return out;
  }

  allot::DispatcherOptions dispatcher_options() const {
    allot::DispatcherOptions out;
    out.policy = options_.policy;
    out.policy_options = options_.policy_options;
    out.seed = options_.seed;
    if (policy_.needs_assignment) out.exploration = 0;
    if (options_.model) out.capacities = options_.model->capacities();
    return out;
  }

  allot::Lines::WhenAhead when_ahead() const {
    const bool exact =
        policy_.holds_time_shares && options_.policy_options.shares == allot::ShareReading::kExact;
    return exact ? allot::Lines::WhenAhead::kIdle : allot::Lines::WhenAhead::kServe;
  }

  double since_measuring(Clock::time_point time) const {
    return Seconds(time - start_).count() - options_.warm_up_s;
  }

  double since_start(Clock::time_point time) const { return Seconds(time - start_).count(); }

  void submit(std::size_t type) {
    const std::lock_guard lock(mutex_);
    place(type, Clock::now());
  }

  // With the lock held, from here on.

  /// `since`: when the task came into being, which is earlier than now if it waited elsewhere before.
  void place(std::size_t type, Clock::time_point since) {
    if (is_late_) return place_late(type, since);
    const auto ticket = dispatcher_.place(allot::task_type(type));
    if (!ticket) {
      throw std::runtime_error("no resource takes tasks of type '" + machine_.types[type] + "' any more");
    }
    Task& task = tasks_.make();
    task.ticket = *ticket;
    task.urgency = ticket->explores ? 1 : 0;
    task.placed = since;
    lines_.put(task);
    Station& station = *stations_[index(ticket->resource)];
    ++station.present[type];
    station.changed.notify_one();
  }

  /// Tasks wait for whichever server takes them.
  void place_late(std::size_t type, Clock::time_point since) {
    Task& task = tasks_.make();
    task.ticket = {.type = allot::task_type(type)};
    task.placed = since;
    lines_.put_unbound(task);
    tell_waiting(task.ticket.type);
    for (std::size_t s = 0; s < stations_.size(); ++s) {
      if (stations_[s]->idle > 0 && wants(s, task.ticket.type)) stations_[s]->changed.notify_one();
    }
  }

  void wake_idle() {
    for (const auto& station : stations_) {
      if (station->idle > 0) station->changed.notify_one();
    }
  }

  void tell_waiting(allot::TaskType i) {
    if (late_) late_->set_waiting(i, static_cast<Count>(lines_.unbound(i).size()));
  }

  /// Whether a free server of the station may take a task of the type, bound late.
  bool wants(std::size_t station, allot::TaskType type) const {
    if (!machine_.can_run(index(type), station) || server_count(station) == 0) return false;
    if (late_) return true;  // the plan decides
    const double here = options_.model->rate(type, allot::resource_id(station));
    for (std::size_t s = 0; s < stations_.size(); ++s) {
      if (s != station && stations_[s]->idle > 0 && machine_.can_run(index(type), s) &&
          options_.model->rate(type, allot::resource_id(s)) > here)
        return false;
    }
    return true;
  }

  Task* take_late(std::size_t station) {
    const allot::ResourceId j = allot::resource_id(station);
    const auto available = [&](allot::TaskType i) { return wants(station, i); };
    if (!late_) {
      auto* const task = static_cast<Task*>(lines_.take(j, since_start(Clock::now()), available));
      if (task != nullptr) task->ticket = dispatcher_.place_at(task->ticket.type, j);
      return task;
    }
    const auto start = late_->next(j, Clock::now(), available);
    if (!start) return nullptr;
    auto& task = static_cast<Task&>(*lines_.unbound(start->ticket.type).first());
    lines_.remove(task);
    task.start = *start;
    task.ticket = start->ticket;
    return &task;
  }

  /// Looks for a new plan now and then: its weights count from here on, and if it has another target, tasks
  /// that wait are placed anew. Else they might wait for long where their type has no part any more.
  void follow_plan() {
    const Clock::time_point now = Clock::now();
    if (now < look_at_ || is_late_) return;
    look_at_ = now + std::chrono::milliseconds(1);
    const auto plan = dispatcher_.plan();
    if (plan_ != nullptr && plan->number == plan_->number) return;
    const bool moved = plan_ != nullptr && plan->target != plan_->target;
    plan_ = plan;
    for (std::size_t s = 0; s < stations_.size() && plan->target; ++s) {
      const allot::ResourceId j = allot::resource_id(s);
      for (std::size_t i = 0; i < types_; ++i) weights_[i] = *plan->part(allot::task_type(i), j);
      lines_.set_weights(j, weights_);
    }
    if (moved) place_anew();
  }

  void place_anew() {
    std::vector<std::pair<std::size_t, Clock::time_point>> again;
    for (std::size_t s = 0; s < stations_.size(); ++s) {
      for (std::size_t i = 0; i < types_; ++i) {
        const allot::Line& line = lines_.line(allot::task_type(i), allot::resource_id(s));
        while (allot::WaitingTask* const task =
                   line.first([](const allot::WaitingTask& one) { return !one.ticket.explores; })) {
          again.emplace_back(i, static_cast<Task*>(task)->placed);
          dispatcher_.cancel(task->ticket);
          lines_.remove(*task);
          tasks_.release(static_cast<Task&>(*task));
          --stations_[s]->present[i];
        }
      }
    }
    for (const auto& [type, since] : again) place(type, since);
  }

  /// The task that a free server starts now.
  Task* take(std::size_t station) {
    if (is_late_) return take_late(station);
    const allot::ResourceId j = allot::resource_id(station);
    if (!plan_->target && options_.order == Order::kService) {
      const std::vector<Count>& present = stations_[station]->present;
      std::copy(present.begin(), present.end(), weights_.begin());
      lines_.set_weights(j, weights_);
    }
    return static_cast<Task*>(
        lines_.take(j, since_start(Clock::now()), [](allot::TaskType) { return true; }));
  }

  /// How long a server that found nothing to take sleeps, unless it is woken.
  Seconds idle_for(std::size_t station) const {
    const allot::ResourceId j = allot::resource_id(station);
    const Clock::time_point now = Clock::now();
    double seconds = 0.01;
    if (late_) {
      if (const auto again = late_->ask_again(j)) seconds = Seconds(*again - now).count();
    } else if (const auto until = lines_.idle_until(j)) {
      seconds = *until - since_start(now);
    }
    return Seconds(std::max(0.0, seconds));
  }

  void serve(std::size_t station, std::size_t number, std::vector<Run>& runs) noexcept {
    const Server& server = machine_.stations[station].servers[number];
    stay_on(server.core);
    try {
      std::unique_lock lock(mutex_);
      while (!stop_) {
        follow_plan();
        Task* const task = take(station);
        if (task == nullptr) {
          ++stations_[station]->idle;
          stations_[station]->changed.wait_for(lock, idle_for(station));
          --stations_[station]->idle;
          continue;
        }
        const allot::Ticket ticket = task->ticket;
        const std::size_t type = index(ticket.type);
        lock.unlock();
        const std::size_t input = next_input_[type].fetch_add(1, std::memory_order_relaxed) % machine_.inputs;
        const Clock::time_point begin = Clock::now();
        server.kernels[type]->run(input);
        const Clock::time_point end = Clock::now();
        const double busy = Seconds(end - begin).count();
        runs.push_back({type, station, number, since_measuring(task->placed), since_measuring(begin),
                        since_measuring(end)});
        if (runs.back().end >= 0) ended_.fetch_add(1, std::memory_order_relaxed);
        lock.lock();
        if (late_) {
          late_->ended(task->start, busy, true, end);
          if (options_.model) wake_idle();  // what it held is free
        } else {
          dispatcher_.complete(ticket, busy, true, end);
          if (task->in_order) lines_.served(ticket.type, ticket.resource, busy);
        }
        if (!is_late_) --stations_[station]->present[type];
        tasks_.release(*task);
        place(type, Clock::now());
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }

  /// The first failure ends the run.
  void fail(std::exception_ptr why) {
    const std::lock_guard lock(ending_mutex_);
    if (!failure_) failure_ = std::move(why);
    stop_ = true;
    ending_.notify_all();
  }

  static void stay_on(int core) {
    if (core < 0) return;
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(static_cast<std::size_t>(core), &cores);
    sched_setaffinity(0, sizeof cores, &cores);  // where it is not allowed, the thread runs anywhere
  }

  const Machine& machine_;
  const LoopOptions& options_;
  const allot::PolicyInfo& policy_;
  std::size_t types_;
  bool is_late_;  // tasks wait unbound
  allot::Dispatcher dispatcher_;
  std::mutex mutex_;  // over what follows
  allot::Lines lines_;
  std::optional<allot::LateDispatch> late_;  // what servers take under a policy that binds late
  allot::TaskPool<Task> tasks_;
  std::vector<std::unique_ptr<Station>> stations_;
  std::shared_ptr<const allot::Plan> plan_;  // that the weights are from
  Clock::time_point look_at_{};              // when to ask for a new plan
  std::vector<double> weights_;              // scratch
  std::vector<std::atomic<std::size_t>> next_input_;
  Clock::time_point start_;
  std::atomic<bool> stop_ = false;
  std::atomic<Count> ended_ = 0;  // since the measurement began
  std::mutex ending_mutex_;
  std::condition_variable ending_;
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

LoopResult run_closed_loop(const Machine& machine, const LoopOptions& options) {
  return Loop(machine, options).run();
}

}  // namespace real_machine
