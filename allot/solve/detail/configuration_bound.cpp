#include "allot/solve/detail/configuration_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/model/throughput.hpp"
#include "allot/solve/detail/linear_program.hpp"

namespace allot::detail {
namespace {

/// How strongly prices are smoothed, since those of the linear program jump about.
constexpr double kSmoothing = 0.6;
/// Bound and program count as equal within this, relative.
constexpr double kEqual = 1e-10;

std::uint64_t hash_of(const std::vector<Count>& content) noexcept {
  std::uint64_t hash = 1469598103934665603ULL;
  for (const Count n : content) hash = (hash ^ static_cast<std::uint64_t>(n)) * 1099511628211ULL;
  return hash;
}

/// A generous bound on the rounding error of a sum of `terms` terms whose magnitudes sum to `size`.
double rounding(std::size_t terms, double size) noexcept {
  return 2 * static_cast<double>(terms + 4) * std::numeric_limits<double>::epsilon() * size;
}

}  // namespace

ConfigurationBound::ConfigurationBound(const System& system, StopPoll& poll)
    : system_(system), poll_(poll), pool_hashes_(system.resource_count()) {
  scale_ = 0;
  for (const ResourceId j : system.resource_ids()) {
    pricers_.emplace_back(system, j);
    hints_.push_back(system.resource(j).servers);
    if (system.reach(j) < system.resource(j).min_depth) continue;  // closed
    double fastest = 0;
    double taken = 1;  // of a server, at least
    for (const TaskType i : pricers_.back().types()) {
      fastest = std::max(fastest, system.value_rate(i, j));
      taken = std::min(taken, system.servers_taken(i, j));
    }
    const double reach = static_cast<double>(system.reach(j));
    scale_ += fastest * std::min(static_cast<double>(system.resource(j).servers) / taken, reach);
  }
  if (!(scale_ > 0)) scale_ = 1;
}

std::vector<ColumnDomain> ConfigurationBound::whole_domains() const {
  std::vector<ColumnDomain> domains;
  for (const ColumnPricer& pricer : pricers_) domains.push_back(pricer.whole_domain());
  return domains;
}

Prices ConfigurationBound::zero_prices() const {
  Prices prices;
  prices.task.assign(system_.type_count(), 0.0);
  if (system_.has_floors()) prices.completion.assign(system_.type_count(), 0.0);
  return prices;
}

void ConfigurationBound::add_assignment(const Assignment& assignment) {
  std::vector<Count> content;
  for (const ResourceId j : system_.resource_ids()) {
    content.clear();
    Count total = 0;
    for (const TaskType i : pricer(j).types()) {
      content.push_back(assignment(i, j));
      total += assignment(i, j);
    }
    offer(j, content);
    hints_[index(j)] = total;
  }
}

void ConfigurationBound::offer(ResourceId j, const std::vector<Count>& content) {
  std::vector<std::uint64_t>& seen = pool_hashes_[index(j)];
  const std::uint64_t hash = hash_of(content);
  const auto at = std::lower_bound(seen.begin(), seen.end(), hash);
  if (at != seen.end() && *at == hash) return;
  seen.insert(at, hash);
  Pooled pooled;
  pooled.resource = j;
  pooled.content = content;
  ColumnSums sums;
  const auto types = pricer(j).types();
  for (std::size_t t = 0; t < types.size(); ++t) {
    sums = sums.plus(system_, types[t], j, content[t]);
  }
  const Resource& resource = system_.resource(j);
  pooled.total = sums.tasks;
  if (const ColumnTable* const table = pricer(j).table()) {
    pooled.value = table->value(content);
    const std::span<const double> completions = table->completions(content);
    if (system_.has_floors()) pooled.by_type.assign(completions.begin(), completions.end());
    pool_.push_back(std::move(pooled));
    return;
  }
  pooled.value = column_value(resource.discipline, resource.servers, sums);
  if (system_.has_floors()) {
    const CompletionLaw law = completion_law(resource.discipline, resource.servers, sums);
    for (std::size_t t = 0; t < types.size(); ++t) {
      pooled.by_type.push_back(static_cast<double>(content[t]) *
                               (law.per_rate * system_.rate(types[t], j) + law.per_task));
    }
  }
  pool_.push_back(std::move(pooled));
}

bool ConfigurationBound::fits(const Pooled& pooled, const ColumnDomain& domain) const noexcept {
  const bool total_allowed =
      std::any_of(domain.totals.begin(), domain.totals.end(), [&](const Interval& interval) {
        return interval.first <= pooled.total && pooled.total <= interval.last;
      });
  if (!total_allowed) return false;
  for (std::size_t t = 0; t < pooled.content.size(); ++t) {
    if (!domain.lower.empty() && pooled.content[t] < domain.lower[t]) return false;
    if (!domain.upper.empty() && pooled.content[t] > domain.upper[t]) return false;
  }
  return true;
}

double ConfigurationBound::lagrangian(const std::vector<ColumnDomain>& domains, const Prices& prices,
                                      std::vector<double>& values) {
  double sum = 0;
  double size = 0;  // of all terms
  for (const TaskType i : system_.types()) {
    const double paid = prices.task[index(i)] * static_cast<double>(system_.count(i));
    sum += paid;
    size += std::abs(paid);
    if (prices.completion.empty()) continue;
    const double premium = prices.completion[index(i)] * (system_.floor(i) * (1 - kFloorTolerance));
    sum -= premium;
    size += premium;
  }
  values.assign(pricers_.size(), 0.0);
  for (const ResourceId j : system_.resource_ids()) {
    if (!pricers_[index(j)].best(prices, domains[index(j)], hints_[index(j)], poll_, best_))
      return -kInfinity;
    if (poll_.stopped()) return kInfinity;
    values[index(j)] = best_.value;
    hints_[index(j)] = best_.total;
    sum += best_.value;
    size += std::abs(best_.value);
    offer(j, best_.content);
  }
  return sum + rounding(2 * system_.type_count() + system_.resource_count(), size);
}

bool ConfigurationBound::shrink(std::vector<ColumnDomain>& domains, const Prices& prices, double cutoff) {
  std::vector<double> values;
  const double bound = lagrangian(domains, prices, values);
  if (bound == -kInfinity) return false;
  if (bound == kInfinity) return true;
  for (const ResourceId j : system_.resource_ids()) {
    const double size = std::abs(bound) + std::abs(values[index(j)]) + std::abs(cutoff);
    const double threshold = cutoff - (bound - values[index(j)]) - rounding(2, size);
    pricers_[index(j)].keep_at_least(prices, threshold, poll_, domains[index(j)]);
    if (domains[index(j)].empty()) return false;
  }
  return true;
}

/// The linear program over the contents known so far. Rows: one per type (every thread placed), one per
/// resource (one content), one per floor. Throughputs are in units of the scale, so that no number is too
/// large for the solver.
class ConfigurationBound::Master {
 public:
  Master(const ConfigurationBound& bound, const std::vector<ColumnDomain>& domains)
      : bound_(bound),
        domains_(domains),
        types_(bound.system_.type_count()),
        floors_(bound.system_.has_floors()) {
    const System& system = bound.system_;
    for (const TaskType i : system.types()) {
      const double n = static_cast<double>(system.count(i));
      programme_.add_row(n, n);
    }
    for (std::size_t j = 0; j < bound.pricers_.size(); ++j) programme_.add_row(1, 1);
    if (floors_) {
      for (const TaskType i : system.types()) {
        programme_.add_row(system.floor(i) * (1 - kFloorTolerance) / bound.scale_, kInfinity);
      }
    }
    for (std::size_t i = 0; i < types_; ++i) {
      const int row = static_cast<int>(i);
      const int floor_row = static_cast<int>(types_ + bound.pricers_.size() + i);
      for (const double sign : {1.0, -1.0}) {
        slacks_.push_back(programme_.add_column(penalty_, 0, kInfinity, {&row, 1}, {&sign, 1}));
      }
      const double one = 1.0;
      if (floors_)
        slacks_.push_back(programme_.add_column(penalty_, 0, kInfinity, {&floor_row, 1}, {&one, 1}));
    }
    add_new();
  }

  /// Whether there are contents that the program does not have yet.
  bool has_news() const noexcept { return bound_.pool_.size() > known_; }

  void add_new() {
    LinearProgram::Batch batch;
    for (std::size_t at = known_; at < bound_.pool_.size(); ++at) {
      const Pooled& pooled = bound_.pool_[at];
      if (!bound_.fits(pooled, domains_[index(pooled.resource)])) continue;
      batch.begin_column(-pooled.value / bound_.scale_);
      const auto column_types = bound_.pricer(pooled.resource).types();
      for (std::size_t t = 0; t < column_types.size(); ++t) {
        if (pooled.content[t] != 0) {
          batch.entry(static_cast<int>(index(column_types[t])), static_cast<double>(pooled.content[t]));
        }
      }
      batch.entry(static_cast<int>(types_ + index(pooled.resource)), 1.0);
      for (std::size_t t = 0; t < pooled.by_type.size(); ++t) {
        if (pooled.by_type[t] != 0) {
          batch.entry(static_cast<int>(types_ + bound_.pricers_.size() + index(column_types[t])),
                      pooled.by_type[t] / bound_.scale_);
        }
      }
      in_programme_.push_back(at);
    }
    programme_.add_columns(std::move(batch));
    known_ = bound_.pool_.size();
  }

  LinearProgram::Status solve(StopPoll& poll) {
    const LinearProgram::Status status = programme_.solve(&poll);
    poll.spend(programme_.steps());
    return status;
  }

  /// The throughput of its solution.
  double value() const { return -programme_.value() * bound_.scale_; }

  /// Its prices, drawn towards `near` by `smoothing`.
  void prices(const Prices& near, double smoothing, Prices& into) const {
    const auto duals = programme_.duals();
    for (std::size_t i = 0; i < types_; ++i) {
      into.task[i] = smoothing * near.task[i] - (1 - smoothing) * duals[i] * bound_.scale_;
      if (floors_) {
        const double pi = std::max(0.0, duals[types_ + bound_.pricers_.size() + i]);
        into.completion[i] = smoothing * near.completion[i] + (1 - smoothing) * pi;
      }
    }
  }

  /// Whether its solution places every thread once and meets every floor.
  bool complete() const {
    double paid = 0;
    const auto solution = programme_.columns();
    for (const int slack : slacks_) paid += solution[static_cast<std::size_t>(slack)];
    return paid <= 1e-7;
  }

  /// Makes incomplete solutions more expensive; false if that is pointless by now.
  bool raise_penalty() {
    if (penalty_ > 1e9) return false;
    penalty_ *= 30;
    for (const int slack : slacks_) programme_.set_cost(slack, penalty_);
    return true;
  }

  /// Copies the solution into the result, if there is one.
  void report(Result& result) const {
    const auto solution = programme_.columns();
    if (solution.empty()) return;  // stopped before there was one
    result.complete = complete();
    for (std::size_t at = 0; at < in_programme_.size() && slacks_.size() + at < solution.size(); ++at) {
      const double weight = solution[slacks_.size() + at];
      if (weight <= 1e-9) continue;
      const Pooled& pooled = bound_.pool_[in_programme_[at]];
      result.support.push_back({pooled.resource, weight, pooled.total, &pooled.content});
    }
  }

 private:
  const ConfigurationBound& bound_;
  const std::vector<ColumnDomain>& domains_;
  std::size_t types_;
  bool floors_;
  LinearProgram programme_;
  // Penalties for threads that are not placed or placed twice, and for missed floors, keep the program
  // feasible and the prices bounded; they are raised if a solution still pays them.
  double penalty_ = 4;
  std::vector<int> slacks_;
  std::vector<std::size_t> in_programme_;  // pool index of each column after the slacks
  std::size_t known_ = 0;                  // of the pool
};

ConfigurationBound::Result ConfigurationBound::lower(const std::vector<ColumnDomain>& domains,
                                                     const Prices& start, double cutoff, int max_rounds,
                                                     const std::function<void(double)>& watch) {
  Result result;
  result.prices = start;
  std::vector<double> values;
  result.bound = lagrangian(domains, result.prices, values);
  if (result.bound == -kInfinity) return result.end = End::kEmpty, result;
  if (result.bound <= cutoff) return result.end = End::kBelowCutoff, result;
  if (poll_.stopped()) return result.end = End::kStopped, result;
  Master master(*this, domains);
  // Prices of zero carry no information to stay close to.
  const bool informed =
      std::any_of(start.task.begin(), start.task.end(), [](double price) { return price != 0; });
  double smoothing = informed ? kSmoothing : 0.0;
  Prices tried = result.prices;
  result.end = End::kStalled;
  for (int round = 0; round < max_rounds; ++round) {
    const bool stopped = poll_.should_stop_now();
    const LinearProgram::Status status = stopped ? LinearProgram::Status::kStopped : master.solve(poll_);
    if (status == LinearProgram::Status::kStopped) {
      result.end = End::kStopped;
      break;
    }
    if (status != LinearProgram::Status::kOptimal) break;  // numerical trouble: keep what is proven
    if (result.bound - master.value() > kEqual * scale_) {
      master.prices(result.prices, smoothing, tried);
      const double bound = lagrangian(domains, tried, values);
      if (bound < result.bound) {
        result.bound = bound;
        result.prices = tried;
        if (watch) watch(bound);
      }
      if (result.bound <= cutoff) return result.end = End::kBelowCutoff, result;
      if (master.has_news()) {
        master.add_new();
        smoothing = kSmoothing;
        continue;
      }
      if (smoothing > 0) {  // nothing new near the smoothed prices: try the program's own
        smoothing = 0;
        continue;
      }
    }
    result.end = End::kConverged;
    // If threads are still unplaced, the penalty was too small.
    if (master.complete() || !master.raise_penalty()) break;
    result.end = End::kStalled;
  }
  master.report(result);
  return result;
}

}  // namespace allot::detail
