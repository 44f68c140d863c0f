// The best content of one resource when every task has a price: the inner maximum of the Lagrangian bound.
//
// With a price lambda_i for each task of type i and a premium pi_i >= 0 for each completion of type i (the
// multiplier of its floor), the best content of resource j is
//
//     max over x of  sum_i (v_i + pi_i) X_ij(x) - sum_i lambda_i x_i     (v_i: worth).
//
// For a given total m, ps makes this linear in x, so filling m places greedily is exact. For fcfs with one
// server and equal worths it is m / S - Lambda, convex in (S, Lambda), so an optimum is among the greedy
// fillings by lambda_i + theta / mu_ij. Where worths or premiums differ, U / S - Lambda is not convex:
// anything above the least worth is paid as if S had its smallest value, which is an upper bound that
// branching on the content makes exact. Over all totals, ranges that cannot hold the maximum are skipped:
// harmonic means are below arithmetic ones, and a mean taken over fewer places is never smaller.
//
// A waiting fcfs queue with several servers has no formula, but at most c of its tasks are in service, so for
// every theta >= 0 it completes at most theta c + sum_i max(mu_ij - theta, 0) x_i: the least of these is an
// upper bound, and exact if all tasks have one rate.
//
// If tasks have needs, which must be on this resource alone, all contents are enumerated (column_table.hpp).
//
// All values are safe: rounding never makes them smaller than the exact maximum.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/detail/column_table.hpp"

namespace allot::detail {

/// Whole numbers from first to last.
struct Interval {
  Count first = 0;
  Count last = 0;
};

/// What a resource may hold within one part of the search: which totals, and how many of each type.
struct ColumnDomain {
  std::vector<Interval> totals;  ///< disjoint, ascending
  std::vector<Count> lower;      ///< per type of the pricer; empty: all 0
  std::vector<Count> upper;      ///< per type of the pricer; empty: all tasks of the type

  bool empty() const noexcept { return totals.empty(); }
};

/// Prices per task type: lambda (any sign) and pi (>= 0; empty: all 0).
struct Prices {
  std::vector<double> task;
  std::vector<double> completion;
};

class ColumnPricer {
 public:
  ColumnPricer(const System& system, ResourceId j);

  /// The types that can be here, in index order; contents below are given in this order.
  std::span<const TaskType> types() const noexcept { return types_; }
  /// All totals that the minimum depth and the population allow.
  ColumnDomain whole_domain() const;

  /// What each content completes, if tasks have needs; otherwise null.
  const ColumnTable* table() const noexcept { return table_ ? &*table_ : nullptr; }

  struct Best {
    double value = 0;
    Count total = 0;
    std::vector<Count> content;  ///< per type of the pricer
  };

  /// The maximum over the domain, or slightly more: never less. False when the domain allows no content.
  /// `hint`: a total worth trying first. For fcfs resources with completion prices or several servers the
  /// value is an upper bound on the maximum. Once the poll says stop, the result is meaningless.
  bool best(const Prices& prices, const ColumnDomain& domain, Count hint, StopPoll& poll, Best& result);

  /// Removes from the domain totals whose value is safely below the threshold; none once the poll says stop.
  void keep_at_least(const Prices& prices, double threshold, StopPoll& poll, ColumnDomain& domain);

 private:
  struct Limits {
    Count least = 0;  ///< sum of the lower bounds
    Count most = 0;   ///< sum of the upper bounds
  };

  void prepare(const Prices& prices, const ColumnDomain& domain);
  double evaluate(Count total, std::vector<Count>* content);
  double evaluate_linear(Count total, std::vector<Count>* content);
  double evaluate_harmonic(Count total, std::vector<Count>* content);
  double evaluate_served(Count total, std::vector<Count>* content);
  double bound_served(Count first, Count last, std::vector<Count>* content);
  double fill_between(Count first, Count last, std::vector<Count>* content);
  double bound(Count first, Count last);
  bool best_of_table(const ColumnDomain& domain, StopPoll& poll, Best& result);
  void keep_of_table(double threshold, StopPoll& poll, ColumnDomain& domain);
  ColumnTable::Query query() const { return {lower_, upper_, task_price_, completion_price_}; }
  double weight(Count total) const noexcept;
  double error(double best) const noexcept;
  double least_seconds(Count total) const noexcept;
  void sort_by_key() noexcept;

  Count servers_;
  Count min_depth_;
  bool harmonic_;        // fcfs with one server: harmonic means for totals above 1
  bool served_ = false;  // fcfs with several servers, and tasks of different rates may wait
  std::optional<ColumnTable> table_;
  std::vector<TaskType> types_;
  std::vector<double> rates_;
  std::vector<double> worths_;
  double least_worth_ = 0;
  std::vector<double> seconds_;
  std::vector<Count> counts_;
  std::vector<std::uint32_t> by_speed_;
  Count reach_ = 0;
  double fastest_ = 0;

  // Set by prepare() for one call.
  std::vector<double> task_price_;
  std::vector<double> gain_;       // of a task that completes mu_i per second: (v_i + pi_i) mu_i
  std::vector<double> most_gain_;  // of a task in any state, per unit of weight
  std::vector<double> premium_;    // pi_i, and what the worth is above the least
  bool has_premium_ = false;
  std::vector<double> completion_price_;  // pi_i, for the table; empty: all 0
  double paid_ = 0;                       // at most, by the tasks that may be here and have a price above 0
  double earned_ = 0;                     // at most, by those with a price below 0
  double brought_in_ = 0;                 // at most, by all
  std::vector<Count> lower_;
  std::vector<Count> upper_;
  Limits limits_;
  std::vector<double> key_;
  std::vector<std::uint32_t> order_;
  std::uint64_t effort_ = 0;    // steps not yet reported to a poll
  std::vector<double> slopes_;  // one theta between each pair of neighbouring crossings
};

}  // namespace allot::detail
