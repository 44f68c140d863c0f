// A resource at work: tasks enter, receive service by its discipline, and leave.
//
// Every kind of station has the same operations. After all changes of one moment the owner calls `settle`,
// which makes `due` (when the next task leaves) and `busy` (servers at work) valid again.
#pragma once

#include <algorithm>
#include <variant>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/detail/job.hpp"
#include "allot/simulate/detail/queues.hpp"
#include "allot/simulate/detail/weighted_stations.hpp"

namespace allot::detail {

/// Even processor sharing, exactly: every task receives min(1, c / n) of a server. In virtual time, which
/// passes at that speed, a task's finish is fixed when it enters.
template <typename Queue>
class SharedStation {
 public:
  explicit SharedStation(Count servers)
      : servers_(servers), per_server_(1.0 / static_cast<double>(servers)) {}

  [[gnu::always_inline]] void enter(double now, const Job& job) {
    if (updated_ != now) {
      virtual_now_ += (now - updated_) / slowness();
      updated_ = now;
    }
    queue_.push(virtual_now_ + job.work, job.thread);
    finish_sum_ += virtual_now_ + job.work;
    ++tasks_;
  }

  [[gnu::always_inline]] bool leave(double now, ThreadId& thread) noexcept {
    virtual_now_ = queue_.first_finish();
    updated_ = now;
    finish_sum_ -= virtual_now_;
    thread = queue_.pop();
    --tasks_;
    return true;
  }

  [[gnu::always_inline]] void settle(double now) noexcept {
    queue_.settle();
    due = tasks_ == 0 ? kNever : now + (queue_.first_finish() - virtual_now_) * slowness();
    busy = static_cast<double>(std::min(tasks_, servers_));
  }

  double remaining(double now) const noexcept {
    if (tasks_ == 0) return 0;
    const double v = virtual_now_ + (now - updated_) / slowness();
    return std::max(0.0, finish_sum_ - static_cast<double>(tasks_) * v);
  }

  /// The thread that leaves next; 0 if the station is empty.
  ThreadId next_thread() const noexcept requires requires(const Queue& queue) { queue.first_thread(); }
  { return queue_.first_thread(); }

  /// Resets virtual time, so that it loses no digits in a long run.
  void rebase() noexcept {
    finish_sum_ = queue_.shift(virtual_now_);
    virtual_now_ = 0;
  }

  double due = kNever;
  double busy = 0;

 private:
  double slowness() const noexcept {
    return tasks_ <= servers_ ? 1.0 : static_cast<double>(tasks_) * per_server_;
  }

  Count servers_;
  double per_server_;
  Count tasks_ = 0;
  double virtual_now_ = 0;  // at `updated_`
  double updated_ = 0;
  double finish_sum_ = 0;
  Queue queue_;  // by virtual finish
};

/// First come, first served, by one server.
class SingleStation {
 public:
  [[gnu::always_inline]] void enter(double, const Job& job) {
    waiting_.push(job);
    waiting_work_ += job.work;
  }

  [[gnu::always_inline]] bool leave(double, ThreadId& thread) noexcept {
    thread = running_;
    busy = 0;
    return true;
  }

  [[gnu::always_inline]] void settle(double now) {
    if (busy != 0) return;
    if (waiting_.empty()) {
      waiting_work_ = 0;
      due = kNever;
      return;
    }
    const Job next = waiting_.pop();
    waiting_work_ -= next.work;
    running_ = next.thread;
    due = now + next.work;
    busy = 1;
    if (started != nullptr) started->push_back(running_);
  }

  double remaining(double now) const noexcept {
    // Between `leave` and `settle` nothing runs, but others may wait.
    return std::max(0.0, waiting_work_ + (busy == 0 ? 0.0 : due - now));
  }

  /// Calls `use` with each thread in service and the time of its end.
  template <typename Use>
  void for_each_running(Use&& use) const {
    if (busy != 0) use(running_, due);
  }

  void rebase() noexcept {
    if (waiting_.empty()) waiting_work_ = 0;
  }

  double due = kNever;
  double busy = 0;
  std::vector<ThreadId>* started = nullptr;  // receives those whose service begins; may be null

 private:
  ThreadId running_ = 0;
  double waiting_work_ = 0;
  FifoQueue<Job> waiting_;
};

/// First come, first served, by several servers.
template <typename Queue>
class OrderedStation {
 public:
  explicit OrderedStation(Count servers) : servers_(servers) {}

  void enter(double, const Job& job) {
    waiting_.push(job);
    waiting_work_ += job.work;
  }

  bool leave(double, ThreadId& thread) noexcept {
    finish_sum_ -= running_.first_finish();
    thread = running_.pop();
    return true;
  }

  void settle(double now) {
    while (static_cast<Count>(running_.size()) < servers_ && !waiting_.empty()) {
      const Job next = waiting_.pop();
      waiting_work_ -= next.work;
      running_.push(now + next.work, next.thread);
      finish_sum_ += now + next.work;
      if (started != nullptr) started->push_back(next.thread);
    }
    if (waiting_.empty()) waiting_work_ = 0;
    running_.settle();
    due = running_.first_finish();
    busy = static_cast<double>(running_.size());
  }

  double remaining(double now) const noexcept {
    return std::max(0.0, waiting_work_ + finish_sum_ - static_cast<double>(running_.size()) * now);
  }

  double first_end() const noexcept { return running_.first_finish(); }

  template <typename Use>
  void for_each_running(Use&& use) const {
    running_.for_each(use);
  }

  void rebase() noexcept { finish_sum_ = running_.shift(0); }

  double due = kNever;
  double busy = 0;
  std::vector<ThreadId>* started = nullptr;  // receives those whose service begins; may be null

 private:
  Count servers_;
  double waiting_work_ = 0;
  double finish_sum_ = 0;
  FifoQueue<Job> waiting_;
  Queue running_;  // by finish
};

/// Late binding: a task enters when the resource takes it. Only tasks beyond the servers, for a minimum
/// depth, wait here.
template <typename Queue>
class LateStation : public OrderedStation<Queue> {
  using Ordered = OrderedStation<Queue>;

 public:
  explicit LateStation(const Resource& resource)
      : Ordered(resource.servers), room_(std::max(resource.servers, resource.min_depth)) {}

  bool has_room() const noexcept { return tasks_ < room_; }

  void enter(double now, const Job& job) {
    Ordered::enter(now, job);
    ++tasks_;
  }

  bool leave(double now, ThreadId& thread) noexcept {
    if (Ordered::first_end() > now) return false;  // a server only stops idling
    --tasks_;
    return Ordered::leave(now, thread);
  }

  void settle(double now) {
    Ordered::settle(now);
    Ordered::due = std::min(Ordered::due, wake);
  }

  double wake = kNever;  ///< when to ask again

 private:
  Count room_;
  Count tasks_ = 0;
};

/// A station of any kind.
template <typename Queue>
using Station = std::variant<SharedStation<Queue>, SingleStation, OrderedStation<Queue>,
                             WeightedSharedStation<Queue>, WeightedOrderStation<Queue>, LateStation<Queue>>;

/// Calls `use` with the actual station; a plain switch, which compilers can optimise.
template <typename Queue, typename Use>
[[gnu::always_inline]] inline decltype(auto) with_station(Station<Queue>& station, Use&& use) {
  switch (station.index()) {
    case 0:
      return use(*std::get_if<0>(&station));
    case 1:
      return use(*std::get_if<1>(&station));
    case 2:
      return use(*std::get_if<2>(&station));
    case 3:
      return use(*std::get_if<3>(&station));
    case 4:
      return use(*std::get_if<4>(&station));
    default:
      return use(*std::get_if<5>(&station));
  }
}

/// Passes the policy's time shares to weighted stations.
template <typename Queue>
void set_shares(std::vector<Station<Queue>>& stations, const Policy& policy, std::size_t types, double now) {
  const PairSpan shares(policy.time_shares(), stations.size());
  const Assignment* target = policy.target();
  if (shares.empty() || target == nullptr) return;
  std::vector<TypeShare> column(types);
  for (std::size_t j = 0; j < stations.size(); ++j) {
    for (std::size_t i = 0; i < types; ++i) {
      const double share = shares(task_type(i), resource_id(j));
      const Count tasks = (*target)(task_type(i), resource_id(j));
      column[i] = {share, tasks > 0 ? share / static_cast<double>(tasks) : share};
    }
    with_station(stations[j], [&](auto& station) {
      if constexpr (requires { station.set_shares(now, column); }) station.set_shares(now, column);
    });
  }
}

/// The station for the resource's discipline. `weighted`: by time shares.
template <typename Queue>
Station<Queue> make_station(const Resource& resource, std::size_t types, bool weighted, bool exact_shares) {
  const bool shared = resource.discipline == Discipline::kPs;
  if (weighted && shared) return WeightedSharedStation<Queue>(resource.servers, types, exact_shares);
  if (weighted) return WeightedOrderStation<Queue>(resource.servers, types, exact_shares);
  if (shared) return SharedStation<Queue>(resource.servers);
  if (resource.servers == 1) return SingleStation();
  return OrderedStation<Queue>(resource.servers);
}

}  // namespace allot::detail
