// A machine in virtual time for a Dispatcher to schedule: the true rates are hidden from it, nothing sleeps.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/model/filling.hpp"
#include "allot/policy/service_order.hpp"

namespace allot::testing {

/// Each thread of a type has one task in the system at any time. A resource starts a waiting task whenever a
/// unit is free, in the order of a ServiceOrder, and runs it to its end: more slowly while tasks overdraw
/// what they share. The dispatcher plans (deferred) after every completion.
class ClosedLoop {
 public:
  /// The factor on a task's time, with mean 1; by default within 2% of 1.
  using Noise = std::function<double(RandomStream&)>;

  ClosedLoop(const System& truth, Dispatcher& dispatcher, std::uint64_t seed, Noise noise = {})
      : truth_(truth),
        dispatcher_(dispatcher),
        random_(seed),
        noise_(noise ? std::move(noise) : [](RandomStream& r) { return 1 + 0.04 * (r.uniform() - 0.5); }),
        slowdown_(truth.resource_count(), 1.0),
        completions_(truth.type_count(), 0),
        shared_(truth, Filling::Of::kShared),
        in_service_(truth.type_count() * truth.resource_count(), 0.0) {
    for (const ResourceId j : truth.resource_ids()) {
      stations_.push_back({truth.resource(j).servers, ServiceOrder(truth.type_count()),
                           std::vector<std::deque<Ticket>>(truth.type_count()),
                           std::vector<Count>(truth.type_count(), 0)});
    }
    for (const TaskType i : truth.types()) {
      for (Count n = 0; n < truth.count(i); ++n) enter(i);
    }
  }

  static Clock::time_point at(double seconds) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  double now() const { return now_; }
  void slow_down(ResourceId j, double factor) { slowdown_[index(j)] = factor; }
  /// The next completion reports a time so many times too long, of those of the pair.
  void spoil_next(TaskType i, ResourceId j, double factor) { spoilt_ = {i, j, factor}; }
  bool spoilt() const { return !spoilt_; }
  /// Service by these weights rather than by the counts (row-major time shares).
  void set_time_shares(std::vector<double> shares) { shares_ = std::move(shares); }
  const std::vector<std::uint64_t>& completions() const { return completions_; }

  /// Runs until so many more tasks have completed; returns completions per second.
  double run(std::uint64_t completions) {
    const double begin = now_;
    for (std::uint64_t done = 0; done < completions; ++done) step();
    return static_cast<double>(completions) / (now_ - begin);
  }

 private:
  struct Station {
    Count idle;
    ServiceOrder order;
    std::vector<std::deque<Ticket>> waiting;
    std::vector<Count> present;
  };
  struct Running {
    double left;  ///< seconds at full speed
    double began;
    Ticket ticket;
  };
  struct Spoilt {
    TaskType type;
    ResourceId resource;
    double factor;
  };

  void enter(TaskType i) {
    const std::optional<Ticket> ticket = dispatcher_.place(i, at(now_));
    Station& station = stations_.at(index(ticket->resource));
    station.waiting[index(i)].push_back(*ticket);
    ++station.present[index(i)];
    start(station, ticket->resource);
  }

  void start(Station& station, ResourceId j) {
    while (station.idle > 0) {
      if (shares_.empty()) {
        station.order.set_weights(std::span<const Count>(station.present));
      } else {
        std::vector<double> column;
        for (const TaskType i : truth_.types()) {
          column.push_back(shares_[index(i) * truth_.resource_count() + index(j)]);
        }
        station.order.set_weights(std::span<const double>(column));
      }
      std::vector<Count> waiting;
      for (const auto& queue : station.waiting) waiting.push_back(static_cast<Count>(queue.size()));
      const std::optional<TaskType> next = station.order.next(waiting, now_);
      if (!next) return;
      const Ticket ticket = station.waiting[index(*next)].front();
      station.waiting[index(*next)].pop_front();
      --station.idle;
      running_.push_back(
          {noise_(random_) * slowdown_[index(j)] * truth_.seconds_per_task(*next, j), now_, ticket});
      in_service_[pair(ticket)] += 1;
    }
  }

  std::size_t pair(const Ticket& ticket) const {
    return index(ticket.type) * truth_.resource_count() + index(ticket.resource);
  }

  /// Goes on to the next end, and takes the task out.
  Running next_end() {
    const std::span<const double> speeds = shared_.levels(in_service_);
    std::size_t first = 0;
    double passed = 0;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const double until = running_[k].left / speeds[pair(running_[k].ticket)];
      if (k > 0 && until >= passed) continue;
      first = k;
      passed = until;
    }
    for (Running& task : running_) task.left -= passed * speeds[pair(task.ticket)];
    now_ += passed;
    const Running ended = running_[first];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(first));
    in_service_[pair(ended.ticket)] -= 1;
    return ended;
  }

  void step() {
    const Running ended = next_end();
    const double busy = now_ - ended.began;
    const Ticket& ticket = ended.ticket;
    Station& station = stations_[index(ticket.resource)];
    ++station.idle;
    --station.present[index(ticket.type)];
    ++completions_[index(ticket.type)];
    station.order.served(ticket.type, busy);
    double reported = busy;
    if (spoilt_ && spoilt_->type == ticket.type && spoilt_->resource == ticket.resource) {
      reported *= spoilt_->factor;
      spoilt_.reset();
    }
    dispatcher_.complete(ticket, reported, true, at(now_));
    dispatcher_.solve(at(now_));
    enter(ticket.type);
    start(station, ticket.resource);
  }

  const System& truth_;
  Dispatcher& dispatcher_;
  RandomStream random_;
  Noise noise_;
  std::vector<double> slowdown_;
  std::vector<double> shares_;
  std::vector<std::uint64_t> completions_;
  std::vector<Station> stations_;
  std::vector<Running> running_;
  Filling shared_;
  std::vector<double> in_service_;  // tasks by pair
  std::optional<Spoilt> spoilt_;
  double now_ = 0;
};

}  // namespace allot::testing
