// The frontier of planned service.
//
// Shares s = X / (sum of X) are not linear in a plan x. With z = x / (sum of X) and u = 1 / (sum of X) they
// are, and so are all rows: a x <= b becomes a z <= b u, and the least sum of squares (s_i - p_i)^2 is a
// convex program (Charnes and Cooper). A square is nowhere below its tangents, so a linear program with
// tangents for squares is a bound; tangents are added where its solution lies until the bound is met.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/service_program.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using detail::kInfinity;
using detail::kSamePlan;
using detail::ServiceProgram;
using Answer = detail::BoundedProgram::Answer;

/// Errors are found to within this part of themselves, or within kLeastError.
constexpr double kErrorPart = 1e-4;
constexpr double kLeastError = 1e-9;
constexpr int kMostRounds = 100;
/// 1 / (completions) is not known well below this part of the most that it could be.
constexpr double kLeastScale = 1e-5;
/// A plan for the sake of shares alone must complete this part of what the fastest does.
constexpr double kLeastPart = 1e-3;

/// A row with what each column completes of each type, and its gains.
struct Sums {
  std::vector<std::vector<std::pair<std::size_t, double>>> by_type;
  std::vector<std::pair<std::size_t, double>> value;
};

Sums sums_of(ServiceProgram& service) {
  Sums sums;
  const System& system = service.problem().system;
  sums.by_type.resize(system.type_count());
  for (const auto& one : service.served())
    sums.by_type[index(one.type)].emplace_back(one.column, system.rate(one.type, one.resource));
  sums.value = service.value_terms();
  return sums;
}

std::size_t add_row(detail::BoundedProgram& program, const std::vector<std::pair<std::size_t, double>>& terms,
                    double lower, double upper) {
  const std::size_t row = program.add_row(lower, upper);
  for (const auto& [column, value] : terms) program.add_entry(row, column, value);
  return row;
}

/// The program of planned service in z and u.
class ShareProgram {
 public:
  /// Plans complete at least `least` in all, and have at least `value`. `near`: shares of another answer,
  /// around which the best are likely to be; may be empty.
  ShareProgram(ServiceProgram& service, const Sums& sums, double least, double value,
               const std::vector<double>& near)
      : service_(service) {
    detail::BoundedProgram& from = service.program();
    const std::span<const double> wanted = service.problem().system.shares();
    for (std::size_t c = 0; c < from.column_count(); ++c) program_.add_column(from.most(c) / least);
    scale_ = program_.add_column(2 / least);
    for (std::size_t r = 0; r < from.row_count(); ++r) {
      rows_upper_.push_back(add_side(from.upper(r), true));
      rows_lower_.push_back(add_side(from.lower(r), false));
    }
    for (std::size_t c = 0; c < from.column_count(); ++c) {
      for (const auto& [row, a] : from.entries(c)) {
        if (rows_upper_[row]) program_.add_entry(*rows_upper_[row], c, a);
        if (rows_lower_[row]) program_.add_entry(*rows_lower_[row], c, a);
      }
    }
    program_.add_entry(add_row(program_, sums.value, 0, kInfinity), scale_, -value);
    const std::size_t all = program_.add_row(1, 1);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      shares_.push_back(program_.add_column(2));
      squares_.push_back(program_.add_column(2, -1));
      program_.add_entry(all, shares_[i], 1);
      program_.add_entry(add_row(program_, sums.by_type[i], 0, 0), shares_[i], -1);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (const double at : {0.3, 0.06, 0.012, 0.0024, 0.0005}) {
        add_tangent(i, at);
        add_tangent(i, -at);
      }
      if (!near.empty()) add_tangent(i, near[i] - wanted[i]);
    }
  }

  struct Best {
    std::vector<double> columns;  ///< of the service's program; empty: none
    std::vector<double> shares;
    bool is_proven = false;
    bool is_rounded = false;  ///< far more is completed than the program was told: 1 / u is not exact
  };
  Best solve(StopPoll& poll) {
    const std::span<const double> wanted = service_.problem().system.shares();
    Best best;
    double least = kInfinity;
    for (int round = 0; round < kMostRounds; ++round) {
      const Answer answer = program_.maximise(poll);
      if (!answer.is_optimal()) break;
      const double u = answer.columns[scale_];
      best.is_rounded = u < kLeastScale * program_.most(scale_);
      if (!(u > 0)) break;
      double error = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        error += std::pow(answer.columns[shares_[i]] - wanted[i], 2);
      if (error < least) {
        least = error;
        best.columns.assign(answer.columns.begin(),
                            answer.columns.begin() + static_cast<std::ptrdiff_t>(scale_));
        for (double& x : best.columns) x /= u;
        best.shares.clear();
        for (const std::size_t column : shares_) best.shares.push_back(answer.columns[column]);
      }
      best.is_proven = least - -answer.bound <= std::max(kErrorPart * least, kLeastError);
      if (best.is_proven) break;
      for (std::size_t i = 0; i < wanted.size(); ++i) add_tangent(i, answer.columns[shares_[i]] - wanted[i]);
    }
    return best;
  }

 private:
  /// a z - b u <= 0, or >= 0.
  std::optional<std::size_t> add_side(double limit, bool is_upper) {
    if (std::isinf(limit)) return {};
    const std::size_t row = program_.add_row(is_upper ? -kInfinity : 0.0, is_upper ? 0.0 : kInfinity);
    program_.add_entry(row, scale_, -limit);
    return row;
  }

  /// The square q of e = s - p: q >= 2 at e - at^2.
  void add_tangent(std::size_t i, double at) {
    if (std::abs(at) < 1e-9) return;
    const double p = service_.problem().system.shares()[i];
    const std::size_t row = program_.add_row(-2 * at * p - at * at, kInfinity);
    program_.add_entry(row, squares_[i], 1);
    program_.add_entry(row, shares_[i], -2 * at);
  }

  ServiceProgram& service_;
  detail::BoundedProgram program_;
  std::size_t scale_ = 0;  // column u
  std::vector<std::optional<std::size_t>> rows_upper_;
  std::vector<std::optional<std::size_t>> rows_lower_;
  std::vector<std::size_t> shares_;
  std::vector<std::size_t> squares_;
};

class PlannedFrontier {
 public:
  PlannedFrontier(const Problem& problem, std::size_t points, const SolveOptions& options)
      : problem_(problem),
        options_(options),
        poll_(options.stop, 1),
        service_(problem),
        points_(points),
        has_shares_(!problem.system.shares().empty()) {}

  ParetoFrontier run() {
    frontier_.is_planned = true;
    frontier_.has_priorities = has_shares_;
    // All rows that are ever needed, so that every program goes on from the last one.
    parties_ = service_.make_parties();
    const Sums sums = sums_of(service_);
    const std::size_t value_row = add_row(service_.program(), sums.value, -kInfinity, kInfinity);
    service_.aim_at_value();
    const Answer most = service_.program().maximise(poll_);
    if (!most.is_optimal()) return finished(most.is_infeasible());
    if (has_shares_) {
      trace_shares(sums, value_row, most);
    } else {
      trace_least(value_row, most);
    }
    return finished(false);
  }

 private:
  /// From the most value to that of the fairest plan.
  template <typename Plan>
  void trace(double most, double fairest, Plan&& plan) {
    const double span = most - fairest;
    const std::size_t steps = span > kSamePlan * most ? points_ : 1;
    for (std::size_t at = 0; at < steps && !poll_.should_stop_now(); ++at) {
      const double part = steps > 1 ? static_cast<double>(at) / static_cast<double>(steps - 1) : 0.0;
      add(plan(at == 0 ? most * (1 - kSamePlan) : most - part * span * (1 - kSamePlan)));
      if (options_.share_done) options_.share_done(static_cast<double>(at + 1) / static_cast<double>(steps));
    }
  }

  void trace_shares(const Sums& sums, std::size_t value_row, const Answer& most) {
    const double all = total(most.columns);
    if (!(all > 0)) return add(most.columns);
    const ShareProgram::Best fair = ShareProgram(service_, sums, kLeastPart * all, 0, {}).solve(poll_);
    if (fair.columns.empty()) return add(most.columns);
    is_proven_ = is_proven_ && fair.is_proven;
    // Shares that can be had to within what errors are found to can be had exactly.
    const std::span<const double> wanted = problem_.system.shares();
    const double error =
        std::inner_product(fair.shares.begin(), fair.shares.end(), wanted.begin(), 0.0, std::plus<>(),
                           [](double share, double p) { return (share - p) * (share - p); });
    const std::vector<double> shares =
        error <= 10 * kLeastError ? std::vector<double>(wanted.begin(), wanted.end()) : fair.shares;
    const double fairest = most_value_with(sums, shares).value_or(service_.value(fair.columns));
    std::vector<double> last;
    trace(most.value, fairest, [&](double value) {
      service_.program().set_row(value_row, value, kInfinity);
      ShareProgram::Best best = ShareProgram(service_, sums, least_total(sums), value, last).solve(poll_);
      if (best.is_rounded) {
        ShareProgram::Best larger = ShareProgram(service_, sums, kLeastPart * all, value, last).solve(poll_);
        if (!larger.columns.empty()) best = std::move(larger);
      }
      last = best.shares;
      service_.program().set_row(value_row, -kInfinity, kInfinity);
      is_proven_ = is_proven_ && best.is_proven;
      return std::move(best.columns);
    });
  }

  /// Completions that every plan has that keeps all rows: a little less, so that none is excluded.
  double least_total(const Sums& sums) {
    service_.program().clear_gains();
    for (const auto& terms : sums.by_type) {
      for (const auto& [column, rate] : terms) service_.program().set_gain(column, -rate);
    }
    const Answer answer = service_.program().maximise(poll_);
    return answer.is_optimal() ? 0.5 * std::max(-answer.value, 1e-12 * total(answer.columns)) : kInfinity;
  }

  /// The most value of plans with these shares.
  std::optional<double> most_value_with(const Sums& sums, const std::vector<double>& shares) {
    ServiceProgram other(problem_);
    double all = 0;
    for (const auto& terms : sums.by_type) {
      for (const auto& [column, rate] : terms) all += rate * other.program().most(column);
    }
    std::vector<std::pair<std::size_t, double>> every;
    for (const auto& terms : sums.by_type) every.insert(every.end(), terms.begin(), terms.end());
    const std::size_t total_column = other.program().add_column(2 * all);
    other.program().add_entry(add_row(other.program(), every, 0, 0), total_column, -1);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      constexpr double kSlack = 1e-9;  // of all completions
      const std::size_t low = add_row(other.program(), sums.by_type[i], 0, kInfinity);
      other.program().add_entry(low, total_column, -std::max(0.0, shares[i] - kSlack));
      const std::size_t high = add_row(other.program(), sums.by_type[i], -kInfinity, 0);
      other.program().add_entry(high, total_column, -(shares[i] + kSlack));
    }
    other.aim_at_value();
    const Answer answer = other.program().maximise(poll_);
    return answer.is_optimal() ? std::optional(answer.value) : std::nullopt;
  }

  void trace_least(std::size_t value_row, const Answer& most) {
    double highest = kInfinity;  // level: no more than the scarcest has
    for (const auto& party : parties_) highest = std::min(highest, party.most / party.weight);
    if (!(highest > 0 && highest < kInfinity)) return add(most.columns);
    const std::size_t level = service_.program().add_column(2 * highest);
    for (const auto& party : parties_)
      service_.program().add_entry(service_.add_row_like(party, 0), level, -party.weight);
    service_.aim_at_column(level);
    const Answer fair = service_.program().maximise(poll_);
    if (!fair.is_optimal()) return add(most.columns);
    best_least_ = fair.value;
    const std::size_t level_row =
        add_row(service_.program(), {{level, 1.0}}, fair.value * (1 - kSamePlan), kInfinity);
    service_.aim_at_value();
    const Answer fairest = service_.program().maximise(poll_);
    service_.program().set_row(level_row, -kInfinity, kInfinity);
    service_.aim_at_column(level);
    trace(most.value, fairest.is_optimal() ? fairest.value : most.value, [&](double value) {
      service_.program().set_row(value_row, value, kInfinity);
      Answer answer = service_.program().maximise(poll_);
      is_proven_ =
          is_proven_ && answer.is_optimal() && answer.bound <= answer.value * (1 + kErrorPart) + kLeastError;
      return answer.is_optimal() ? std::move(answer.columns) : std::vector<double>{};
    });
  }

  double total(const std::vector<double>& columns) const {
    double sum = 0;
    for (const auto& one : service_.served())
      sum += problem_.system.rate(one.type, one.resource) * columns[one.column];
    return sum;
  }

  double least_served(const std::vector<double>& columns) const {
    double least = kInfinity;
    for (const auto& party : parties_) {
      double completed = 0;
      for (const auto& [column, rate] : party.terms) completed += rate * columns[column];
      least = std::min(least, completed / party.weight);
    }
    return parties_.empty() ? 0.0 : least;
  }

  /// Keeps the plan, if there is one and it is fairer than the last.
  void add(const std::vector<double>& columns) {
    if (columns.empty()) {
      is_proven_ = false;
      return;
    }
    ParetoPoint point;
    point.time_shares = service_.time_shares(columns);
    const Performance performance = evaluate_time_shares(problem_.system, point.time_shares);
    point.value = service_.value(columns);
    point.throughput = performance.throughput;
    point.rounds = service_.rounds(columns);
    point.least_served = least_served(columns);
    point.priority_error = has_shares_
                               ? performance.priority_error.value_or(0)
                               : std::max(0.0, best_least_ > 0 ? 1 - point.least_served / best_least_ : 0);
    std::vector<ParetoPoint>& points = frontier_.points;
    const bool has_shares = !has_shares_ || performance.priority_error;  // something is completed
    if (!points.empty() && !(has_shares && point.priority_error < points.back().priority_error)) return;
    points.push_back(std::move(point));
  }

  ParetoFrontier finished(bool is_infeasible) {
    frontier_.exhaustive = is_proven_ && !is_infeasible && !poll_.stopped();
    frontier_.outcome = is_infeasible
                            ? Outcome::kInfeasible
                            : detail::outcome_of(poll_, is_proven_ ? Outcome::kOptimal : Outcome::kConverged);
    if (!frontier_.points.empty()) frontier_.advised = frontier_.points[advised_point(frontier_.points)];
    if (options_.share_done && !poll_.stopped()) options_.share_done(1.0);
    return std::move(frontier_);
  }

  const Problem& problem_;
  const SolveOptions& options_;
  StopPoll poll_;
  ServiceProgram service_;
  std::vector<ServiceProgram::Party> parties_;
  std::size_t points_;
  bool has_shares_;
  bool is_proven_ = true;
  double best_least_ = 0;
  ParetoFrontier frontier_;
};

}  // namespace

ParetoFrontier pareto_planned(const Problem& problem, std::size_t max_points, const SolveOptions& options) {
  if (max_points < 2) throw InvalidModel("points", "must be at least 2");
  if (problem.system.population() == 0 && problem.threads.empty())
    throw InvalidModel("tasks", "no type has threads, so there is nothing to trade");
  return PlannedFrontier(problem, max_points, options).run();
}

}  // namespace allot
