#include "examples/real_machine/closed_loop.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "allot/dispatch/service_order.hpp"

namespace real_machine {
namespace {

using allot::Clock;
using allot::Count;
using Seconds = std::chrono::duration<double>;

/// The tasks that wait before a resource.
struct Queue {
  struct Waiting {
    allot::Ticket ticket;
    Clock::time_point placed;
    std::uint64_t turn = 0;
  };

  Queue(std::size_t types, allot::ServiceOrder::WhenAhead when_ahead)
      : waiting(types), counts(types, 0), present(types, 0), order(types, when_ahead) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::deque<Waiting>> waiting;  // by type
  std::vector<Count> counts;                 // that wait, by type
  std::vector<Count> present;                // that wait or run, by type
  allot::ServiceOrder order;
  bool by_arrival = true;                   // until there is a plan that says otherwise
  std::uint64_t turns = 0;                  // tasks that have come
  std::shared_ptr<const allot::Plan> plan;  // that the weights are from
  Clock::time_point look_at{};              // when to ask for a new plan
};

class Loop {
 public:
  Loop(const Machine& machine, const LoopOptions& options)
      : machine_(machine),
        options_(options),
        types_(machine.types.size()),
        dispatcher_(resources(), dispatch_types(), priors(), dispatcher_options()),
        next_input_(types_) {
    const bool exact =
        options.policy == "weighted" && options.policy_options.shares == allot::ShareReading::kExact;
    for (std::size_t s = 0; s < machine.stations.size(); ++s) {
      queues_.push_back(std::make_unique<Queue>(
          types_, exact ? allot::ServiceOrder::WhenAhead::kIdle : allot::ServiceOrder::WhenAhead::kServe));
    }
  }

  LoopResult run() {
    start_ = Clock::now();
    std::vector<std::vector<Run>> runs;
    std::vector<std::thread> threads;
    for (std::size_t s = 0; s < queues_.size(); ++s) {
      for (std::size_t k = 0; k < server_count(s); ++k) runs.emplace_back();
    }
    std::size_t next = 0;
    try {
      for (std::size_t s = 0; s < queues_.size(); ++s) {
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
    for (auto& queue : queues_) {
      const std::lock_guard lock(queue->mutex);
      queue->changed.notify_all();
    }
    for (auto& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);

    LoopResult result;
    result.seconds = measured_s;
    result.types = types_;
    result.stations = queues_.size();
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
    constexpr double kLongest = 3;
    const Count enough = kTurns * in_flight();
    std::unique_lock lock(ending_mutex_);
    const auto stopped = [this] { return stop_.load(); };
    ending_.wait_for(lock, Seconds(options_.warm_up_s + options_.measure_s), stopped);
    double length = options_.measure_s;
    while (!stopped() && ended_ < enough && length < kLongest * options_.measure_s) {
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
    if (options_.policy == "fixed") out.exploration = 0;
    return out;
  }

  double since_measuring(Clock::time_point time) const {
    return Seconds(time - start_).count() - options_.warm_up_s;
  }

  /// `since`: when the task came into being, which is earlier than now if it waited elsewhere before.
  void submit(std::size_t type, std::optional<Clock::time_point> since = std::nullopt) {
    const Clock::time_point now = Clock::now();
    const auto ticket = dispatcher_.place(allot::task_type(type), now);
    if (!ticket) {
      throw std::runtime_error("no resource takes tasks of type '" + machine_.types[type] + "' any more");
    }
    Queue& queue = *queues_[index(ticket->resource)];
    {
      const std::lock_guard lock(queue.mutex);
      queue.waiting[type].push_back({*ticket, since.value_or(now), queue.turns++});
      ++queue.counts[type];
      ++queue.present[type];
    }
    queue.changed.notify_one();
  }

  /// Looks for a new plan now and then: its weights count from here on, and if it has another target, tasks
  /// that wait are placed anew. Else they might wait for long where their type has no part any more.
  void follow_plan(Queue& queue, std::size_t station, std::unique_lock<std::mutex>& lock) {
    const Clock::time_point now = Clock::now();
    if (now < queue.look_at) return;
    queue.look_at = now + std::chrono::milliseconds(1);
    const auto plan = dispatcher_.plan();
    if (plan == nullptr || (queue.plan != nullptr && plan->number == queue.plan->number)) return;
    const bool moved = queue.plan != nullptr && plan->target != queue.plan->target;
    queue.plan = plan;
    queue.by_arrival = options_.order == Order::kArrival;
    if (plan->target) {
      std::vector<double> weights(types_);
      for (std::size_t i = 0; i < types_; ++i) {
        weights[i] =
            plan->time_shares.empty()
                ? static_cast<double>((*plan->target)(allot::task_type(i), allot::resource_id(station)))
                : plan->time_shares[i * queues_.size() + station];
      }
      queue.order.set_weights(weights);
    }
    if (!moved) return;
    std::vector<Queue::Waiting> again;
    for (std::size_t i = 0; i < types_; ++i) {
      const auto stays =
          std::stable_partition(queue.waiting[i].begin(), queue.waiting[i].end(),
                                [](const Queue::Waiting& task) { return task.ticket.explores; });
      again.insert(again.end(), stays, queue.waiting[i].end());
      queue.waiting[i].erase(stays, queue.waiting[i].end());
      queue.present[i] -= queue.counts[i] - static_cast<Count>(queue.waiting[i].size());
      queue.counts[i] = static_cast<Count>(queue.waiting[i].size());
    }
    lock.unlock();
    for (const Queue::Waiting& task : again) dispatcher_.cancel(task.ticket);
    for (const Queue::Waiting& task : again) submit(index(task.ticket.type), task.placed);
    lock.lock();
  }

  struct Taken {
    Queue::Waiting task;
    bool in_order = false;  // the order of service is to hear of its end
  };

  /// The task that a free server starts now.
  std::optional<Taken> take(Queue& queue) {
    const Clock::time_point now = Clock::now();
    std::optional<std::size_t> type;
    bool in_order = false;
    for (std::size_t i = 0; i < types_; ++i) {
      // A rate that is not known yet comes before all order.
      if (queue.counts[i] > 0 && queue.waiting[i].front().ticket.explores) type = i;
    }
    if (!type && queue.by_arrival) {
      for (std::size_t i = 0; i < types_; ++i) {
        if (queue.counts[i] > 0 &&
            (!type || queue.waiting[i].front().turn < queue.waiting[*type].front().turn))
          type = i;
      }
    } else if (!type) {
      in_order = true;
      if (queue.plan == nullptr || !queue.plan->target) queue.order.set_weights(queue.present);
      if (const auto next = queue.order.next(queue.counts, Seconds(now - start_).count()))
        type = index(*next);
    }
    if (!type) return std::nullopt;
    const Queue::Waiting task = queue.waiting[*type].front();
    queue.waiting[*type].pop_front();
    --queue.counts[*type];
    return Taken{task, in_order};
  }

  void serve(std::size_t station, std::size_t number, std::vector<Run>& runs) noexcept {
    const Server& server = machine_.stations[station].servers[number];
    stay_on(server.core);
    try {
      Queue& queue = *queues_[station];
      std::unique_lock lock(queue.mutex);
      while (!stop_) {
        follow_plan(queue, station, lock);
        const auto taken = take(queue);
        if (!taken) {
          const auto until = queue.order.idle_until();
          queue.changed.wait_for(
              lock, until ? Seconds(std::max(0.0, *until - Seconds(Clock::now() - start_).count()))
                          : Seconds(0.01));
          continue;
        }
        lock.unlock();
        const allot::Ticket& ticket = taken->task.ticket;
        const std::size_t type = index(ticket.type);
        const std::size_t input = next_input_[type].fetch_add(1, std::memory_order_relaxed) % machine_.inputs;
        const Clock::time_point begin = Clock::now();
        server.kernels[type]->run(input);
        const Clock::time_point end = Clock::now();
        const double busy = Seconds(end - begin).count();
        lock.lock();
        if (taken->in_order) queue.order.served(ticket.type, busy);
        --queue.present[type];
        lock.unlock();
        runs.push_back({type, station, number, since_measuring(taken->task.placed), since_measuring(begin),
                        since_measuring(end)});
        if (runs.back().end >= 0) ended_.fetch_add(1, std::memory_order_relaxed);
        dispatcher_.complete(ticket, busy, true, end);
        submit(type);
        lock.lock();
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
  std::size_t types_;
  allot::Dispatcher dispatcher_;
  std::vector<std::unique_ptr<Queue>> queues_;
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

double LoopResult::mean_response() const {
  double sum = 0;
  for (const Run& run : runs) sum += run.end - run.placed;
  return runs.empty() ? 0 : sum / static_cast<double>(runs.size());
}

LoopResult run_closed_loop(const Machine& machine, const LoopOptions& options) {
  return Loop(machine, options).run();
}

}  // namespace real_machine
