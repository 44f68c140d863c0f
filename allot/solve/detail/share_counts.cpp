#include "allot/solve/detail/share_counts.hpp"

#include <algorithm>
#include <cmath>

namespace allot::detail {
namespace {

/// Relative differences below this are rounding.
constexpr double kTiny = 1e-9;

double whole_above(double f) noexcept { return f <= 0 ? 0.0 : std::max(1.0, std::ceil(f * (1 - kTiny))); }

}  // namespace

bool ShareCounts::divides(const SharePart& part, const ShareCut& cut) const {
  if (cut.resource) return part.use[index(*cut.resource)] == Use::kUndecided;
  return part.least[cut.pair] <= cut.at && cut.at < part.most[cut.pair];
}

std::optional<ShareCut> ShareCounts::widest(const SharePart& part) const {
  for (const ResourceId j : system_.resource_ids()) {
    if (part.use[index(j)] == Use::kUndecided && system_.resource(j).min_depth > 1) return ShareCut{j, 0, 0};
  }
  ShareCut cut;
  double width = 0;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (part.use[index(pairs_[at].j)] == Use::kClosed) continue;
    const double range = part.most[at] - part.least[at];
    if (range <= width) continue;
    width = range;
    cut = {std::nullopt, at, part.least[at] + std::floor((range - 1) / 2)};
  }
  if (width == 0) return std::nullopt;
  return cut;
}

std::optional<ShareCut> ShareCounts::realise(const SharePart& part, const Shares& shares,
                                             Assignment& counts) const {
  counts.reset(system_.type_count(), system_.resource_count());
  for (const TaskType i : system_.types()) {
    if (system_.count(i) == 0) continue;
    Count needed = 0;
    double worst = kTiny;
    std::optional<ShareCut> cut;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_[at].i != i) continue;
      const double f = shares.time[at];
      // Rounding may take a time share a little above what the part allows.
      const double n = std::max(least(part, at), std::min(part.most[at], whole_above(f)));
      counts(i, pairs_[at].j) = static_cast<Count>(n);
      needed += static_cast<Count>(n);
      const double unused = n - f;  // the idle part of a thread of this pair
      if (f > 0 && n > least(part, at) && unused > worst) {
        worst = unused;
        cut = ShareCut{std::nullopt, at, n - 1};
      }
    }
    if (needed > system_.count(i)) return cut ? cut : whole_or_cut(part, shares, counts);
    spread_rest(i, part, shares, system_.count(i) - needed, counts);
  }
  if (deepen(part, shares, counts)) return std::nullopt;
  return whole_or_cut(part, shares, counts);
}

std::optional<ShareCut> ShareCounts::whole_or_cut(const SharePart& part, const Shares& shares,
                                                  Assignment& counts) const {
  counts.reset(system_.type_count(), system_.resource_count());
  std::optional<ShareCut> cut;
  double worst = 1e-6;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    const double n = shares.counts[at];
    counts(pairs_[at].i, pairs_[at].j) = static_cast<Count>(std::llround(n));
    // Any time at all takes a task.
    const double off = shares.time[at] > 0 && n < 0.5 ? 1.0 : std::abs(n - std::round(n));
    if (off <= worst) continue;
    worst = off;
    cut = ShareCut{std::nullopt, at, std::floor(n)};
  }
  if (cut) return cut;
  for (const ResourceId j : system_.resource_ids()) {
    const Count depth = counts.column_sum(j);
    if (depth > 0 && depth < system_.resource(j).min_depth && part.use[index(j)] == Use::kUndecided) {
      return ShareCut{j, 0, 0};
    }
  }
  bool holds = is_placement(system_, counts);
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    holds = holds && shares.time[at] <= static_cast<double>(counts(pairs_[at].i, pairs_[at].j)) + kTiny;
  }
  return holds ? std::nullopt : widest(part);
}

double ShareCounts::least(const SharePart& part, std::size_t at) const noexcept {
  return part.use[index(pairs_[at].j)] == Use::kClosed ? 0.0 : part.least[at];
}
bool ShareCounts::may_be(const SharePart& part, std::size_t at) const noexcept {
  return part.use[index(pairs_[at].j)] != Use::kClosed && part.most[at] > 0;
}

ResourceId ShareCounts::resting_place(const SharePart& part, TaskType i) const noexcept {
  std::optional<ResourceId> first_open;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (pairs_[at].i != i || !may_be(part, at)) continue;
    if (pairs_[at].j == *system_.home(i)) return pairs_[at].j;
    if (!first_open) first_open = pairs_[at].j;
  }
  return first_open.value_or(*system_.home(i));
}

void ShareCounts::spread_rest(TaskType i, const SharePart& part, const Shares& shares, Count rest,
                              Assignment& counts) const {
  double total = 0;
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (pairs_[at].i == i) total += shares.time[at];
  }
  if (total <= 0) {  // starved: at home, or at the first resource that is open to it
    counts(i, resting_place(part, i)) += rest;
    return;
  }
  Count left = rest;
  std::size_t busiest = pairs_.size();
  for (std::size_t at = 0; at < pairs_.size(); ++at) {
    if (pairs_[at].i != i || shares.time[at] <= 0) continue;
    const Count n = static_cast<Count>(static_cast<double>(rest) * shares.time[at] / total);
    counts(i, pairs_[at].j) += n;
    left -= n;
    if (busiest == pairs_.size() || shares.time[at] > shares.time[busiest]) busiest = at;
  }
  counts(i, pairs_[busiest].j) += left;
}

bool ShareCounts::deepen(const SharePart& part, const Shares& shares, Assignment& counts) const {
  for (const ResourceId j : system_.resource_ids()) {
    Count missing = system_.resource(j).min_depth - counts.column_sum(j);
    if (missing <= 0 || (counts.column_sum(j) == 0 && part.use[index(j)] != Use::kOpen)) continue;
    for (std::size_t at = 0; at < pairs_.size() && missing > 0; ++at) {
      const TaskType i = pairs_[at].i;
      const ResourceId a = pairs_[at].j;
      if (a == j || !system_.can_run(i, j)) continue;
      const Count spare = std::min(counts(i, a) - static_cast<Count>(whole_above(shares.time[at])),
                                   counts.column_sum(a) - system_.resource(a).min_depth);
      const Count n = std::min(spare, missing);
      if (n <= 0) continue;
      counts(i, a) -= n;
      counts(i, j) += n;
      missing -= n;
    }
    if (missing > 0) return false;
  }
  return true;
}

}  // namespace allot::detail
