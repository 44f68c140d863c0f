#include "allot/dispatch/detail/sharing_descent.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace allot::detail {
namespace {

/// Every pair has at least this part of the weight of its mix: a slow pair must be explained, too.
constexpr double kLeastWeight = 0.25;
/// An error beyond this counts less than its square: the machine may have been disturbed.
constexpr double kHuber = 0.2;
/// The weight of the errors of pairs relative to that of the throughput of the whole mix.
constexpr double kPairs = 0.5;
/// Errors below this are noise of the clock: making them smaller does not improve a fit.
constexpr double kNoise = 1e-3;
constexpr double kLeastNeed = 0.005;
constexpr double kMostNeed = 1;  // more would slow a task that is alone, but its rate already includes that
/// The first needs to try for a pair that needs nothing yet.
constexpr double kFirstNeeds[] = {0.03, 0.08, 0.2, 0.5};
/// The factors by which a need changes per step, from first to last; the fit ends when the last factor brings
/// nothing.
constexpr double kFirstStep = 1.6;
constexpr double kLastStep = 1.01;
constexpr int kMostSweeps = 60;

double huber(double error) noexcept {
  const double size = std::abs(error);
  return size <= kHuber ? error * error : kHuber * (2 * size - kHuber);
}

}  // namespace

SharingMixes::SharingMixes(std::span<const MixMeasurement> mixes) {
  const MixMeasurement& first = mixes.front();
  most_at_.assign(first.in_service.resources(), 0.0);
  for (const TaskType i : first.in_service.type_ids()) {
    for (const ResourceId j : first.in_service.resource_ids()) {
      const bool is_seen = std::any_of(mixes.begin(), mixes.end(), [&](const MixMeasurement& mix) {
        return mix.in_service(i, j) > 0 && mix.throughput(i, j) > 0;
      });
      if (is_seen) pairs_.emplace_back(i, j);
    }
  }
  for (const MixMeasurement& from : mixes) {
    Mix& mix = mixes_.emplace_back();
    PerResource<double> at(most_at_.size(), 0.0);
    for (std::size_t pair = 0; pair < pairs_.size(); ++pair) {
      const auto [i, j] = pairs_[pair];
      mix.in_service.push_back(from.in_service(i, j));
      at[j] += from.in_service(i, j);
      if (!(from.in_service(i, j) > 0 && from.throughput(i, j) > 0)) continue;
      mix.seen.push_back(
          {pair, std::log(from.in_service(i, j) / from.throughput(i, j)), from.throughput(i, j), 0});
      mix.throughput += from.throughput(i, j);
    }
    for (Seen& seen : mix.seen) {
      seen.share /= mix.throughput;
      seen.weight = (1 - kLeastWeight) * seen.share + kLeastWeight / static_cast<double>(mix.seen.size());
    }
    for (const ResourceId j : at.ids()) most_at_[j] = std::max(most_at_[j], at[j]);
  }
}

std::optional<double> SharingMixes::error(const SharingModel& model, std::size_t k) const {
  const Mix& mix = mixes_[k];
  if (mix.seen.empty()) return std::nullopt;
  Filling filling(model.needs, pairs_.size());
  const std::span<const double> levels = filling.levels(mix.in_service);
  double predicted = 0;
  for (const Seen& seen : mix.seen) {
    if (!(model.rates[seen.pair] > 0)) return std::nullopt;
    predicted += model.rates[seen.pair] * mix.in_service[seen.pair] * levels[seen.pair];
  }
  return std::abs(predicted / mix.throughput - 1);
}

SharingDescent::SharingDescent(const SharingMixes& mixes, std::span<const double> times)
    : mixes_(mixes), times_(times) {
  std::size_t residuals = 0;
  for (std::size_t k = 0; k < mixes.size(); ++k) {
    begin_.push_back(residuals);
    residuals += mixes[k].seen.size();
    counted_ += times[k];
  }
  residuals_.resize(residuals);
}

/// Recomputes only the mixes with the changed pair; the rest stays as it is.
void SharingDescent::find_residuals(const Needs& needs, std::optional<std::size_t> changed,
                                    std::vector<double>& out) const {
  Filling filling(needs, mixes_.pairs().size());
  for (std::size_t k = 0; k < mixes_.size(); ++k) {
    if (times_[k] == 0 || (changed && !(mixes_[k].in_service[*changed] > 0))) continue;
    const std::span<const double> levels = filling.levels(mixes_[k].in_service);
    double* to = &out[begin_[k]];
    for (const SharingMixes::Seen& seen : mixes_[k].seen)
      *to++ = seen.log_seconds + std::log(levels[seen.pair]);
  }
}

/// The logarithm of the remaining error, plus a cost per need: a need must explain as much as Schwarz's
/// information criterion demands. The rate of a pair is the one that fits its residuals best.
double SharingDescent::score(const std::vector<double>& residuals, const Needs& needs,
                             std::vector<double>* rates) const {
  const std::size_t pairs = mixes_.pairs().size();
  std::vector<double> centre(pairs, 0.0);
  for (int pass = 0; pass < 4; ++pass) {  // reweighted: first the mean, then with less weight for outliers
    std::vector<double> sum(pairs, 0.0);
    std::vector<double> weight(pairs, 0.0);
    for (std::size_t k = 0; k < mixes_.size(); ++k) {
      if (times_[k] == 0) continue;
      const double* at = &residuals[begin_[k]];
      for (const SharingMixes::Seen& seen : mixes_[k].seen) {
        const double off = std::abs(*at - centre[seen.pair]);
        const double w = times_[k] * seen.weight * (pass == 0 || off <= kHuber ? 1.0 : kHuber / off);
        sum[seen.pair] += w * *at++;
        weight[seen.pair] += w;
      }
    }
    for (std::size_t pair = 0; pair < pairs; ++pair)
      centre[pair] = weight[pair] > 0 ? sum[pair] / weight[pair] : 0.0;
    if (pass == 0 && rates != nullptr) {
      rates->assign(pairs, 0.0);
      for (std::size_t pair = 0; pair < pairs; ++pair) (*rates)[pair] = weight[pair] > 0 ? 1.0 : 0.0;
    }
  }
  double error = 0;
  for (std::size_t k = 0; k < mixes_.size(); ++k) {
    if (times_[k] == 0) continue;
    const double* at = &residuals[begin_[k]];
    double by_pair = 0;
    double of_all = 0;
    for (const SharingMixes::Seen& seen : mixes_[k].seen) {
      const double off = *at++ - centre[seen.pair];
      by_pair += seen.weight * huber(off);
      of_all += seen.share * off;
    }
    error += times_[k] * (kPairs * by_pair + huber(of_all));
  }
  if (rates != nullptr) {
    for (std::size_t pair = 0; pair < pairs; ++pair) (*rates)[pair] *= std::exp(-centre[pair]);
  }
  double used = 0;
  for (const std::vector<double>& capacity : needs)
    used += static_cast<double>(
        std::count_if(capacity.begin(), capacity.end(), [](double need) { return need > 0; }));
  const double n = std::max(2.0, counted_);
  return n * std::log(error / n + kNoise * kNoise) + used * std::log(n);
}

double SharingDescent::start_at(Needs needs) {
  needs_ = std::move(needs);
  find_residuals(needs_, std::nullopt, residuals_);
  score_ = score(residuals_, needs_, nullptr);
  return score_;
}

/// The change is already in `needs`; if it is not kept, the caller must undo it.
bool SharingDescent::keep_if_better(Needs& needs, std::optional<std::size_t> changed) {
  trial_ = residuals_;
  find_residuals(needs, changed, trial_);
  const double trial = score(trial_, needs, nullptr);
  if (!(trial < score_ - 1e-9)) return false;
  residuals_.swap(trial_);
  score_ = trial;
  return true;
}

bool SharingDescent::improve(std::size_t r, std::size_t pair, double need) {
  const double before = needs_[r][pair];
  need = need < kLeastNeed ? 0.0 : std::min(need, kMostNeed);
  if (need == before) return false;
  needs_[r][pair] = need;
  if (keep_if_better(needs_, pair)) return true;
  needs_[r][pair] = before;
  return false;
}

bool SharingDescent::improve_all(std::size_t r, double factor) {
  const std::vector<double> before = needs_[r];
  for (double& need : needs_[r]) need = std::min(kMostNeed, need * factor);
  if (needs_[r] != before && keep_if_better(needs_, std::nullopt)) return true;
  needs_[r] = before;
  return false;
}

/// Tries to swap a pair's needs of two capacities, and to need both.
bool SharingDescent::exchange(std::size_t pair) {
  bool is_better = false;
  for (std::size_t r = 0; r + 1 < needs_.size(); ++r) {
    const double a = needs_[r][pair];
    const double b = needs_[r + 1][pair];
    if (a == b) continue;
    const std::pair<double, double> others[] = {{b, a}, {std::max(a, b), std::max(a, b)}};
    for (const auto& [first, second] : others) {
      const auto before = std::pair(needs_[r][pair], needs_[r + 1][pair]);
      needs_[r][pair] = first;
      needs_[r + 1][pair] = second;
      if (keep_if_better(needs_, pair)) {
        is_better = true;
      } else {
        std::tie(needs_[r][pair], needs_[r + 1][pair]) = before;
      }
    }
  }
  return is_better;
}

bool SharingDescent::sweep(double step) {
  bool is_better = false;
  for (std::size_t r = 0; r < needs_.size(); ++r) {
    is_better |= improve_all(r, step) || improve_all(r, 1 / step);
    for (std::size_t pair = 0; pair < needs_[r].size(); ++pair) {
      if (needs_[r][pair] > 0) {
        is_better |= improve(r, pair, needs_[r][pair] * step) || improve(r, pair, needs_[r][pair] / step);
        is_better |= improve(r, pair, 0);
      } else {
        for (const double need : kFirstNeeds) is_better |= improve(r, pair, need);
      }
    }
  }
  for (std::size_t pair = 0; pair < mixes_.pairs().size(); ++pair) is_better |= exchange(pair);
  return is_better;
}

void SharingDescent::descend(double first_step) {
  double step = first_step;
  for (int sweeps = 0; sweeps < kMostSweeps && step >= kLastStep; ++sweeps) {
    if (!sweep(step)) step = std::sqrt(step);
  }
}

SharingModel SharingDescent::model() const {
  SharingModel out{needs_, {}};
  score(residuals_, needs_, &out.rates);
  return out;
}

SharingModel SharingDescent::from(const SharingModel& start) {
  start_at(start.needs);
  descend(std::sqrt(kFirstStep));
  return model();
}

/// Starts: one more capacity, which the pairs of some resources just overdraw when all these resources are
/// full.
SharingModel SharingDescent::best(std::size_t capacities, const SharingModel* smaller) {
  const std::size_t pairs = mixes_.pairs().size();
  constexpr std::size_t kMostSets = 15;  // of resources
  Needs before = smaller != nullptr ? smaller->needs : Needs{};
  before.resize(capacities, std::vector<double>(pairs, 0.0));
  start_at(before);
  std::optional<SharingModel> found = model();
  double found_score = score_;
  if (capacities == 0) return *found;
  const std::size_t resources = mixes_.resources();
  const std::size_t all = resources < 5 ? (std::size_t{1} << resources) - 1 : resources + 1;
  for (std::size_t set = 1; set <= std::min(all, kMostSets); ++set) {
    const auto has = [&](ResourceId j) {
      if (resources < 5) return ((set >> index(j)) & 1) != 0;
      return set == all || index(j) + 1 == set;
    };
    double most = 0;
    for (const ResourceId j : IdRange<ResourceId>(resources)) most += has(j) ? mixes_.most_at(j) : 0;
    if (!(most > 0)) continue;
    Needs needs = before;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      if (has(mixes_.pairs()[pair].second)) needs.back()[pair] = std::min(kMostNeed, 1.5 / most);
    }
    start_at(std::move(needs));
    descend(kFirstStep);
    if (score_ >= found_score) continue;
    found_score = score_;
    found = model();
  }
  return *found;
}

}  // namespace allot::detail
