#include "allot/check/detail/column.hpp"

#include <algorithm>
#include <cmath>

namespace allot::check::detail {
namespace {

mpz_class floor_of(const mpq_class& value) {
  mpz_class result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

mpz_class ceiling(const mpz_class& numerator, const mpz_class& denominator) {
  mpz_class result;
  mpz_cdiv_q(result.get_mpz_t(), numerator.get_mpz_t(), denominator.get_mpz_t());
  return result;
}

mpq_class times_power_of_two(const mpq_class& value, long bits) {
  mpq_class result;
  if (bits >= 0) {
    mpq_mul_2exp(result.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(bits));
  } else {
    mpq_div_2exp(result.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(-bits));
  }
  return result;
}

mpz_class product(const mpz_class& a, std::int64_t b) { return a * static_cast<long>(b); }

}  // namespace

Units::Units(const Machine& machine) {
  // 90 bits below the smallest and the largest rate that matters: beyond any rounding in a double.
  int slowest = 0;
  int fastest = 0;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    for (const double rate : machine.rates[i]) {
      if (rate == 0 || machine.tasks[i].count == 0) continue;
      slowest = std::min(slowest, std::ilogb(rate));
      if (const double value = machine.tasks[i].worth * rate; value > 0)
        slowest = std::min(slowest, std::ilogb(value));
      fastest = std::max(fastest, std::ilogb(rate));
    }
  }
  rate_bits = 90 - slowest;
  time_bits = 90 + fastest;
}

mpz_class Units::down(const mpq_class& value) const { return floor_of(times_power_of_two(value, rate_bits)); }

mpz_class Units::up(const mpq_class& value) const { return -down(-value); }

UnitPrices::UnitPrices(const Units& units, const Prices& prices) {
  for (const double price : prices.task) task.push_back(units.down(mpq_class(price)));
  for (std::size_t i = 0; i < task.size(); ++i) {
    premium.emplace_back(prices.completion.empty() ? 0.0 : prices.completion[i]);
  }
}

Column::Column(const Machine& machine, const Units& units, std::size_t j, const UnitPrices& prices,
               const Domain& domain)
    : units_(units),

      servers_(machine.resources[j].servers),
      fcfs_(machine.resources[j].fcfs) {
  double fastest = 0;
  std::optional<double> least_worth;
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    if (domain.upper[i] == 0) continue;
    fastest = std::max(fastest, machine.rates[i][j]);
    least_worth = std::min(least_worth.value_or(machine.tasks[i].worth), machine.tasks[i].worth);
  }
  least_worth_ = least_worth.value_or(1);
  for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
    least_ += domain.lower[i];
    greatest_ += domain.upper[i];
    if (domain.upper[i] == 0) continue;
    const mpq_class rate(machine.rates[i][j]);
    const mpq_class worth(machine.tasks[i].worth);
    const mpq_class premium = prices.premium[i] + worth - least_worth_;
    one_rate_ = one_rate_ && machine.rates[i][j] == fastest;
    has_premium_ = has_premium_ || premium > 0;
    lower_.push_back(domain.lower[i]);
    room_.push_back(domain.upper[i] - domain.lower[i]);
    price_.push_back(prices.task[i]);
    premium_.push_back(premium);
    gain_.push_back(units.up((worth + prices.premium[i]) * rate));
    most_gain_.push_back(fcfs_ && servers_ == 1 ? units.up(least_worth_ * rate + premium * mpq_class(fastest))
                                                : gain_.back());
    seconds_.push_back(floor_of(times_power_of_two(1 / rate, units.time_bits)));
  }
  offers_.resize(lower_.size());
  order_.resize(lower_.size());
  for (const Range& range : domain.totals) {
    const Range cut{std::max(range.first, least_), std::min(range.last, greatest_)};
    if (cut.first <= cut.last) totals_.push_back(cut);
  }
}

/// The largest worth of the offers if at least `first` and at most `last` places are filled: the lower bounds
/// first, then by decreasing key; beyond `first`, only offers with a positive worth.
mpz_class Column::fill(std::int64_t first, std::int64_t last) {
  mpz_class sum = 0;
  for (std::size_t t = 0; t < offers_.size(); ++t) {
    order_[t] = t;
    if (lower_[t] != 0) sum += product(offers_[t].key, lower_[t]);
  }
  std::sort(order_.begin(), order_.end(),
            [&](std::size_t a, std::size_t b) { return offers_[a].key > offers_[b].key; });
  std::int64_t placed = least_;
  for (const std::size_t t : order_) {
    const std::int64_t wanted = sgn(offers_[t].key) > 0 ? last : std::max(first, placed);
    const std::int64_t n = std::min(room_[t], wanted - placed);
    sum += product(offers_[t].key, n);
    placed += n;
  }
  return sum;
}

/// Totals from first to last, each task completing at `gain` times min(1, c / first) of a server: exact under
/// ps and while no task waits, for a single total; too high for larger totals, since their shares are
/// smaller.
mpz_class Column::linear(std::int64_t first, std::int64_t last, const std::vector<mpz_class>& gain) {
  if (first <= servers_) {
    for (std::size_t t = 0; t < offers_.size(); ++t) offers_[t].key = gain[t] - price_[t];
    return fill(first, last);
  }
  for (std::size_t t = 0; t < offers_.size(); ++t) {
    offers_[t].key = product(gain[t], servers_) - product(price_[t], first);
  }
  return ceiling(fill(first, last), mpz_class(static_cast<long>(first)));
}

/// A waiting fcfs queue with several servers: at most c of its tasks are in service, so for every theta >= 0
/// it is worth at most theta c + sum of max(gain - theta, 0) over its tasks.
mpz_class Column::served(std::int64_t first, std::int64_t last) {
  std::optional<mpz_class> best;
  for (std::size_t which = 0; which <= offers_.size(); ++which) {
    const mpz_class theta = which < offers_.size() ? gain_[which] : mpz_class(0);
    for (std::size_t t = 0; t < offers_.size(); ++t) {
      const mpz_class beyond = gain_[t] - theta;
      offers_[t].key = (sgn(beyond) > 0 ? beyond : mpz_class(0)) - price_[t];
    }
    const mpz_class value = product(theta, std::min(servers_, last)) + fill(first, last);
    if (!best || value < *best) best = value;
  }
  return *best;
}

/// The order by price + theta seconds changes only where two types cross; one theta within each order.
void Column::set_slopes(const std::vector<mpz_class>& price) {
  std::vector<mpq_class> crossings;
  for (std::size_t a = 0; a < price.size(); ++a) {
    for (std::size_t b = a + 1; b < price.size(); ++b) {
      const mpz_class apart = seconds_[a] - seconds_[b];
      if (sgn(apart) == 0) continue;
      mpq_class theta(price[b] - price[a], apart);
      theta.canonicalize();
      if (sgn(theta) > 0) crossings.push_back(theta);
    }
  }
  std::sort(crossings.begin(), crossings.end());
  crossings.erase(std::unique(crossings.begin(), crossings.end()), crossings.end());
  slopes_.clear();
  mpq_class before = 0;
  for (const mpq_class& theta : crossings) {
    slopes_.push_back((before + theta) / 2);
    before = theta;
  }
  slopes_.push_back(before + 1);
}

/// fcfs with one server and m > 1 tasks completes m / S, S the sum of their seconds; type i completes x_i /
/// S. Each completion is worth the least worth; anything above it is paid as if S had its smallest value. The
/// former minus what is paid is convex in the
/// content, so the best content x is one that is cheapest at price + theta seconds for theta = m / S(x)^2:
/// it suffices to fill by each order that some theta between m / S^2 at the largest and the smallest S gives.
mpz_class Column::harmonic(std::int64_t total) {
  const auto sum_of_seconds = [&](bool fastest_first) {
    mpz_class sum = 0;
    std::int64_t left = total - least_;
    for (std::size_t t = 0; t < order_.size(); ++t) {
      order_[t] = t;
      sum += product(seconds_[t], lower_[t]);
    }
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return fastest_first ? seconds_[a] < seconds_[b] : seconds_[a] > seconds_[b];
    });
    for (const std::size_t t : order_) {
      const std::int64_t n = std::min(left, room_[t]);
      sum += product(seconds_[t], n);
      left -= n;
    }
    return sum;
  };
  const mpz_class least_seconds = sum_of_seconds(true);
  const mpz_class most_seconds = sum_of_seconds(false);
  mpz_class unit = 1;
  mpz_mul_2exp(unit.get_mpz_t(), unit.get_mpz_t(),
               static_cast<mp_bitcnt_t>(units_.rate_bits + units_.time_bits));
  std::vector<mpz_class> price = price_;
  if (has_premium_) {
    for (std::size_t t = 0; t < price.size(); ++t) {
      if (premium_[t] > 0) price[t] += floor_of(-premium_[t] * mpq_class(unit) / mpq_class(least_seconds));
    }
  }
  if (slopes_.empty() || has_premium_) set_slopes(price);
  const mpq_class worth = mpq_class(product(unit, total)) * least_worth_;
  const mpz_class completed = -floor_of(-worth);
  mpq_class smallest(completed, most_seconds * most_seconds);
  mpq_class largest(completed, least_seconds * least_seconds);
  smallest.canonicalize();
  largest.canonicalize();
  auto from = std::lower_bound(slopes_.begin(), slopes_.end(), smallest);
  auto to = std::upper_bound(slopes_.begin(), slopes_.end(), largest);
  if (from != slopes_.begin()) --from;
  if (to != slopes_.end()) ++to;
  std::optional<mpz_class> best;
  std::vector<mpz_class> keys(price.size());
  for (auto theta = from; theta != to; ++theta) {
    for (std::size_t t = 0; t < keys.size(); ++t) {
      order_[t] = t;
      keys[t] = price[t] * theta->get_den() + theta->get_num() * seconds_[t];
    }
    std::sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
    mpz_class seconds = 0;
    mpz_class paid = 0;
    std::int64_t left = total - least_;
    for (const std::size_t t : order_) {
      const std::int64_t n = std::min(left, room_[t]);
      seconds += product(seconds_[t], lower_[t] + n);
      paid += product(price[t], lower_[t] + n);
      left -= n;
    }
    const mpz_class value = ceiling(completed, seconds) - paid;
    if (!best || value > *best) best = value;
  }
  return *best;
}

mpz_class Column::worth(std::int64_t total) {
  if (fcfs_ && total > servers_) {
    if (servers_ == 1) return harmonic(total);
    if (!one_rate_) return served(total, total);
  }
  return linear(total, total, gain_);
}

/// An upper bound on the worth of all totals from first to last.
mpz_class Column::range_worth(std::int64_t first, std::int64_t last) {
  if (fcfs_ && servers_ > 1 && !one_rate_ && last > servers_) return served(first, last);
  return linear(first, last, most_gain_);  // a harmonic mean is at most the arithmetic one
}

std::optional<mpz_class> Column::most() {
  std::optional<mpz_class> best;
  std::vector<Range> open(totals_.rbegin(), totals_.rend());
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    if (range.first == range.last) {
      const mpz_class value = worth(range.first);
      if (!best || value > *best) best = value;
      continue;
    }
    if (best && range_worth(range.first, range.last) <= *best) continue;
    const std::int64_t middle = range.first + (range.last - range.first) / 2;
    open.push_back({middle + 1, range.last});
    open.push_back({range.first, middle});
  }
  return best;
}

std::vector<Range> Column::above(const mpz_class& threshold, bool keep_equal) {
  const auto is_above = [&](const mpz_class& value) {
    return keep_equal ? value >= threshold : value > threshold;
  };
  std::vector<Range> kept;
  std::vector<Range> open(totals_.rbegin(), totals_.rend());
  while (!open.empty()) {
    const Range range = open.back();
    open.pop_back();
    const bool is_single = range.first == range.last;
    if (!is_above(is_single ? worth(range.first) : range_worth(range.first, range.last))) continue;
    // Huge ranges are not split down to single totals: keeping too many is never wrong.
    if (is_single || (range.last - range.first) < range.first / 1'000'000) {
      if (!kept.empty() && kept.back().last + 1 == range.first) {
        kept.back().last = range.last;
      } else {
        kept.push_back(range);
      }
      continue;
    }
    const std::int64_t middle = range.first + (range.last - range.first) / 2;
    open.push_back({middle + 1, range.last});
    open.push_back({range.first, middle});
  }
  return kept;
}

}  // namespace allot::check::detail
