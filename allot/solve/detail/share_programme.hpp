// The linear program of weighted service: how far shares can be raised within one part of the search, and
// prices that prove it.
//
//     maximise X   subject to   sum_j mu_ij f_ij = p_i X,   sum_i f_ij <= c_j,   f_ij <= n_ij,   sum_j n_ij =
//     N_i
//
// Its variables are completions in units of what each type should have near the best level, so all that
// matter are of the order of 1, however far apart the rates are. Floors and minimum depths that cannot be met
// are paid for, so there is always a solution, and its prices show why nothing is better. With exact shares a
// floor is only a least level, which the caller checks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "allot/base/stop.hpp"
#include "allot/model/assignment.hpp"
#include "allot/model/system.hpp"
#include "allot/solve/detail/linear_program.hpp"
#include "allot/solve/options.hpp"
#include "allot/solve/proof.hpp"

namespace allot::detail {

/// A type on a resource that can run it.
struct Pair {
  TaskType i{};
  ResourceId j{};
};

/// Whether a resource with a minimum depth is in use, where that has been decided.
enum class Use : signed char { kOpen, kClosed, kUndecided };

/// Bounds on the counts n_ij in one part of the search.
struct SharePart {
  std::vector<double> least;  ///< per pair
  std::vector<double> most;   ///< per pair
  std::vector<Use> use;       ///< per resource
  // Of the part it came from: it holds no better level and, at that level, no better throughput.
  double level = kInfinity;
  double throughput = kInfinity;
  std::size_t proof = 0;
};

struct Shares {
  double level = 0;  ///< X with exact shares, s with floors
  double throughput = 0;
  std::vector<double> time;    ///< per pair
  std::vector<double> counts;  ///< per pair: n, which need not be whole
  bool complete = false;       ///< no floor or depth was missed
};

class ShareProgramme {
 public:
  /// The pairs are sorted by type and must outlive the program.
  ShareProgramme(const System& system, ShareReading reading, const std::vector<Pair>& pairs);

  /// The best time shares in the part; false if stopped, or if rounding prevents an answer.
  bool solve(const SharePart& part, Shares& shares, StopPoll& poll);
  /// What the last `solve` took.
  std::uint64_t steps() const noexcept { return steps_; }
  /// Sentences about the constraints with a price in the last solution, if they also hold for the whole
  /// numbers of tasks and the time shares (one row per type) that were made from it.
  std::vector<std::string> binding(const Assignment& counts, std::span<const double> time_shares) const;

  /// Prices that bound X in every part.
  ProofPrices plain_prices() const;
  /// The prices of the last solution (exact reading).
  ProofPrices prices() const;
  /// Turns prices that bound X below what the floor of type k asks for into prices that show a contradiction.
  /// `excess`: how much of the level is taken from the shares and charged to the floor.
  ProofPrices against_floor(ProofPrices prices, TaskType k, double excess) const;
  /// No time shares in the part that keep the shares exactly complete more than this; rounding never makes it
  /// smaller. Minus infinity if the bounds of the part leave no counts at all.
  double bound(const SharePart& part, const ProofPrices& prices) const;

 private:
  void build();
  void bound_columns(const SharePart& part);
  bool run(StopPoll& poll);
  double missed() const;
  double most_alone(TaskType i) const;
  void scale(ProofPrices& prices, double factor) const;
  void set_costs(double level, double throughput);

  const System& system_;
  std::span<const Pair> pairs_of(TaskType i) const noexcept {
    return std::span(pairs_).subspan(first_pair_[index(i)],
                                     first_pair_[index(i) + 1] - first_pair_[index(i)]);
  }

  const std::vector<Pair>& pairs_;
  std::vector<std::size_t> first_pair_;  // per type, and the end
  LinearProgram lp_;
  bool two_stage_;
  std::vector<double> unit_;  // per type: completions per second that are the unit of its variables
  double level_unit_ = 1;
  double throughput_unit_ = 1;
  double penalty_ = 4;
  std::uint64_t steps_ = 0;
  int level_ = 0;
  int share_rows_ = 0;
  int capacity_rows_ = 0;
  int thread_rows_ = 0;
  int floor_rows_ = 0;
  int depth_rows_ = 0;
  int room_rows_ = 0;
  std::vector<double> seconds_;  // per pair: time that one unit of completions takes
  std::vector<int> slacks_;
  std::vector<double> first_duals_;
};

}  // namespace allot::detail
