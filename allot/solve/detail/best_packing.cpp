#include "allot/solve/detail/best_packing.hpp"

#include <algorithm>

#include "allot/model/filling.hpp"
#include "allot/solve/detail/packings.hpp"

namespace allot::detail {
namespace {

/// The part of a capacity by which sums of needs may exceed it through rounding.
constexpr double kFits = 1e-9;
/// At most this many packings are examined to prove the best one.
constexpr std::size_t kMostLooks = 20'000;
/// At most this many packings are rated by the climb.
constexpr std::size_t kMostRated = 50'000;
/// With more tasks in service than this, fractions of tasks are as good as whole ones.
constexpr double kMostTasks = 2'000;
/// A packing counts as better if its value is larger by this part.
constexpr double kBetter = 1e-12;

class PackingClimb {
 public:
  PackingClimb(const System& system, StopPoll& poll)
      : system_(system),
        poll_(poll),
        pairs_(pairs_of(system)),
        shared_(system, Filling::Of::kShared, pairs_),
        tasks_(pairs_.size(), 0.0),
        free_(system.capacity_count()),
        threads_(system.type_count()) {
    for (const CapacityId r : system.capacity_ids()) free_[index(r)] = system.amount(r);
    for (const TaskType i : system.types()) threads_[index(i)] = static_cast<double>(system.count(i));
    for (const auto [i, j] : pairs_) gains_.push_back(system.value_rate(i, j));
  }

  std::optional<BestPacking> run() {
    if (pairs_.empty() || most_tasks() > kMostTasks) return std::nullopt;
    climb();
    for (std::size_t first = 0; first < pairs_.size() && !has_ended(); ++first) {
      clear();
      while (fits(first)) put(first, 1);
      climb();
    }
    clear();
    looks_ = 0;
    look_at_all(0, 0);
    BestPacking found;
    found.is_proven = looks_ <= kMostLooks && !poll_.stopped();
    found.value = best_value_;
    found.tasks.assign(system_.type_count() * system_.resource_count(), 0.0);
    found.at_full_speed = found.tasks;
    const std::span<const double> levels = shared_.levels(best_);
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const std::size_t pair = index(pairs_[at].type) * system_.resource_count() + index(pairs_[at].resource);
      found.tasks[pair] = best_[at];
      found.at_full_speed[pair] = best_[at] * levels[at];
    }
    return found;
  }

 private:
  static std::vector<PairId> pairs_of(const System& system) {
    std::vector<PairId> pairs;
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resources_for(i)) {
        if (system.count(i) > 0) pairs.push_back({i, j});
      }
    }
    // Most valuable first, so that fewer packings have to be examined.
    std::stable_sort(pairs.begin(), pairs.end(), [&](const PairId& a, const PairId& b) {
      return system.value_rate(a.type, a.resource) > system.value_rate(b.type, b.resource);
    });
    return pairs;
  }

  double most_tasks() const {
    double most = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at) most += most_here(at);
    return most;
  }
  /// As many as there are threads and room for.
  double most_here(std::size_t at) const {
    double fit = threads_[index(pairs_[at].type)];
    for (const Draw& draw : needs(at)) {
      if (!system_.is_shared(draw.capacity))
        fit = std::min(fit,
                       (free_[index(draw.capacity)] + kFits * system_.amount(draw.capacity)) / draw.amount);
    }
    return std::max(0.0, fit);
  }
  bool has_ended() const noexcept { return rated_ > kMostRated || poll_.stopped(); }

  std::span<const Draw> needs(std::size_t at) const {
    return system_.needs(pairs_[at].type, pairs_[at].resource);
  }
  bool fits(std::size_t at) const {
    if (threads_[index(pairs_[at].type)] < 1) return false;
    return std::all_of(needs(at).begin(), needs(at).end(), [&](const Draw& draw) {
      return system_.is_shared(draw.capacity) ||
             draw.amount <= free_[index(draw.capacity)] + kFits * system_.amount(draw.capacity);
    });
  }
  void put(std::size_t at, double tasks) {
    tasks_[at] += tasks;
    threads_[index(pairs_[at].type)] -= tasks;
    for (const Draw& draw : needs(at)) free_[index(draw.capacity)] -= tasks * draw.amount;
  }
  void clear() {
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (tasks_[at] != 0) put(at, -tasks_[at]);
    }
    for (const CapacityId r : system_.capacity_ids()) free_[index(r)] = system_.amount(r);
  }

  double value() {
    poll_.should_stop();
    ++rated_;
    const std::span<const double> levels = shared_.levels(tasks_);
    double value = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at) value += gains_[at] * tasks_[at] * levels[at];
    return value;
  }
  bool note(double value) {
    if (!best_.empty() && !(value > best_value_ * (1 + kBetter))) return false;
    best_ = tasks_;
    best_value_ = value;
    return true;
  }

  /// Adds, removes and exchanges tasks as long as the value increases.
  void climb() {
    double now = value();
    for (bool better = true; better && !has_ended();) {
      better = false;
      for (std::size_t at = 0; at < pairs_.size(); ++at) better |= add(at, now);
      for (std::size_t out = 0; out < pairs_.size() && !has_ended(); ++out) {
        if (tasks_[out] < 1) continue;
        put(out, -1);
        if (const double without = value(); without > now * (1 + kBetter)) {
          now = without;
          better = true;
          continue;
        }
        bool exchanged = false;
        for (std::size_t in = 0; in < pairs_.size() && !exchanged; ++in)
          exchanged = in != out && add(in, now);
        if (!exchanged) put(out, 1);
        better |= exchanged;
      }
    }
    note(now);
  }
  /// Adds as many tasks as fit and increase the value.
  bool add(std::size_t at, double& now) {
    double added = 0;
    double kept = 0;
    const double before = now;
    while (fits(at)) {
      put(at, 1);
      ++added;
      if (const double with = value(); with > now * (1 + kBetter) && with > 0) {
        now = with;
        kept = added;
      }
      if (added > kept + 2) break;
    }
    if (added > kept) put(at, kept - added);
    return now > before;
  }

  /// Examines all packings, except those that cannot be worth more than the best so far.
  void look_at_all(std::size_t from, double linear) {
    if (++looks_ > kMostLooks || poll_.stopped()) return;
    note(value());
    double most = linear;
    for (std::size_t at = pairs_.size(); at-- > from;) {
      most += gains_[at] * most_here(at);
      if (!(most > best_value_ * (1 + kBetter)) || !fits(at)) continue;
      double put_in = 0;
      while (fits(at)) {
        put(at, 1);
        ++put_in;
        look_at_all(at + 1, linear + put_in * gains_[at]);
        if (looks_ > kMostLooks) break;
      }
      put(at, -put_in);
    }
  }

  const System& system_;
  StopPoll& poll_;
  std::vector<PairId> pairs_;
  Filling shared_;
  std::vector<double> gains_;
  std::vector<double> tasks_;
  std::vector<double> free_;
  std::vector<double> threads_;
  std::vector<double> best_;
  double best_value_ = 0;
  std::size_t looks_ = 0;
  std::size_t rated_ = 0;
};

bool has_limits(const Problem& problem) { return problem.power_cap || problem.system.has_floors(); }

}  // namespace

std::optional<BestPacking> best_packing(const Problem& problem, StopPoll& poll) {
  if (!problem.system.has_needs() || !problem.threads.empty() || !problem.arrivals.empty() ||
      has_limits(problem) || problem.objective != Objective::kThroughput)
    return std::nullopt;
  return PackingClimb(problem.system, poll).run();
}

std::string bound_packings(const Problem& problem, double plain, StopPoll& poll, ServicePlan& plan) {
  constexpr double kRounding = 1e-9;
  plan.packing_bound = packing_bound(problem, plain, poll, &plan.packing_shares);
  if (!plan.packing_bound) {
    return problem.system.has_needs() ? "whole tasks cannot meet all limits: what they hold cannot be split"
                                      : "";
  }
  const std::optional<BestPacking> best = best_packing(problem, poll);
  if (!best || !(best->value > 0)) return {};
  plan.packing_tasks = best->tasks;
  plan.packing_shares = best->at_full_speed;
  if (best->is_proven) plan.packing_bound = std::min(*plan.packing_bound, best->value * (1 + kRounding));
  return {};
}

}  // namespace allot::detail
