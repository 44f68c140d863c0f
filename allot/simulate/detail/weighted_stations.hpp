// Resources that divide their time by weight (the policy `weighted`): its versions of the stations in
// stations.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/simulate/detail/job.hpp"
#include "allot/simulate/detail/queues.hpp"

namespace allot::detail {

/// What weighted service needs to know about a type at a resource.
struct TypeShare {
  double share = 0;   ///< f_ij: mean servers that work on the type
  double weight = 0;  ///< of one task: f_ij / n_ij of the target
};

/// Sharing by weight: a task receives min(1, theta * weight) servers, with theta chosen so that they sum to
/// the target's servers (`exact`) or to the smaller number of tasks and servers (`floor`). Tasks of a type
/// receive the same, so each type has its own virtual time.
template <typename Queue>
class WeightedSharedStation {
 public:
  WeightedSharedStation(Count servers, std::size_t types, bool exact)
      : servers_(servers), exact_(exact), parts_(types) {}

  void set_shares(double now, std::span<const TypeShare> shares) {
    advance(now);
    planned_ = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i].weight = shares[i].weight;
      planned_ += shares[i].share;
    }
  }

  void enter(double now, const Job& job) {
    advance(now);
    Part& part = parts_[job.type];
    part.queue.push(part.virtual_now + job.work, job.thread);
  }

  bool leave(double now, ThreadId& thread) noexcept {
    advance(now);
    Part& part = parts_[due_part_];
    part.virtual_now = part.queue.first_finish();
    thread = part.queue.pop();
    return true;
  }

  void settle(double now) noexcept {
    share_out();
    due = kNever;
    busy = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      part.queue.settle();
      if (part.queue.empty()) {
        part.virtual_now = 0;
        continue;
      }
      busy += part.speed * static_cast<double>(part.queue.size());
      if (part.speed <= 0) continue;
      const double at = now + (part.queue.first_finish() - part.virtual_now) / part.speed;
      if (at < due) {
        due = at;
        due_part_ = i;
      }
    }
  }

  double remaining(double) const noexcept { return 0; }
  void rebase() noexcept {
    for (Part& part : parts_) {
      part.queue.shift(part.virtual_now);
      part.virtual_now = 0;
    }
  }

  double due = kNever;
  double busy = 0;

 private:
  struct Part {
    double weight = 0;
    double speed = 0;  // servers that one task receives
    double virtual_now = 0;
    Queue queue;
  };

  void advance(double now) noexcept {
    if (now != updated_) {
      for (Part& part : parts_) part.virtual_now += (now - updated_) * part.speed;
      updated_ = now;
    }
  }

  /// Water-filling: types whose tasks would receive more than a whole server receive one; the others share
  /// the rest.
  void share_out() noexcept {
    double tasks = 0;
    double weight = 0;
    for (Part& part : parts_) {
      part.speed = 0;
      if (part.weight <= 0 || part.queue.empty()) continue;
      tasks += static_cast<double>(part.queue.size());
      weight += part.weight * static_cast<double>(part.queue.size());
    }
    if (tasks == 0) {
      if (!exact_) share_evenly();
      return;
    }
    double units = std::min(exact_ ? planned_ : static_cast<double>(servers_), tasks);
    for (bool capped = true; capped && weight > 0;) {
      capped = false;
      const double theta = units / weight;
      for (Part& part : parts_) {
        if (part.weight <= 0 || part.queue.empty() || part.speed == 1) continue;
        if (theta * part.weight >= 1) {
          part.speed = 1;
          units -= static_cast<double>(part.queue.size());
          weight -= part.weight * static_cast<double>(part.queue.size());
          capped = true;
        } else {
          part.speed = std::max(0.0, theta * part.weight);
        }
      }
    }
  }

  /// No task here has a share: instead of idling, all receive the same.
  void share_evenly() noexcept {
    Count tasks = 0;
    for (const Part& part : parts_) tasks += static_cast<Count>(part.queue.size());
    for (Part& part : parts_) {
      part.speed = tasks <= servers_ ? 1.0 : static_cast<double>(servers_) / static_cast<double>(tasks);
    }
  }

  Count servers_;
  bool exact_;
  double planned_ = 0;
  double updated_ = 0;
  std::size_t due_part_ = 0;
  std::vector<Part> parts_;
};

/// One task at a time per server; the next is of the type that is furthest behind its share: least service /
/// f_ij. With exact shares, a server idles while every waiting type is ahead of its share of the time.
template <typename Queue>
class WeightedOrderStation {
 public:
  WeightedOrderStation(Count servers, std::size_t types, bool exact)
      : servers_(servers), exact_(exact), parts_(types) {}

  /// Types stay as far ahead or behind as under the previous shares.
  void set_shares(double now, std::span<const TypeShare> shares) {
    const double reached = exact_ ? now - since_ : least_progress(parts_.size());
    since_ = now;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      const double ahead = part.share > 0 && reached < kNever ? part.service - reached * part.share : 0.0;
      part.service = is_present(part) ? ahead : std::max(0.0, ahead);
      part.share = shares[i].share;
    }
  }

  void enter(double now, const Job& job) {
    Part& part = parts_[job.type];
    if (part.waiting.empty() && part.running == 0 && part.away_since != now) catch_up(now, job.type);
    part.waiting.push(job);
  }

  bool leave(double now, ThreadId& thread) {
    if (running_.first_finish() > now) return false;  // a unit only ends its idling
    thread = running_.pop();
    for (std::size_t at = 0; at < types_of_running_.size(); ++at) {
      if (types_of_running_[at].first != thread) continue;
      Part& part = parts_[types_of_running_[at].second];
      if (--part.running == 0 && part.waiting.empty()) part.away_since = now;
      types_of_running_[at] = types_of_running_.back();
      types_of_running_.pop_back();
      break;
    }
    return true;
  }

  void settle(double now) {
    double wake = kNever;
    while (static_cast<Count>(running_.size()) < servers_) {
      std::size_t next = parts_.size();
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (!parts_[i].waiting.empty() && (next == parts_.size() || progress(i) < progress(next))) next = i;
      }
      if (next == parts_.size()) break;
      if (exact_ && since_ + progress(next) > now) {
        wake = since_ + progress(next);
        break;
      }
      const Job job = parts_[next].waiting.pop();
      parts_[next].service += job.work;
      ++parts_[next].running;
      running_.push(now + job.work, job.thread);
      types_of_running_.emplace_back(job.thread, next);
      if (started != nullptr) started->push_back(job.thread);
    }
    running_.settle();
    due = std::min(running_.first_finish(), wake);
    busy = static_cast<double>(running_.size());
  }

  template <typename Use>
  void for_each_running(Use&& use) const {
    running_.for_each(use);
  }

  double remaining(double) const noexcept { return 0; }
  void rebase() noexcept {}

  double due = kNever;
  double busy = 0;
  std::vector<ThreadId>* started = nullptr;

 private:
  struct Part {
    double share = 0;
    double service = 0;
    std::size_t running = 0;
    double away_since = -1;  // when its last task left
    FifoQueue<Job> waiting;
  };

  /// The progress of a type: service received per unit of share. Types without a share come last.
  double progress(std::size_t i) const noexcept {
    return parts_[i].share > 0 ? parts_[i].service / parts_[i].share
                               : (exact_ ? kNever : 1e300 + parts_[i].service);
  }

  static bool is_present(const Part& part) noexcept { return !part.waiting.empty() || part.running > 0; }

  /// The least progress of the types here, except one; kNever if there is no other.
  double least_progress(std::size_t but) const noexcept {
    double least = kNever;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (i != but && parts_[i].share > 0 && is_present(parts_[i])) least = std::min(least, progress(i));
    }
    return least;
  }

  /// A type that comes back must not claim the time in which it was away.
  void catch_up(double now, std::size_t type) noexcept {
    Part& part = parts_[type];
    if (part.share <= 0) return;
    double least = least_progress(type);
    if (exact_) least = std::min(least, now - since_);
    if (least < kNever) part.service = std::max(part.service, least * part.share);
  }

  Count servers_;
  bool exact_;
  double since_ = 0;
  std::vector<Part> parts_;
  Queue running_;  // by finish
  std::vector<std::pair<ThreadId, std::size_t>> types_of_running_;
};

}  // namespace allot::detail
