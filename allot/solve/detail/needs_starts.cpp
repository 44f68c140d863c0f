#include "allot/solve/detail/needs_starts.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "allot/solve/detail/filled_state.hpp"

namespace allot::detail {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();
/// A type is placed in so many portions at most; where there are many pairs, which are rated again and again,
/// in fewer.
constexpr std::size_t kPortions = 16;
constexpr std::size_t kFewPairs = 64;

/// Where the next tasks of a type would go.
struct Offer {
  ResourceId best{};
  double gain = kNone;  // per task
  double second = kNone;
};

class Greedy {
 public:
  explicit Greedy(const System& system) : system_(system), state_(system) {}

  Assignment run(bool by_regret) {
    result_.reset(system_.type_count(), system_.resource_count());
    state_.place(result_.values());
    left_.clear();
    for (const TaskType i : system_.types()) left_.push_back(system_.count(i));
    const std::size_t pairs = system_.type_count() * system_.resource_count();
    portions_ = static_cast<Count>(std::clamp(kPortions * kFewPairs / pairs, std::size_t{1}, kPortions));
    while (const std::optional<TaskType> next = choose(by_regret)) put(*next);
    return std::move(result_);
  }

 private:
  Count portion(TaskType i) const noexcept {
    return std::min(left_[index(i)], (system_.count(i) + portions_ - 1) / portions_);
  }

  Offer offer(TaskType i) {
    Offer offer;
    const Count n = portion(i);
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
    return offer;
  }

  std::optional<TaskType> choose(bool by_regret) {
    std::optional<TaskType> next;
    double most = kNone;
    for (const TaskType i : system_.types()) {
      if (left_[index(i)] == 0) continue;
      const Offer one = offer(i);
      const double urgency = !by_regret ? one.gain
                             : one.second == kNone ? std::numeric_limits<double>::max()
                                                   : one.gain - one.second;
      if (next && urgency <= most) continue;
      most = urgency;
      next = i;
      to_ = one.best;
    }
    return next;
  }

  void put(TaskType i) {
    const Count n = portion(i);
    state_.apply(std::array{Shift{i, to_, n}});
    result_(i, to_) += n;
    left_[index(i)] -= n;
  }

  const System& system_;
  FilledState state_;
  Assignment result_;
  std::vector<Count> left_;
  Count portions_ = 1;
  ResourceId to_{};
};

}  // namespace

std::vector<Assignment> starts_by_needs(const System& system) {
  Greedy greedy(system);
  return {greedy.run(false), greedy.run(true)};
}

}  // namespace allot::detail
