// A machine in virtual time for live hosts of any policy, under any load: tasks that threads submit one after
// the other, bursts, and arrivals at random. The true rates are hidden from the dispatcher; nothing sleeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/dispatch/late_dispatch.hpp"
#include "allot/dispatch/lines.hpp"
#include "allot/model/filling.hpp"

namespace allot::testing {

/// Whole tasks run to their end: more slowly while they overdraw what they share, and not before what they
/// hold is free. Under a policy that binds late a server takes what `LateDispatch` says. Under all others a
/// task waits where it was placed (`Lines`), and its resource takes next the type with the least service for
/// the number of its tasks there; or for its time share in the plan, and then a new plan places anew what
/// waits, since a type without a share gets next to nothing. The dispatcher plans after every event.
class LiveWorld {
 public:
  /// The factor on a task's time, with mean 1; by default within 2% of 1.
  using Noise = std::function<double(RandomStream&)>;

  LiveWorld(const System& truth, Dispatcher& dispatcher, std::uint64_t seed, Noise noise = {})
      : truth_(truth),
        dispatcher_(dispatcher),
        random_(seed),
        outside_(seed, 1),
        noise_(noise ? std::move(noise) : [](RandomStream& r) { return 1 + 0.04 * (r.uniform() - 0.5); }),
        completions_(truth.type_count(), 0),
        ready_(truth.type_count(), 0),
        in_flight_(truth.type_count(), 0),
        by_thread_(truth.type_count(), 0),
        present_(truth.type_count(), truth.resource_count(), 0),
        shared_(truth, Filling::Of::kShared),
        in_service_(truth.type_count(), truth.resource_count(), 0.0) {
    if (find_policy(dispatcher.options().policy)->binds_late) late_.emplace(dispatcher, at(0));
    lines_.resize(truth.type_count(), truth.resource_count());
  }

  static Clock::time_point at(double seconds) {
    return Clock::time_point(
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)));
  }

  double now() const { return now_; }
  const std::vector<std::uint64_t>& completions() const { return completions_; }
  Count in_flight() const { return std::accumulate(in_flight_.begin(), in_flight_.end(), Count{0}); }
  LateDispatch& late() { return *late_; }

  /// So many threads of the type more, each with a task at any time.
  void add_threads(TaskType i, Count threads) { submit(i, threads, true); }
  /// Tasks that nothing follows.
  void add_tasks(TaskType i, Count tasks) { submit(i, tasks, false); }
  /// Tasks that nothing follows, at random times.
  void set_arrivals(std::vector<double> per_second) {
    arrivals_.clear();
    for (const double rate : per_second) arrivals_.push_back({rate, now_ + gap(rate)});
  }

  /// The n-th task of the pair, from 0, takes so many times too long.
  void spoil(TaskType i, ResourceId j, Count n, double factor) { spoilt_ = {i, j, n, factor}; }
  /// Whether that task has ended.
  bool spoilt() const { return spoilt_.left < 0 && spoilt_.until <= now_; }

  /// The whole machine stands still for so long, or the server of one of the tasks does.
  void stall(double seconds, std::optional<std::size_t> task = {}) {
    for (std::size_t k = 0; k < running_.size(); ++k) {
      if (!task || *task % running_.size() == k) running_[k].left += seconds;
    }
  }

  /// From now on the next task of a thread is of a type that is drawn, with these weights.
  void set_mix(std::vector<double> weights) { mix_ = std::move(weights); }

  /// Runs until so many more tasks have completed, or nothing is left; value per second.
  double run(std::uint64_t completions) {
    const double begin = now_;
    const double before = value_;
    for (std::uint64_t done = 0; done < completions && step(done);) {
    }
    return now_ > begin ? (value_ - before) / (now_ - begin) : 0;
  }
  /// Runs until so many seconds have passed, or nothing is left.
  void run_until(double seconds) {
    std::uint64_t done = 0;
    while (now_ < seconds && step(done)) {
    }
  }
  double value() const { return value_; }
  /// Whether a task was started although what it holds was not free.
  bool overdrawn() const { return overdrawn_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct Running {
    double left;  ///< seconds at full speed
    double began;
    Ticket ticket;
    LateDispatch::Start start;
    bool in_order;
  };
  struct Stream {
    double rate;
    double next;
  };
  struct Spoilt {
    TaskType type{};
    ResourceId resource{};
    Count left = 0;
    double factor = 1;
    double until = kNever;
  };

  double gap(double rate) { return rate > 0 ? -std::log(outside_.uniform()) / rate : kNever; }

  TaskType drawn_type() {
    double left = outside_.uniform() * std::accumulate(mix_.begin(), mix_.end(), 0.0);
    std::size_t i = 0;
    while (i + 1 < mix_.size() && left > mix_[i]) left -= mix_[i++];
    return task_type(i);
  }

  void submit(TaskType i, Count tasks, bool by_thread) {
    for (Count n = 0; n < tasks; ++n) {
      ++in_flight_[index(i)];
      if (by_thread) ++by_thread_[index(i)];
      if (late_) {
        late_->set_waiting(i, ++ready_[index(i)]);
      } else {
        place(i);
      }
    }
    start_all();
  }

  void place(TaskType i) {
    WaitingTask& task = tasks_.make();
    task.ticket = *dispatcher_.place(i, at(now_));
    task.urgency = task.ticket.explores ? 1 : 0;
    ++present_(i, task.ticket.resource);
    lines_.put(task);
  }

  void follow_plan() {
    const auto plan = dispatcher_.plan();
    if (late_ || plan_ == plan) return;
    const bool is_same = plan_ != nullptr && plan_->target == plan->target && plan->time_shares.empty();
    plan_ = plan;
    if (is_same) return;
    std::vector<double> column(truth_.type_count());
    std::vector<TaskType> again;
    for (const ResourceId j : truth_.resource_ids()) {
      for (const TaskType i : truth_.types()) {
        if (!plan->time_shares.empty()) column[index(i)] = *plan->part(i, j);
        while (WaitingTask* const task = lines_.line(i, j).first(
                   [](const WaitingTask& waiting) { return !waiting.ticket.explores; })) {
          dispatcher_.cancel(task->ticket);
          lines_.remove(*task);
          tasks_.release(*task);
          --present_(i, j);
          again.push_back(i);
        }
      }
      if (!plan->time_shares.empty()) lines_.set_weights(j, column);
    }
    for (const TaskType i : again) place(i);
  }

  bool has_room(TaskType i, ResourceId j) const {
    for (const Draw& need : truth_.needs(i, j)) {
      if (truth_.is_shared(need.capacity)) continue;
      double used = need.amount;
      for (const TaskType l : truth_.types()) {
        for (const ResourceId k : truth_.resources_for(l)) {
          for (const Draw& draw : truth_.needs(l, k)) {
            if (draw.capacity == need.capacity) used += draw.amount * in_service_(l, k);
          }
        }
      }
      if (used > truth_.amount(need.capacity) * (1 + 1e-9)) return false;
    }
    return true;
  }

  void start_all() {
    follow_plan();
    wake_ = kNever;
    for (bool again = true; again;) {
      again = false;
      for (const ResourceId j : truth_.resource_ids()) {
        if (has_free_server(j)) again |= late_ ? start_late(j) : start_bound(j);
      }
    }
  }

  bool has_free_server(ResourceId j) const {
    double servers = static_cast<double>(truth_.resource(j).servers);
    for (const TaskType i : truth_.types()) {
      if (truth_.can_run(i, j)) servers -= in_service_(i, j) * truth_.servers_taken(i, j);
    }
    return servers > 1e-9;
  }

  bool start_late(ResourceId j) {
    const std::optional<LateDispatch::Start> start = late_->next(j, at(now_));
    if (!start) {
      if (const auto again = late_->ask_again(j)) {
        const double when = std::chrono::duration<double>(again->time_since_epoch()).count();
        if (when > now_) wake_ = std::min(wake_, when);
      }
      return false;
    }
    if (!has_room(start->ticket.type, j)) overdrawn_ = true;
    --ready_[index(start->ticket.type)];
    begin(start->ticket, *start, false);
    return true;
  }

  bool start_bound(ResourceId j) {
    if (plan_->time_shares.empty()) {
      std::vector<double> column;
      for (const TaskType i : truth_.types()) column.push_back(static_cast<double>(present_(i, j)));
      lines_.set_weights(j, column);
    }
    WaitingTask* const task = lines_.take(j, now_, [&](TaskType i) { return has_room(i, j); });
    if (task == nullptr) return false;
    begin(task->ticket, {}, task->in_order);
    tasks_.release(*task);
    return true;
  }

  void begin(const Ticket& ticket, const LateDispatch::Start& start, bool in_order) {
    double seconds = noise_(random_) * truth_.seconds_per_task(ticket.type, ticket.resource);
    if (spoilt_.type == ticket.type && spoilt_.resource == ticket.resource && spoilt_.left-- == 0) {
      seconds *= spoilt_.factor;
      spoilt_.until = now_ + seconds;
    }
    running_.push_back({seconds, now_, ticket, start, in_order});
    in_service_(ticket.type, ticket.resource) += 1;
  }

  /// The next event. False: there is none any more.
  bool step(std::uint64_t& done) {
    const std::span<const double> speeds = shared_.levels(in_service_.values());
    const auto speed = [&](const Running& task) {
      return speeds[index(task.ticket.type) * truth_.resource_count() + index(task.ticket.resource)];
    };
    double next = wake_;
    std::optional<std::size_t> ending;
    std::optional<std::size_t> coming;
    for (std::size_t k = 0; k < running_.size(); ++k) {
      const double end = now_ + running_[k].left / speed(running_[k]);
      if (end >= next) continue;
      next = end;
      ending = k;
    }
    for (std::size_t k = 0; k < arrivals_.size(); ++k) {
      if (arrivals_[k].next >= next) continue;
      next = arrivals_[k].next;
      coming = k;
    }
    if (next == kNever) return false;
    const double passed = std::max(0.0, next - now_);
    for (Running& task : running_) task.left -= passed * speed(task);
    now_ = std::max(now_, next);
    if (coming) {
      arrivals_[*coming].next = now_ + gap(arrivals_[*coming].rate);
      dispatcher_.solve(at(now_));
      submit(task_type(*coming), 1, false);
    } else if (ending) {
      end(*ending);
      ++done;
    } else {
      start_all();
    }
    return true;
  }

  void end(std::size_t k) {
    const Running ended = running_[k];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(k));
    const TaskType i = ended.ticket.type;
    const double busy = now_ - ended.began;
    in_service_(i, ended.ticket.resource) -= 1;
    ++completions_[index(i)];
    value_ += truth_.worth(i);
    // Tasks of a type are alike: any of them may be a thread's.
    const auto alike = static_cast<std::uint64_t>(in_flight_[index(i)]--);
    const auto by_threads = static_cast<std::uint64_t>(by_thread_[index(i)]);
    const bool by_thread = by_threads == alike || (by_threads > 0 && random_.below(alike) < by_threads);
    if (late_) {
      late_->ended(ended.start, busy, true, at(now_));
    } else {
      --present_(i, ended.ticket.resource);
      if (ended.in_order) lines_.served(i, ended.ticket.resource, busy);
      dispatcher_.complete(ended.ticket, busy, true, at(now_));
    }
    dispatcher_.solve(at(now_));
    if (by_thread) {
      --by_thread_[index(i)];
      submit(mix_.empty() ? i : drawn_type(), 1, true);
    } else {
      start_all();
    }
  }

  const System& truth_;
  Dispatcher& dispatcher_;
  std::optional<LateDispatch> late_;
  RandomStream random_;   // of the times that tasks take
  RandomStream outside_;  // of what comes: the same, whatever is done with it
  Noise noise_;
  std::vector<std::uint64_t> completions_;
  std::vector<Count> ready_;      // by type, of those that no server has taken; late binding alone
  std::vector<Count> in_flight_;  // by type
  std::vector<Count> by_thread_;  // by type: tasks in flight that are followed by another
  PerPair<Count> present_;        // tasks that were placed there
  Lines lines_{{}};
  TaskPool<WaitingTask> tasks_;
  std::shared_ptr<const Plan> plan_;  // that the lines follow
  std::vector<Running> running_;
  std::vector<Stream> arrivals_;
  std::vector<double> mix_;
  Spoilt spoilt_;
  Filling shared_;
  PerPair<double> in_service_;
  double value_ = 0;
  double now_ = 0;
  double wake_ = kNever;
  bool overdrawn_ = false;
};

}  // namespace allot::testing
