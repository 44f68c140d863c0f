#include "allot/solve/detail/needs_starts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "allot/solve/detail/filled_state.hpp"

namespace allot::detail {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
/// A type is placed in at most kPortions portions, and in fewer if there are more than kFewPairs pairs.
constexpr std::size_t kPortions = 16;
constexpr std::size_t kFewPairs = 64;

/// Where the next tasks of a type would go.
struct Offer {
  ResourceId best{};
  double gain = kNone;  // per task
  double second = kNone;
  bool is_fresh = false;
};

/// Where n tasks of a type add most, or take least from others.
ResourceId best_place(const System& system, FilledState& state, TaskType i, Count n) {
  ResourceId best = system.resources_for(i).front();
  double most = kNone;
  for (const ResourceId j : system.resources_for(i)) {
    const double gain = state.value_change(std::array{Shift{i, j, n}});
    if (gain <= most) continue;
    most = gain;
    best = j;
  }
  return best;
}

class Greedy {
 public:
  explicit Greedy(const System& system) : system_(system), state_(system) {
    const std::size_t pairs = system.type_count() * system.resource_count();
    portions_ = static_cast<Count>(std::clamp(kPortions * kFewPairs / pairs, std::size_t{1}, kPortions));
    is_large_ = pairs > kFewPairs;
  }

  Assignment run(bool by_regret) {
    by_regret_ = by_regret;
    result_.reset(system_.type_count(), system_.resource_count());
    state_.place(result_.values());
    left_.clear();
    for (const TaskType i : system_.types()) left_.push_back(system_.count(i));
    offers_.assign(system_.type_count(), {});
    for (const TaskType i : system_.types()) rate(i);
    while (const std::optional<TaskType> next = choose()) put(*next);
    return std::move(result_);
  }

 private:
  Count portion(TaskType i) const noexcept {
    return std::min(left_[index(i)], (system_.count(i) + portions_ - 1) / portions_);
  }

  void rate(TaskType i) {
    Offer offer;
    const Count n = portion(i);
    if (n == 0) return;
    for (const ResourceId j : system_.resources_for(i)) {
      const double gain = state_.value_change(std::array{Shift{i, j, n}}) / static_cast<double>(n);
      if (gain > offer.gain) {
        offer.second = offer.gain;
        offer.gain = gain;
        offer.best = j;
      } else {
        offer.second = std::max(offer.second, gain);
      }
    }
    offer.is_fresh = true;
    offers_[index(i)] = offer;
  }

  double urgency(TaskType i) const noexcept {
    const Offer& offer = offers_[index(i)];
    if (!by_regret_) return offer.gain;
    return offer.second == kNone ? std::numeric_limits<double>::max() : offer.gain - offer.second;
  }

  /// The next type to place. With many pairs, only the most promising types are rated anew.
  std::optional<TaskType> choose() {
    for (;;) {
      std::optional<TaskType> next;
      for (const TaskType i : system_.types()) {
        if (left_[index(i)] > 0 && (!next || urgency(i) > urgency(*next))) next = i;
      }
      if (!next || offers_[index(*next)].is_fresh) return next;
      rate(*next);
    }
  }

  void put(TaskType i) {
    const Count n = portion(i);
    const ResourceId to = offers_[index(i)].best;
    state_.apply(std::array{Shift{i, to, n}});
    result_(i, to) += n;
    left_[index(i)] -= n;
    for (const TaskType k : system_.types()) {
      offers_[index(k)].is_fresh = false;
      if (!is_large_) rate(k);
    }
  }

  const System& system_;
  FilledState state_;
  Assignment result_;
  std::vector<Count> left_;
  std::vector<Offer> offers_;
  Count portions_ = 1;
  bool is_large_ = false;
  bool by_regret_ = false;
};

/// Fills capacities with what brings most, and lets one resource take the rest.
class Overflow {
 public:
  explicit Overflow(const System& system) : system_(system), state_(system) {}

  /// `by_use`: first comes what brings most per share of its scarcest capacity; otherwise what brings most.
  void sort(bool by_use) {
    pairs_.clear();
    for (const TaskType i : system_.types()) {
      if (system_.count(i) == 0) continue;
      for (const ResourceId j : system_.resources_for(i)) {
        const double part = by_use ? 1 / system_.most_in_service(i, j) : 1;
        pairs_.push_back({i, j, system_.value_rate(i, j) / part});
      }
    }
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const Pair& a, const Pair& b) { return a.key > b.key; });
  }

  /// Minus infinity if some type can neither run at the resource that takes the rest nor find room elsewhere.
  double run(ResourceId overflow) {
    result_.reset(system_.type_count(), system_.resource_count());
    state_.place(result_.values());
    std::vector<Count> left;
    for (const TaskType i : system_.types()) left.push_back(system_.count(i));
    for (const auto& [i, j, key] : pairs_) {
      if (j == overflow || left[index(i)] == 0) continue;
      const Count n = std::min(left[index(i)], state_.room(i, j));
      if (n == 0) continue;
      put(i, j, n);
      left[index(i)] -= n;
    }
    for (const TaskType i : system_.types()) {
      const Count n = left[index(i)];
      if (n > 0) put(i, system_.can_run(i, overflow) ? overflow : best_place(system_, state_, i, n), n);
    }
    return state_.value();
  }
  const Assignment& result() const noexcept { return result_; }

 private:
  struct Pair {
    TaskType type{};
    ResourceId resource{};
    double key = 0;
  };

  void put(TaskType i, ResourceId j, Count n) {
    state_.apply(std::array{Shift{i, j, n}});
    result_(i, j) += n;
  }

  const System& system_;
  FilledState state_;
  std::vector<Pair> pairs_;
  Assignment result_;
};

}  // namespace

std::vector<Assignment> starts_by_needs(const System& system, std::size_t most) {
  Greedy greedy(system);
  std::vector<Assignment> starts = {greedy.run(false), greedy.run(true)};
  Overflow overflow(system);
  std::vector<std::pair<double, Assignment>> ranked;
  for (const bool by_use : {false, true}) {
    overflow.sort(by_use);
    for (const ResourceId j : system.resource_ids()) {
      const double value = overflow.run(j);
      ranked.emplace_back(value, overflow.result());
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [value, start] : ranked) {
    if (starts.size() == 2 + most) break;
    if (std::find(starts.begin(), starts.end(), start) == starts.end()) starts.push_back(std::move(start));
  }
  return starts;
}

Assignment start_by_plan(const System& system, std::span<const double> time_shares) {
  const PairSpan planned(time_shares, system.resource_count());
  Assignment start(system.type_count(), system.resource_count());
  std::vector<Count> left;
  for (const TaskType i : system.types()) {
    left.push_back(system.count(i));
    for (const ResourceId j : system.resources_for(i)) {
      const Count n = std::min(left.back(), static_cast<Count>(std::llround(planned(i, j))));
      start(i, j) = n;
      left.back() -= n;
    }
  }
  FilledState state(system);
  state.place(start.values());
  for (const TaskType i : system.types()) {
    const Count n = left[index(i)];
    if (n == 0) continue;
    const ResourceId best = best_place(system, state, i, n);
    state.apply(std::array{Shift{i, best, n}});
    start(i, best) += n;
  }
  return start;
}

}  // namespace allot::detail
