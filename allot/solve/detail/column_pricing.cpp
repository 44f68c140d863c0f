#include "allot/solve/detail/column_pricing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace allot::detail {
namespace {

constexpr double kWorst = -std::numeric_limits<double>::infinity();
/// A range of totals is skipped if it cannot be better by more than this, relative.
constexpr double kSkip = 1e-13;

}  // namespace

ColumnPricer::ColumnPricer(const System& system, ResourceId j)
    : servers_(system.resource(j).servers),
      min_depth_(system.resource(j).min_depth),
      harmonic_(system.resource(j).discipline == Discipline::kFcfs && servers_ == 1) {
  for (const TaskType i : system.types()) {
    if (!system.can_run(i, j) || system.count(i) == 0) continue;
    types_.push_back(i);
    rates_.push_back(system.rate(i, j));
    worths_.push_back(system.worth(i));
    least_worth_ = types_.size() == 1 ? system.worth(i) : std::min(least_worth_, system.worth(i));
    seconds_.push_back(system.seconds_per_task(i, j));
    counts_.push_back(system.count(i));
    reach_ += system.count(i);
    fastest_ = std::max(fastest_, system.rate(i, j));
  }
  served_ = system.resource(j).discipline == Discipline::kFcfs && servers_ > 1 && reach_ > servers_ &&
            std::any_of(rates_.begin(), rates_.end(), [&](double rate) { return rate != fastest_; });
  order_.resize(types_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  key_.resize(types_.size());
  gain_.resize(types_.size());
  most_gain_.resize(types_.size());
  by_speed_ = order_;
  std::sort(by_speed_.begin(), by_speed_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return seconds_[a] < seconds_[b]; });
  task_price_.resize(types_.size());
  premium_.resize(types_.size());
  if (ColumnTable::is_needed(system, j)) table_.emplace(system, j, types_);
}

ColumnDomain ColumnPricer::whole_domain() const {
  ColumnDomain domain;
  if (reach_ < min_depth_) {
    domain.totals.push_back({0, 0});
  } else if (min_depth_ <= 1) {
    domain.totals.push_back({0, reach_});
  } else {
    domain.totals = {{0, 0}, {min_depth_, reach_}};
  }
  return domain;
}

double ColumnPricer::weight(Count total) const noexcept {
  return total <= servers_ ? 1.0 : static_cast<double>(servers_) / static_cast<double>(total);
}

void ColumnPricer::prepare(const Prices& prices, const ColumnDomain& domain) {
  limits_ = {};
  lower_ = domain.lower;
  upper_ = domain.upper;
  if (lower_.empty()) lower_.assign(types_.size(), 0);
  if (upper_.empty()) upper_ = counts_;
  bool has_premium = false;
  double largest_gain = 0;
  paid_ = 0;
  earned_ = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) {
    limits_.least += lower_[t];
    limits_.most += upper_[t];
    task_price_[t] = prices.task[index(types_[t])];
    const double premium = prices.completion.empty() ? 0.0 : prices.completion[index(types_[t])];
    premium_[t] = premium + (worths_[t] - least_worth_);
    has_premium |= premium_[t] > 0;
    gain_[t] = rates_[t] * (worths_[t] + premium);
    // In a waiting fcfs queue of m tasks, x_i of type i complete x_i / S, and S >= m / fastest.
    most_gain_[t] = harmonic_ ? least_worth_ * rates_[t] + premium_[t] * fastest_ : gain_[t];
    const double paid = task_price_[t] * static_cast<double>(upper_[t]);
    (paid > 0 ? paid_ : earned_) += std::abs(paid);
    if (upper_[t] > 0) largest_gain = std::max(largest_gain, most_gain_[t]);
  }
  brought_in_ = largest_gain * static_cast<double>(std::min(servers_, limits_.most));
  if (table_) {
    brought_in_ = largest_gain * static_cast<double>(limits_.most);
    completion_price_.clear();
    for (std::size_t t = 0; t < types_.size() && !prices.completion.empty(); ++t)
      completion_price_.push_back(prices.completion[index(types_[t])]);
  }
  has_premium_ = has_premium;
  slopes_.clear();
}

/// How far a computed value may be from the exact one, if that is at least `best`. A value is what the tasks
/// bring in minus what they pay; each is a sum of at most T products, with a few roundings in keys, orders
/// and slopes. Contents that are worth `best` pay at most what they bring in or earn beyond it.
double ColumnPricer::error(double best) const noexcept {
  const double paid = std::min(paid_, brought_in_ + earned_ + std::max(-best, 0.0));
  return 8 * static_cast<double>(types_.size() + 8) * std::numeric_limits<double>::epsilon() *
         (std::max(best, 0.0) + 2 * (paid + earned_));
}

/// The least that the times of `total` tasks can sum to: the fastest types first.
double ColumnPricer::least_seconds(Count total) const noexcept {
  double seconds = 0;
  for (std::size_t t = 0; t < types_.size(); ++t) seconds += seconds_[t] * static_cast<double>(lower_[t]);
  Count left = total - limits_.least;
  for (const std::uint32_t t : by_speed_) {
    const Count n = std::min(left, upper_[t] - lower_[t]);
    seconds += seconds_[t] * static_cast<double>(n);
    left -= n;
  }
  return seconds;
}

/// Sorts order_ by falling key. Insertion sort: the order is nearly right from the total before.
void ColumnPricer::sort_by_key() noexcept {
  for (std::size_t at = 1; at < order_.size(); ++at) {
    const std::uint32_t t = order_[at];
    std::size_t to = at;
    for (; to > 0 && key_[order_[to - 1]] < key_[t]; --to) order_[to] = order_[to - 1];
    order_[to] = t;
  }
}

double ColumnPricer::evaluate(Count total, std::vector<Count>* content) {
  if (total < limits_.least || total > limits_.most) return kWorst;
  if (harmonic_ && total > 1) return evaluate_harmonic(total, content);
  if (served_ && total > servers_) return evaluate_served(total, content);
  return evaluate_linear(total, content);
}

double ColumnPricer::evaluate_linear(Count total, std::vector<Count>* content) {
  const double w = weight(total);
  for (std::size_t t = 0; t < types_.size(); ++t) key_[t] = gain_[t] * w - task_price_[t];
  sort_by_key();
  double value = 0;
  if (content != nullptr) *content = lower_;
  if (limits_.least > 0) {
    for (std::size_t t = 0; t < types_.size(); ++t) value += key_[t] * static_cast<double>(lower_[t]);
  }
  Count left = total - limits_.least;
  for (const std::uint32_t t : order_) {
    if (left == 0) break;
    const Count n = std::min(left, upper_[t] - lower_[t]);
    value += key_[t] * static_cast<double>(n);
    left -= n;
    if (content != nullptr) (*content)[t] += n;
  }
  return value;
}

double ColumnPricer::evaluate_harmonic(Count total, std::vector<Count>* content) {
  const double m = static_cast<double>(total);
  const std::size_t size = types_.size();
  // Type i completes x_i / S. Its premium, and its worth above the least worth, are paid as if S had its
  // smallest value. This keeps the value an upper bound, and the problem one of prices per task.
  const double per_task = has_premium_ ? 1 / least_seconds(total) : 0.0;
  const auto price = [&](std::size_t t) { return task_price_[t] - premium_[t] * per_task; };
  // The order by price + theta / mu_i changes only where two types cross.
  if (slopes_.empty() || has_premium_) {
    std::vector<double> crossings;
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = a + 1; b < size; ++b) {
        const double theta = (price(b) - price(a)) / (seconds_[a] - seconds_[b]);
        if (std::isfinite(theta) && theta > 0) crossings.push_back(theta);
      }
    }
    std::sort(crossings.begin(), crossings.end());
    slopes_.clear();
    double before = 0;
    for (const double theta : crossings) {
      slopes_.push_back((before + theta) / 2);
      before = theta;
    }
    // Beyond the last crossing: steep enough that rounding in the prices does not hide the seconds.
    slopes_.push_back(std::max(before * 2 + 1, fastest_ * fastest_));
  }
  // At the optimum theta = m / S^2 (times the least worth), and S lies between m / fastest and m / slowest.
  const double slowest = 1 / *std::max_element(seconds_.begin(), seconds_.end());
  double best = kWorst;
  double best_theta = 0;
  const auto fill = [&](double theta, std::vector<Count>* into) {
    for (std::size_t t = 0; t < size; ++t) key_[t] = -(price(t) + theta * seconds_[t]);
    sort_by_key();
    if (into != nullptr) *into = lower_;
    double seconds = 0;
    double paid = 0;
    for (std::size_t t = 0; t < size; ++t) {
      seconds += seconds_[t] * static_cast<double>(lower_[t]);
      paid += price(t) * static_cast<double>(lower_[t]);
    }
    Count left = total - limits_.least;
    for (const std::uint32_t t : order_) {
      if (left == 0) break;
      const Count n = std::min(left, upper_[t] - lower_[t]);
      seconds += seconds_[t] * static_cast<double>(n);
      paid += price(t) * static_cast<double>(n);
      left -= n;
      if (into != nullptr) (*into)[t] += n;
    }
    return least_worth_ * m / seconds - paid;
  };
  // Includes the slopes on either side of the possible range: the true theta may share their order.
  auto first = std::lower_bound(slopes_.begin(), slopes_.end(), least_worth_ * slowest * slowest / m);
  auto last = std::upper_bound(slopes_.begin(), slopes_.end(), least_worth_ * fastest_ * fastest_ / m);
  if (first != slopes_.begin()) --first;
  if (last != slopes_.end()) ++last;
  effort_ += static_cast<std::uint64_t>(last - first) * (size + 8) / 128;  // about, in microseconds
  for (auto theta = first; theta != last; ++theta) {
    const double value = fill(*theta, nullptr);
    if (value > best) {
      best = value;
      best_theta = *theta;
    }
  }
  if (content != nullptr) fill(best_theta, content);
  return best;
}

double ColumnPricer::evaluate_served(Count total, std::vector<Count>* content) {
  return bound_served(total, total, content);
}

/// At most min(last, c) tasks are in service: theta for each of these, plus the worth of the tasks beyond
/// theta.
double ColumnPricer::bound_served(Count first, Count last, std::vector<Count>* content) {
  const double places = static_cast<double>(std::min(last, servers_));
  double best = std::numeric_limits<double>::infinity();
  double best_theta = 0;
  const auto value_at = [&](double theta, std::vector<Count>* into) {
    for (std::size_t t = 0; t < types_.size(); ++t) {
      key_[t] = std::max(gain_[t] - theta, 0.0) - task_price_[t];
    }
    return places * theta + fill_between(first, last, into);
  };
  effort_ += (types_.size() + 1) * (types_.size() + 8) / 128;
  for (std::size_t t = 0; t <= types_.size(); ++t) {
    const double theta = t < types_.size() ? gain_[t] : 0.0;
    const double value = value_at(theta, nullptr);
    if (value < best) {
      best = value;
      best_theta = theta;
    }
  }
  if (content != nullptr) value_at(best_theta, content);
  return best;
}

/// The largest worth of first to last places, filled in the order of the keys.
double ColumnPricer::fill_between(Count first, Count last, std::vector<Count>* content) {
  sort_by_key();
  double value = 0;
  if (content != nullptr) *content = lower_;
  for (std::size_t t = 0; t < types_.size(); ++t) value += key_[t] * static_cast<double>(lower_[t]);
  Count placed = limits_.least;
  for (const std::uint32_t t : order_) {
    if (placed == last || (placed >= first && key_[t] <= 0)) break;
    const Count room = key_[t] > 0 ? last - placed : first - placed;
    const Count n = std::min(room, upper_[t] - lower_[t]);
    value += key_[t] * static_cast<double>(n);
    placed += n;
    if (content != nullptr) (*content)[t] += n;
  }
  return value;
}

/// No total from first to last has a larger value.
double ColumnPricer::bound(Count first, Count last) {
  first = std::max(first, limits_.least);
  last = std::min(last, limits_.most);
  if (first > last) return kWorst;
  if (served_ && last > servers_) return bound_served(first, last, nullptr);
  const double w = weight(first);
  for (std::size_t t = 0; t < types_.size(); ++t) key_[t] = most_gain_[t] * w - task_price_[t];
  return fill_between(first, last, nullptr);
}

bool ColumnPricer::best_of_table(const ColumnDomain& domain, StopPoll& poll, Best& result) {
  const auto is_allowed = [&](Count total) {
    return std::any_of(domain.totals.begin(), domain.totals.end(), [total](const Interval& interval) {
      return interval.first <= total && total <= interval.last;
    });
  };
  result.value = kWorst;
  table_->visit_all(query(), poll, [&](Count total, double worth, const std::vector<Count>& content) {
    if (worth <= result.value || !is_allowed(total)) return;
    result.value = worth;
    result.total = total;
    result.content = content;
  });
  if (poll.stopped()) return true;
  if (result.value == kWorst) return false;
  result.value += 2 * error(result.value);
  return true;
}

void ColumnPricer::keep_of_table(double threshold, StopPoll& poll, ColumnDomain& domain) {
  std::vector<bool> is_kept(static_cast<std::size_t>(limits_.most) + 1);
  table_->visit_all(query(), poll, [&](Count total, double worth, const std::vector<Count>&) {
    if (worth >= threshold) is_kept[static_cast<std::size_t>(total)] = true;
  });
  if (poll.stopped()) return;
  std::vector<Interval> kept;
  for (const Interval& interval : domain.totals) {
    for (Count total = interval.first; total <= std::min(interval.last, limits_.most); ++total) {
      if (!is_kept[static_cast<std::size_t>(total)]) continue;
      if (!kept.empty() && kept.back().last + 1 == total) {
        kept.back().last = total;
      } else {
        kept.push_back({total, total});
      }
    }
  }
  domain.totals = std::move(kept);
}

bool ColumnPricer::best(const Prices& prices, const ColumnDomain& domain, Count hint, StopPoll& poll,
                        Best& result) {
  prepare(prices, domain);
  if (table_) return best_of_table(domain, poll, result);
  double best_value = kWorst;
  Count best_total = 0;
  const auto offer = [&](Count total) {
    const double value = evaluate(total, nullptr);
    if (value > best_value) {
      best_value = value;
      best_total = total;
    }
  };
  for (const Interval& interval : domain.totals) {
    if (interval.first <= hint && hint <= interval.last) offer(hint);
  }
  std::vector<Interval> open;
  for (const Interval& interval : domain.totals) {
    if (interval.first == interval.last) {
      offer(interval.first);
    } else {
      open.push_back(interval);
    }
  }
  while (!open.empty()) {
    poll.spend(std::exchange(effort_, 0));
    if (poll.should_stop()) return true;
    const Interval range = open.back();
    open.pop_back();
    if (range.last - range.first < 3) {
      for (Count total = range.first; total <= range.last; ++total) offer(total);
      continue;
    }
    if (bound(range.first, range.last) <= best_value + kSkip * std::abs(best_value)) continue;
    // The effect of a total depends on ratios, so ranges are split at the geometric mean.
    const double middle =
        std::sqrt(static_cast<double>(std::max<Count>(range.first, 1)) * static_cast<double>(range.last));
    const Count split = std::clamp(static_cast<Count>(middle), range.first, range.last - 1);
    offer(split);
    open.push_back({split + 1, range.last});
    open.push_back({range.first, split});
  }
  if (best_value == kWorst) return false;
  result.total = best_total;
  result.value = evaluate(best_total, &result.content);
  result.value += kSkip * std::abs(result.value) + 2 * error(result.value);
  return true;
}

void ColumnPricer::keep_at_least(const Prices& prices, double threshold, StopPoll& poll,
                                 ColumnDomain& domain) {
  prepare(prices, domain);
  threshold -= 2 * error(threshold);
  if (table_) return keep_of_table(threshold, poll, domain);
  std::vector<Interval> kept;
  const auto keep = [&](Count first, Count last) {
    if (!kept.empty() && kept.back().last + 1 == first) {
      kept.back().last = last;
    } else {
      kept.push_back({first, last});
    }
  };
  std::vector<Interval> open(domain.totals.rbegin(), domain.totals.rend());
  while (!open.empty()) {
    poll.spend(std::exchange(effort_, 0));
    if (poll.should_stop()) return;
    const Interval range = open.back();
    open.pop_back();
    if (range.first == range.last) {
      if (evaluate(range.first, nullptr) >= threshold) keep(range.first, range.last);
      continue;
    }
    if (bound(range.first, range.last) < threshold) continue;
    // Huge ranges are not split down to single totals: keeping too many costs time, not correctness.
    if (static_cast<double>(range.last - range.first) < 1e-4 * static_cast<double>(range.first)) {
      keep(range.first, range.last);
      continue;
    }
    const Count split = range.first + (range.last - range.first) / 2;
    open.push_back({split + 1, range.last});
    open.push_back({range.first, split});
  }
  domain.totals = std::move(kept);
}

}  // namespace allot::detail
