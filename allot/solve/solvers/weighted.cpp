// Weighted service: exact shares by linear programming.
//
// When a resource may divide its time unevenly, the unknowns are time shares f_ij, the mean number of units
// of resource j that work on type i, and the shares become linear:
//
//     maximise X   subject to   sum_j mu_ij f_ij = p_i X,   sum_i f_ij <= c_j,   sum_j f_ij <= N_i .
//
// A thread is at one place at a time, so there must also be whole numbers n_ij >= f_ij that sum to N_i over
// j: where the programme's vertex has none, the counts are branched on. The floor reading first raises the
// level s with X_i >= p_i s as far as it goes, then X.
#include <algorithm>
#include <cmath>
#include <queue>
#include <string>
#include <vector>

#include "allot/solve/detail/linear_program.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::kInfinity;
using detail::LinearProgram;

/// Time shares below this are rounding.
constexpr double kTiny = 1e-9;

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

/// A pair that can run, as variables of the programme.
struct Pair {
  TaskType i{};
  ResourceId j{};
};

/// Bounds on the counts n_ij in one part of the search.
struct Part {
  std::vector<double> least;
  std::vector<double> most;
  // Of the part it came from: no better level is in it, and at that level no better throughput.
  double level = kInfinity;
  double throughput = kInfinity;
};

/// Levels that differ by less than this, relative, are the same: rounding in the programme.
constexpr double kSameLevel = 1e-9;

/// Whether one answer is better than another: first by level, then by throughput.
bool is_better(double level, double throughput, double other_level, double other_throughput) noexcept {
  const double margin = kSameLevel * std::max(std::abs(level), std::abs(other_level));
  if (level > other_level + margin) return true;
  if (level < other_level - margin) return false;
  return throughput > other_throughput * (1 + 1e-12);
}

struct Worse {
  bool operator()(const Part& a, const Part& b) const noexcept {
    return a.level != b.level ? a.level < b.level : a.throughput < b.throughput;
  }
};

struct Shares {
  double level = 0;  // X with exact shares, s with floors
  double throughput = 0;
  std::vector<double> time;  // per pair
};

/// The programme over f (per pair), n (per pair) and the level, with rates scaled to at most 1.
class Programme {
 public:
  Programme(const System& system, ShareReading reading, const std::vector<Pair>& pairs)
      : system_(system), pairs_(pairs) {
    for (const Pair& pair : pairs) scale_ = std::max(scale_, system.rate(pair.i, pair.j));
    if (!(scale_ > 0)) scale_ = 1;
    const bool exact = reading == ShareReading::kExact;
    for (std::size_t i = 0; i < system.type_count(); ++i)
      share_rows_.push_back(lp_.add_row(0, exact ? 0 : kInfinity));
    for (const ResourceId j : system.resource_ids()) {
      capacity_rows_.push_back(lp_.add_row(-kInfinity, static_cast<double>(system.resource(j).servers)));
    }
    for (const TaskType i : system.types()) {
      const double n = static_cast<double>(system.count(i));
      thread_rows_.push_back(lp_.add_row(n, n));
    }
    for (const TaskType i : system.types())
      floor_rows_.push_back(lp_.add_row(system.floor(i) / scale_, kInfinity));
    const int room_rows = lp_.add_rows(pairs.size(), -kInfinity, 0);
    const int throughput_row = lp_.add_row(-kInfinity, kInfinity);
    LinearProgram::Batch columns;
    for (std::size_t at = 0; at < pairs.size(); ++at) {
      const Pair& pair = pairs[at];
      const double rate = system.rate(pair.i, pair.j) / scale_;
      times_.push_back(static_cast<int>(columns.size()));
      columns.begin_column(0);
      columns.entry(share_rows_[index(pair.i)], rate);
      columns.entry(capacity_rows_[index(pair.j)], 1);
      columns.entry(floor_rows_[index(pair.i)], rate);
      columns.entry(room_rows + static_cast<int>(at), 1);
      columns.entry(throughput_row, rate);
    }
    for (std::size_t at = 0; at < pairs.size(); ++at) {
      counts_.push_back(static_cast<int>(columns.size()));
      columns.begin_column(0);
      columns.entry(thread_rows_[index(pairs[at].i)], 1);
      columns.entry(room_rows + static_cast<int>(at), -1);
    }
    lp_.add_columns(std::move(columns));
    std::vector<int> rows;
    std::vector<double> values;
    for (const TaskType i : system.types()) {
      if (system.shares()[index(i)] == 0) continue;
      rows.push_back(share_rows_[index(i)]);
      values.push_back(-system.shares()[index(i)]);
    }
    level_ = lp_.add_column(-1, 0, kInfinity, rows, values);
    two_stage_ = !exact;
  }

  /// What the last `solve` took.
  std::uint64_t steps() const noexcept { return steps_; }

  /// The best time shares in the part; nothing when there are none.
  bool solve(const Part& part, Shares& shares, StopPoll& poll) {
    steps_ = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at)
      lp_.set_column(counts_[at], part.least[at], part.most[at]);
    if (two_stage_) {  // the level first
      lp_.set_column(level_, 0, kInfinity);
      set_costs(-1, 0);
    }
    if (!solve_programme(poll)) return false;
    shares.level = lp_.columns()[static_cast<std::size_t>(level_)] * scale_;
    if (two_stage_) {  // then the throughput, the level kept
      first_duals_.assign(lp_.duals().begin(), lp_.duals().end());
      const double kept = shares.level / scale_;
      lp_.set_column(level_, kept * (1 - 1e-12), kInfinity);
      set_costs(0, -1);
      if (!solve_programme(poll)) return false;
    }
    shares.time.assign(pairs_.size(), 0.0);
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const double f = lp_.columns()[static_cast<std::size_t>(times_[at])];
      shares.time[at] = f > kTiny ? f : 0.0;
    }
    shares.throughput = throughput_of(shares.time);
    return true;
  }

  /// Sentences about the constraints with a price in the last solution.
  std::vector<std::string> binding() const {
    const auto last = lp_.duals();
    const std::vector<double> duals =
        two_stage_ ? first_duals_ : std::vector<double>(last.begin(), last.end());
    std::vector<std::string> sentences;
    for (const ResourceId j : system_.resource_ids()) {
      if (std::abs(duals[static_cast<std::size_t>(capacity_rows_[index(j)])]) > 1e-9) {
        sentences.push_back("resource " + in_quotes(system_.resource(j).name) + " is busy all the time");
      }
    }
    for (const TaskType i : system_.types()) {
      if (system_.count(i) > 0 && std::abs(duals[static_cast<std::size_t>(thread_rows_[index(i)])]) > 1e-9) {
        sentences.push_back("all " + std::to_string(system_.count(i)) + " threads of " +
                            in_quotes(system_.task(i).name) + " are running");
      }
      if (std::abs(duals[static_cast<std::size_t>(floor_rows_[index(i)])]) > 1e-9) {
        sentences.push_back("the floor of " + in_quotes(system_.task(i).name) + " holds it back");
      }
    }
    return sentences;
  }

  double throughput_of(const std::vector<double>& time) const {
    double x = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at)
      x += time[at] * system_.rate(pairs_[at].i, pairs_[at].j);
    return x;
  }

 private:
  bool solve_programme(StopPoll& poll) {
    const LinearProgram::Status status = lp_.solve(&poll);
    steps_ += lp_.steps();
    return status == LinearProgram::Status::kOptimal;
  }

  void set_costs(double level, double throughput) {
    lp_.set_cost(level_, level);
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      lp_.set_cost(times_[at], throughput * system_.rate(pairs_[at].i, pairs_[at].j) / scale_);
    }
  }

  const System& system_;
  const std::vector<Pair>& pairs_;
  LinearProgram lp_;
  double scale_ = 0;
  std::uint64_t steps_ = 0;
  bool two_stage_ = false;
  int level_ = 0;
  std::vector<int> share_rows_;
  std::vector<int> capacity_rows_;
  std::vector<int> thread_rows_;
  std::vector<int> floor_rows_;
  std::vector<int> times_;
  std::vector<int> counts_;
  std::vector<double> first_duals_;
};

class WeightedSearch {
 public:
  WeightedSearch(const System& system, const SolveOptions& options)
      : system_(system), options_(options), poll_(options.stop, 1) {
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0) continue;
      for (const ResourceId j : system.resources_for(i)) pairs_.push_back({i, j});
    }
  }

  Solution run() {
    if (std::string reason = share_without_threads(); !reason.empty()) return infeasible(std::move(reason));
    Programme programme(system_, options_.shares, pairs_);
    Part root;
    root.least.assign(pairs_.size(), 0.0);
    for (const Pair& pair : pairs_) root.most.push_back(static_cast<double>(system_.count(pair.i)));
    std::priority_queue<Part, std::vector<Part>, Worse> open;
    open.push(std::move(root));
    bool found = false;
    bool first = true;
    Solution solution;
    Shares best;
    while (!open.empty()) {
      if (poll_.should_stop_now()) break;
      Part part = open.top();
      open.pop();
      if (found && !is_better(part.level, part.throughput, best.level, best.throughput)) continue;
      Shares shares;
      const bool solved = programme.solve(part, shares, poll_);
      poll_.spend(programme.steps());
      if (solved && first) solution.binding = programme.binding();
      first = false;
      if (poll_.stopped()) break;
      if (!solved) continue;
      part.level = shares.level;
      part.throughput = shares.throughput;
      if (found && !is_better(part.level, part.throughput, best.level, best.throughput)) continue;
      Assignment counts;
      std::size_t split = 0;
      if (realise(part, shares, counts, split)) {
        found = true;
        best = shares;
        solution.assignment = std::move(counts);
        continue;
      }
      if (too_shallow_) {
        if (close(part, *too_shallow_)) open.push(std::move(part));
        continue;
      }
      if (split == pairs_.size()) continue;
      Part low = part;
      low.most[split] = std::floor(shares.time[split]);
      Part high = std::move(part);
      high.least[split] = std::ceil(shares.time[split]);
      open.push(std::move(low));
      open.push(std::move(high));
    }
    if (!found) {
      if (poll_.stopped()) {
        solution = infeasible("no realisable time shares were found in time");
        solution.outcome = detail::outcome_of(poll_);
        return solution;
      }
      if (closed_for_depth_) {
        return infeasible(
            "found no time shares that keep every least depth; they are searched for, not proven");
      }
      return infeasible(missed_floor());
    }
    const bool resolved = settle(best, solution);
    if (!resolved) {
      solution.reason = "rates differ by so much that the time shares of some type are lost in rounding";
    }
    const bool proven = resolved && !closed_for_depth_;
    solution.outcome = detail::outcome_of(poll_, proven ? Outcome::kOptimal : Outcome::kConverged);
    solution.proven_optimal =
        options_.shares == ShareReading::kExact && solution.outcome == Outcome::kOptimal;
    return solution;
  }

 private:
  std::string share_without_threads() const {
    for (const TaskType i : system_.types()) {
      if (system_.shares()[index(i)] > 0 && system_.count(i) == 0) {
        return "task type " + in_quotes(system_.task(i).name) + " is to have a share of " +
               number(system_.shares()[index(i)]) + ", but its count is 0: give it a thread or priority 0";
      }
    }
    return {};
  }

  Solution infeasible(std::string reason) const {
    Solution solution;
    solution.assignment = home_assignment(system_);
    solution.outcome = Outcome::kInfeasible;
    solution.reason = std::move(reason);
    return solution;
  }

  /// Which floor cannot be met, with the most that its type can complete when it has the machine to itself.
  std::string missed_floor() const {
    std::optional<TaskType> tightest;
    double tightness = 0;
    for (const TaskType i : system_.types()) {
      double most = 0;
      double left = static_cast<double>(system_.count(i));
      std::vector<ResourceId> fastest(system_.resources_for(i).begin(), system_.resources_for(i).end());
      std::stable_sort(fastest.begin(), fastest.end(),
                       [&](ResourceId a, ResourceId b) { return system_.rate(i, a) > system_.rate(i, b); });
      for (const ResourceId j : fastest) {
        const double units = std::min(left, static_cast<double>(system_.resource(j).servers));
        most += units * system_.rate(i, j);
        left -= units;
      }
      if (most < system_.floor(i)) {
        return "the floor of " + in_quotes(system_.task(i).name) + " is " + number(system_.floor(i)) +
               " tasks/s, but its threads complete at most " + number(most) +
               " with the machine to themselves";
      }
      if (most > 0 && system_.floor(i) / most > tightness) {
        tightest = i;
        tightness = system_.floor(i) / most;
      }
    }
    if (tightest) {
      return "the floors cannot all be met together with the shares; the tightest is that of " +
             in_quotes(system_.task(*tightest).name) + ": " + number(100 * tightness) +
             "% of what its threads complete with the machine to themselves";
    }
    return "no whole numbers of tasks realise the shares with every least depth kept";
  }

  /// Does without a resource whose least depth cannot be kept. False when the part does so already.
  bool close(Part& part, ResourceId j) const {
    bool was_open = false;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_[at].j != j) continue;
      was_open |= part.most[at] > 0;
      part.least[at] = part.most[at] = 0;
    }
    return was_open;
  }

  /// Whole numbers n_ij >= f_ij with row sums N_i. Where a type needs more threads than it has, `split` is
  /// the pair to branch on.
  bool realise(const Part& part, Shares& shares, Assignment& counts, std::size_t& split) {
    counts.reset(system_.type_count(), system_.resource_count());
    too_shallow_.reset();
    split = pairs_.size();
    for (const TaskType i : system_.types()) {
      if (system_.count(i) == 0) continue;
      Count needed = 0;
      double worst = kTiny;
      for (std::size_t at = 0; at < pairs_.size(); ++at) {
        if (pairs_[at].i != i) continue;
        const double f = shares.time[at];
        const double n = std::max(part.least[at], std::ceil(f - kTiny));
        counts(i, pairs_[at].j) = static_cast<Count>(n);
        needed += static_cast<Count>(n);
        const double unused = n - f;  // of a thread that this pair keeps busy only in part
        if (f > kTiny && n > part.least[at] && unused > worst) {
          worst = unused;
          split = at;
        }
      }
      if (needed > system_.count(i)) return false;
      split = pairs_.size();
      spread_rest(i, part, shares, system_.count(i) - needed, counts);
    }
    return deepen(shares, counts);
  }

  /// Where threads of a starved type wait.
  ResourceId resting_place(const Part& part, TaskType i) const noexcept {
    std::optional<ResourceId> first_open;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_[at].i != i || part.most[at] == 0) continue;
      if (pairs_[at].j == *system_.home(i)) return pairs_[at].j;
      if (!first_open) first_open = pairs_[at].j;
    }
    return first_open.value_or(*system_.home(i));
  }

  /// The threads that no time share asks for go where the type's time shares are largest per thread.
  void spread_rest(TaskType i, const Part& part, const Shares& shares, Count rest, Assignment& counts) const {
    double total = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_[at].i == i) total += shares.time[at];
    }
    if (total <= kTiny) {  // starved: at home, or else at the first resource that is open to it
      counts(i, resting_place(part, i)) += rest;
      return;
    }
    Count left = rest;
    std::size_t busiest = pairs_.size();
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      if (pairs_[at].i != i || shares.time[at] <= kTiny) continue;
      const Count n = static_cast<Count>(static_cast<double>(rest) * shares.time[at] / total);
      counts(i, pairs_[at].j) += n;
      left -= n;
      if (busiest == pairs_.size() || shares.time[at] > shares.time[busiest]) busiest = at;
    }
    counts(i, pairs_[busiest].j) += left;
  }

  /// Brings spare threads to resources below their least depth. False, and too_shallow_ set, where there are
  /// too few.
  bool deepen(const Shares& shares, Assignment& counts) {
    for (const ResourceId j : system_.resource_ids()) {
      Count missing = system_.resource(j).min_depth - counts.column_sum(j);
      if (counts.column_sum(j) == 0 || missing <= 0) continue;
      for (std::size_t at = 0; at < pairs_.size() && missing > 0; ++at) {
        const TaskType i = pairs_[at].i;
        const ResourceId a = pairs_[at].j;
        if (a == j || !system_.can_run(i, j)) continue;
        const Count spare = std::min(counts(i, a) - static_cast<Count>(std::ceil(shares.time[at] - kTiny)),
                                     counts.column_sum(a) - system_.resource(a).min_depth);
        const Count n = std::min(spare, missing);
        if (n <= 0) continue;
        counts(i, a) -= n;
        counts(i, j) += n;
        missing -= n;
      }
      if (missing > 0) {
        closed_for_depth_ = true;
        too_shallow_ = j;
        return false;
      }
    }
    return true;
  }

  /// Makes the shares exact to the last digit and writes the matrix. False when some type that is to have a
  /// share has none left.
  bool settle(const Shares& best, Solution& solution) const {
    solution.time_shares.assign(system_.type_count() * system_.resource_count(), 0.0);
    std::vector<double> by_task(system_.type_count());
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      by_task[index(pairs_[at].i)] += best.time[at] * system_.rate(pairs_[at].i, pairs_[at].j);
    }
    double level = kInfinity;
    for (const TaskType i : system_.types()) {
      if (system_.shares()[index(i)] > 0)
        level = std::min(level, by_task[index(i)] / system_.shares()[index(i)]);
    }
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const std::size_t i = index(pairs_[at].i);
      const double share = system_.shares()[i];
      // The programme meets the shares to its tolerance; scaling every type down to the lowest makes them
      // exact.
      const double factor = options_.shares == ShareReading::kFloor ? 1.0
                            : share > 0 && by_task[i] > 0           ? share * level / by_task[i]
                                                                    : 0.0;
      solution.time_shares[i * system_.resource_count() + index(pairs_[at].j)] = best.time[at] * factor;
    }
    for (const TaskType i : system_.types()) {
      if (system_.count(i) > 0 && system_.shares()[index(i)] == 0 && by_task[index(i)] <= kTiny) {
        solution.reason += (solution.reason.empty() ? "" : "; ") +
                           ("task type " + in_quotes(system_.task(i).name)) +
                           " has priority 0 and is starved";
      }
    }
    return level > 0;
  }

  const System& system_;
  const SolveOptions& options_;
  StopPoll poll_;
  std::vector<Pair> pairs_;
  std::optional<ResourceId> too_shallow_;
  bool closed_for_depth_ = false;  // then a better answer may exist that keeps the resource
};

Solution weighted_search(const Problem& problem, const SolveOptions& options) {
  return WeightedSearch(problem.system, options).run();
}

}  // namespace

extern const SolverInfo weighted;
const SolverInfo weighted{"weighted", "exact shares by uneven service: time shares from a linear programme",
                          false, true, weighted_search};

}  // namespace allot::solvers
