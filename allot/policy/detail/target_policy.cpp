#include "allot/policy/detail/target_policy.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "allot/base/error.hpp"

namespace allot::detail {
namespace {

using Counts = std::vector<Count>;

/// Lets a population be looked up without copying it.
struct CountsHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): so the standard calls it
  std::size_t operator()(std::span<const Count> counts) const noexcept {
    std::uint64_t hash = counts.size();
    for (const Count n : counts) {
      hash = (hash ^ static_cast<std::uint64_t>(n)) * 0x9e3779b97f4a7c15U;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

struct CountsEqual {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): so the standard calls it
  bool operator()(std::span<const Count> a, std::span<const Count> b) const noexcept {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

/// How many targets are remembered: many, but within about 64 MiB.
std::size_t cache_limit(const System& system) noexcept {
  const std::size_t entry = 256 + 16 * system.type_count() * system.resource_count();
  return std::clamp<std::size_t>((std::size_t{64} << 20) / entry, 64, 65'536);
}

class TargetPolicy final : public Policy {
 public:
  TargetPolicy(const System& system, FindTarget find)
      : system_(system),
        find_(std::move(find)),
        cache_limit_(cache_limit(system)),
        nothing_(system.type_count(), system.resource_count()) {
    point_at(nothing_);
  }

  void set_population(std::span<const Count> threads_by_type) override {
    auto known = cache_.find(threads_by_type);
    if (known == cache_.end()) {
      Target target = find_(system_.with_counts(threads_by_type));
      if (cache_.size() >= cache_limit_) forget();
      known = cache_.emplace(Counts(threads_by_type.begin(), threads_by_type.end()), std::move(target)).first;
    }
    current_ = &known->second;
    point_at(current_->assignment);
  }

  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream&) const noexcept override {
    const std::size_t row = index(i) * resources_;
    const Count* const wanted = wanted_ + row;
    const Count* const present = situation.counts.data() + row;
    const auto allowed = system_.resources_for(i);
    ResourceId best = allowed[0];
    Count most = wanted[index(best)] - present[index(best)];
    for (const ResourceId j : allowed.subspan(1)) {
      const Count shortfall = wanted[index(j)] - present[index(j)];
      if (shortfall > most) {
        best = j;
        most = shortfall;
      }
    }
    return best;
  }

  const Assignment* target() const noexcept override {
    return current_ == nullptr ? nullptr : &current_->assignment;
  }
  std::span<const double> time_shares() const noexcept override {
    return current_ == nullptr ? std::span<const double>() : current_->time_shares;
  }
  std::string_view note() const noexcept override {
    return current_ == nullptr ? std::string_view() : current_->note;
  }

 private:
  void point_at(const Assignment& assignment) noexcept {
    wanted_ = assignment.values().data();
    resources_ = assignment.resources();
  }

  void forget() noexcept {
    current_ = nullptr;
    point_at(nothing_);
    cache_.clear();
  }

  System system_;
  FindTarget find_;
  std::size_t cache_limit_;
  Assignment nothing_;
  std::unordered_map<Counts, Target, CountsHash, CountsEqual> cache_;
  const Target* current_ = nullptr;  // in the cache, whose entries stay where they are
  const Count* wanted_ = nullptr;
  std::size_t resources_ = 0;
};

}  // namespace

std::unique_ptr<Policy> make_target_policy(const System& system, FindTarget find) {
  return std::make_unique<TargetPolicy>(system, std::move(find));
}

Target target_of(Solution solution) {
  Target target;
  switch (solution.outcome) {
    case Outcome::kOptimal:
    case Outcome::kConverged:
      break;
    case Outcome::kTimeLimit:
    case Outcome::kBudget:
    case Outcome::kInterrupted:
      target.note = "the search for the target ended early: the best found so far is held";
      break;
    case Outcome::kInfeasible:
      target.note = "the target misses a constraint";
      break;
  }
  if (!solution.reason.empty()) target.note += (target.note.empty() ? "" : "; ") + solution.reason;
  target.assignment = std::move(solution.assignment);
  target.time_shares = std::move(solution.time_shares);
  return target;
}

void require_priorities(const System& system, std::string_view policy) {
  if (!system.shares().empty()) return;
  throw InvalidModel("tasks",
                     "the policy '" + std::string(policy) + "' needs a priority for every task type");
}

}  // namespace allot::detail
