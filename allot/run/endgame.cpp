#include "allot/run/endgame.hpp"

#include <algorithm>
#include <limits>

namespace allot {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

enum class Rule { kShortestFirst, kLongestFirst, kLargestLossFirst };

/// A schedule in progress: how many tasks of each type each slot gets, and when it is done.
struct Schedule {
  std::vector<Count> tasks;  // slot by type
  std::vector<double> done;  // by slot
  double finish = 0;
  double total = 0;  // sum of the slots' work: if two schedules end together, the one with less is better

  bool operator<(const Schedule& other) const noexcept {
    const double margin = 1e-9 * std::max(finish, other.finish);
    if (finish < other.finish - margin) return true;
    if (finish > other.finish + margin) return false;
    return total < other.total * (1 - 1e-9);
  }
};

class Planner {
 public:
  Planner(std::span<const double> seconds, std::span<const Count> left, std::span<const EndgameSlot> slots,
          std::size_t resources)
      : seconds_(seconds, resources), left_(left.begin(), left.end()), slots_(slots), resources_(resources) {
    for (std::size_t i = 0; i < left_.size(); ++i) {
      const bool runs = std::any_of(slots_.begin(), slots_.end(),
                                    [&](const EndgameSlot& slot) { return time(i, slot.resource) > 0; });
      if (!runs) left_[i] = 0;
    }
  }

  EndgamePlan plan() const {
    Schedule best = listed(Rule::kShortestFirst);
    improve(best);
    for (const Rule rule : {Rule::kLongestFirst, Rule::kLargestLossFirst}) {
      Schedule schedule = listed(rule);
      improve(schedule);
      if (schedule < best) best = std::move(schedule);
    }
    EndgamePlan plan;
    plan.finish = best.finish;
    plan.start.resize(slots_.size());
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].free_in > 0) continue;
      // Its longest task first: if the estimate is wrong, the short ones can still go elsewhere.
      double longest = 0;
      for (std::size_t i = 0; i < left_.size(); ++i) {
        if (best.tasks[s * left_.size() + i] > 0 && time(i, slots_[s].resource) > longest) {
          longest = time(i, slots_[s].resource);
          plan.start[s] = task_type(i);
        }
      }
    }
    return plan;
  }

 private:
  double time(std::size_t i, ResourceId j) const noexcept { return seconds_(task_type(i), j); }

  /// The slot of each resource that is free first.
  std::vector<std::size_t> first_slots(const Schedule& schedule) const {
    std::vector<std::size_t> first(resources_, slots_.size());
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      std::size_t& at = first[index(slots_[s].resource)];
      if (at == slots_.size() || schedule.done[s] < schedule.done[at]) at = s;
    }
    return first;
  }

  Schedule listed(Rule rule) const {
    Schedule schedule;
    schedule.tasks.assign(slots_.size() * left_.size(), 0);
    schedule.done.reserve(slots_.size());
    for (const EndgameSlot& slot : slots_) schedule.done.push_back(slot.free_in);
    std::vector<Count> left = left_;
    std::vector<std::size_t> first = first_slots(schedule);
    for (;;) {
      double best_score = -kNever;
      std::size_t best_type = left.size();
      std::size_t best_slot = 0;
      for (std::size_t i = 0; i < left.size(); ++i) {
        if (left[i] == 0) continue;
        double soonest = kNever;
        double second = kNever;
        std::size_t at = 0;
        for (std::size_t j = 0; j < resources_; ++j) {
          const double takes = time(i, resource_id(j));
          if (!(takes > 0) || first[j] == slots_.size()) continue;
          const double end = schedule.done[first[j]] + takes;
          if (end < soonest) {
            second = soonest;
            soonest = end;
            at = first[j];
          } else {
            second = std::min(second, end);
          }
        }
        const double score = rule == Rule::kShortestFirst  ? -soonest
                             : rule == Rule::kLongestFirst ? soonest
                             : second == kNever            ? soonest
                                                           : second - soonest;
        if (score > best_score) {
          best_score = score;
          best_type = i;
          best_slot = at;
        }
      }
      if (best_type == left.size()) break;
      --left[best_type];
      ++schedule.tasks[best_slot * left.size() + best_type];
      schedule.done[best_slot] += time(best_type, slots_[best_slot].resource);
      // Another slot of the resource may be the first one now.
      std::size_t& at = first[index(slots_[best_slot].resource)];
      for (std::size_t s = 0; s < slots_.size(); ++s) {
        if (slots_[s].resource == slots_[best_slot].resource && schedule.done[s] < schedule.done[at]) at = s;
      }
    }
    measure(schedule);
    return schedule;
  }

  void measure(Schedule& schedule) const {
    schedule.finish = 0;
    schedule.total = 0;
    for (std::size_t s = 0; s < slots_.size(); ++s) {
      const bool has_tasks = schedule.done[s] > slots_[s].free_in;
      if (has_tasks) schedule.finish = std::max(schedule.finish, schedule.done[s]);
      schedule.total += schedule.done[s] - slots_[s].free_in;
    }
  }

  /// Takes work from the slot that ends last while that helps: moves one task, or exchanges two.
  void improve(Schedule& schedule) const {
    for (int round = 0; round < 64 && schedule.finish > 0; ++round) {
      std::size_t last = 0;
      for (std::size_t s = 0; s < slots_.size(); ++s) {
        if (schedule.done[s] > slots_[s].free_in && schedule.done[s] >= schedule.finish) last = s;
      }
      if (!relieve(schedule, last)) return;
      measure(schedule);
    }
  }

  bool relieve(Schedule& schedule, std::size_t last) const {
    const std::size_t types = left_.size();
    const auto take = [&](std::size_t s, std::size_t i, Count n) {
      schedule.tasks[s * types + i] += n;
      schedule.done[s] += static_cast<double>(n) * time(i, slots_[s].resource);
    };
    const double limit = schedule.finish * (1 - 1e-9);
    for (std::size_t i = 0; i < types; ++i) {
      if (schedule.tasks[last * types + i] == 0) continue;
      for (std::size_t s = 0; s < slots_.size(); ++s) {
        const double takes = time(i, slots_[s].resource);
        if (s == last || !(takes > 0)) continue;
        if (schedule.done[s] + takes < limit) {
          take(last, i, -1);
          take(s, i, 1);
          return true;
        }
        for (std::size_t k = 0; k < types; ++k) {  // i goes there, k comes back
          const double back = time(k, slots_[last].resource);
          if (k == i || schedule.tasks[s * types + k] == 0 || !(back > 0)) continue;
          const double here = schedule.done[last] - time(i, slots_[last].resource) + back;
          const double there = schedule.done[s] + takes - time(k, slots_[s].resource);
          if (here < limit && there < limit) {
            take(last, i, -1);
            take(last, k, 1);
            take(s, k, -1);
            take(s, i, 1);
            return true;
          }
        }
      }
    }
    return false;
  }

  PairSpan<const double> seconds_;
  std::vector<Count> left_;
  std::span<const EndgameSlot> slots_;
  std::size_t resources_;
};

}  // namespace

EndgamePlan plan_endgame(std::span<const double> seconds, std::span<const Count> left,
                         std::span<const EndgameSlot> slots, std::size_t resources) {
  return Planner(seconds, left, slots, resources).plan();
}

}  // namespace allot
