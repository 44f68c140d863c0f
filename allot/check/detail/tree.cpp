#include "allot/check/detail/tree.hpp"

#include <gmpxx.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "allot/check/detail/claims.hpp"
#include "allot/check/detail/column.hpp"

namespace allot::check::detail {
namespace {

/// The possible contents of each resource in one part.
using Domains = std::vector<Domain>;

Domains everything(const Machine& machine) {
  Domains domains;
  for (std::size_t j = 0; j < machine.resources.size(); ++j) {
    Domain domain;
    std::int64_t reach = 0;
    for (std::size_t i = 0; i < machine.tasks.size(); ++i) {
      domain.lower.push_back(0);
      domain.upper.push_back(machine.rates[i][j] > 0 ? machine.tasks[i].count : 0);
      reach += domain.upper.back();
    }
    domain.totals.push_back({0, 0});
    const Range deep{machine.resources[j].min_depth, reach};
    if (deep.first <= deep.last) domain.totals.push_back(deep);
    domains.push_back(std::move(domain));
  }
  return domains;
}

/// Restricts the domains to at most `at` tasks, or to more.
void cut(Domains& domains, const Split& split, bool low) {
  Domain& domain = domains[split.resource];
  if (split.task) {
    std::int64_t& lower = domain.lower[*split.task];
    std::int64_t& upper = domain.upper[*split.task];
    if (low) {
      upper = std::min(upper, split.at);
    } else {
      lower = std::max(lower, split.at + 1);
    }
    if (lower > upper) domain.totals.clear();
    return;
  }
  std::vector<Range> kept;
  for (Range range : domain.totals) {
    if (low) {
      range.last = std::min(range.last, split.at);
    } else {
      range.first = std::max(range.first, split.at + 1);
    }
    if (range.first <= range.last) kept.push_back(range);
  }
  domain.totals = std::move(kept);
}

bool is_empty(const Domains& domains) {
  return std::any_of(domains.begin(), domains.end(), [](const Domain& d) { return d.totals.empty(); });
}

/// Throughput: sum_i lambda_i N_i - sum_i pi_i floor_i + the most that each resource is worth bounds every
/// assignment in the domains; with one total of one resource in place of its best, every assignment with that
/// total. Totals that are not above the claim are struck out.
class ThroughputProof {
 public:
  explicit ThroughputProof(const Certificate& certificate)
      : machine_(certificate.machine),
        claim_(certificate.claim),
        units_(machine_),
        at_most_(units_.down(mpq_class(claim_.at_most))) {}

  void strike(const Prices& prices, Domains& domains) const {
    const UnitPrices in_units(units_, prices);
    mpz_class sum = 0;
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const Task& task = machine_.tasks[i];
      sum += in_units.task[i] * static_cast<long>(task.count);
      sum += units_.up(-in_units.premium[i] * mpq_class(task.floor) *
                       mpq_class(kFloorTolerance - 1, kFloorTolerance));
    }
    std::vector<Column> columns;
    std::vector<mpz_class> most;
    for (std::size_t j = 0; j < domains.size(); ++j) {
      columns.emplace_back(machine_, units_, j, in_units, domains[j]);
      const std::optional<mpz_class> best = columns.back().most();
      if (!best) {
        domains[j].totals.clear();
        return;
      }
      most.push_back(*best);
      sum += *best;
    }
    // No throughput is negative: for an infeasible claim, only totals with a bound >= 0 are kept.
    const mpz_class limit = claim_.infeasible ? mpz_class(0) : at_most_;
    for (std::size_t j = 0; j < domains.size(); ++j) {
      domains[j].totals = columns[j].above(limit - (sum - most[j]), claim_.infeasible);
      if (domains[j].totals.empty()) return;
    }
  }

 private:
  const Machine& machine_;
  const Claim& claim_;
  Units units_;
  mpz_class at_most_;
};

/// Shares: with prices y_i per completion of type i and sum_i y_i p_i >= 1, all time shares f and counts n
/// with f <= n satisfy
///
///     X <= sum_j z_j c_j - sum_i phi_i floor_i - sum_j delta_j d_j
///          + sum_i max over n_i of sum_j n_ij (max(0, (y_i + phi_i) mu_ij - z_j) + delta_j)
///
/// where delta_j prices the tasks at a resource that is in use and so keeps its minimum depth.
class ShareProof {
 public:
  explicit ShareProof(const Certificate& certificate)
      : machine_(certificate.machine), claim_(certificate.claim) {
    for (const Task& task : machine_.tasks) weight_ += mpq_class(*task.priority);
  }

  void strike(const Prices& prices, Domains& domains) const {
    mpq_class level = 0;
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      level += mpq_class(prices.task[i]) * mpq_class(*machine_.tasks[i].priority);
    }
    if (level < weight_) return;  // such prices prove no bound
    mpq_class sum = 0;
    for (std::size_t j = 0; j < domains.size(); ++j) {
      sum += mpq_class(prices.unit[j]) * mpq_class(static_cast<long>(machine_.resources[j].servers));
      sum -= mpq_class(prices.depth[j]) * mpq_class(static_cast<long>(least_total(domains[j])));
    }
    for (std::size_t i = 0; i < machine_.tasks.size(); ++i) {
      const mpq_class premium(prices.completion.empty() ? 0.0 : prices.completion[i]);
      sum -= premium * mpq_class(machine_.tasks[i].floor) * mpq_class(kFloorTolerance - 1, kFloorTolerance);
      const std::optional<mpq_class> best = best_row(i, mpq_class(prices.task[i]) + premium, prices, domains);
      if (!best) {
        domains.front().totals.clear();
        return;
      }
      sum += *best;
    }
    if (claim_.infeasible ? sum < 0 : sum <= mpq_class(claim_.at_most)) domains.front().totals.clear();
  }

 private:
  static std::int64_t least_total(const Domain& domain) { return domain.totals.front().first; }
  static std::int64_t largest_total(const Domain& domain) { return domain.totals.back().last; }

  /// The largest worth of the threads of type i; nothing if they cannot all be placed.
  std::optional<mpq_class> best_row(std::size_t i, const mpq_class& per_completion, const Prices& prices,
                                    const Domains& domains) const {
    std::vector<std::pair<mpq_class, std::int64_t>> offers;  // worth of a thread, how many more
    mpq_class sum = 0;
    std::int64_t left = machine_.tasks[i].count;
    for (std::size_t j = 0; j < domains.size(); ++j) {
      const std::int64_t lower = domains[j].lower[i];
      const std::int64_t upper = std::min(domains[j].upper[i], largest_total(domains[j]));
      if (lower > upper) return std::nullopt;
      mpq_class worth = per_completion * mpq_class(machine_.rates[i][j]) - mpq_class(prices.unit[j]);
      if (worth < 0) worth = 0;
      worth += mpq_class(prices.depth[j]);
      sum += worth * mpq_class(static_cast<long>(lower));
      left -= lower;
      offers.emplace_back(std::move(worth), upper - lower);
    }
    std::sort(offers.begin(), offers.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    if (left < 0) return std::nullopt;
    for (const auto& [worth, room] : offers) {
      const std::int64_t n = std::min(room, left);
      sum += worth * mpq_class(static_cast<long>(n));
      left -= n;
    }
    if (left > 0) return std::nullopt;
    return sum;
  }

  const Machine& machine_;
  const Claim& claim_;
  mpq_class weight_ = 0;
};

template <typename Proof>
std::string walk(const Certificate& certificate) {
  const Proof proof(certificate);
  std::vector<bool> seen(certificate.parts.size(), false);
  std::vector<std::pair<std::size_t, Domains>> open;
  open.emplace_back(0, everything(certificate.machine));
  if (certificate.parts.empty()) return "the proof has no parts";
  seen[0] = true;
  while (!open.empty()) {
    const std::size_t at = open.back().first;
    Domains domains = std::move(open.back().second);
    open.pop_back();
    const Part& part = certificate.parts[at];
    const std::string where = "part " + std::to_string(at) + " of the proof";
    for (const Prices& prices : part.prices) {
      if (!is_empty(domains)) proof.strike(prices, domains);
    }
    if (!part.split) {
      if (is_empty(domains)) continue;
      return where + " is neither split nor closed: its prices do not show that " +
             (certificate.claim.infeasible ? "nothing feasible is in it"
                                           : "nothing in it completes more than is claimed");
    }
    for (const bool low : {true, false}) {
      const std::size_t next = low ? part.split->low : part.split->high;
      if (next >= certificate.parts.size()) {
        return where + " is split into part " + std::to_string(next) + ", which is missing";
      }
      if (next <= at || seen[next]) {
        return where + " is split into part " + std::to_string(next) + ", which is not a new one after it";
      }
      seen[next] = true;
      Domains side = domains;
      cut(side, *part.split, low);
      open.emplace_back(next, std::move(side));
    }
  }
  const auto stray = std::find(seen.begin(), seen.end(), false);
  if (stray == seen.end()) return {};
  return "part " + std::to_string(stray - seen.begin()) + " of the proof belongs to no split";
}

}  // namespace

std::string problem_of_tree(const Certificate& certificate) {
  return certificate.objective == Objective::kThroughput ? walk<ThroughputProof>(certificate)
                                                         : walk<ShareProof>(certificate);
}

}  // namespace allot::check::detail
