// Weighted service: exact shares by linear programming.
//
// When a resource may divide its time unevenly, the unknowns are time shares f_ij, the mean number of units
// of resource j that work on type i, and the shares become linear:
//
//     maximise X   subject to   sum_j mu_ij f_ij = p_i X,   sum_i f_ij <= c_j,   sum_j f_ij <= N_i .
//
// A thread is at one place at a time, so there must also be whole numbers n_ij >= f_ij that sum to N_i over
// j: if the program's vertex has none, the search branches on the counts. The floor reading first maximises
// the level s with X_i >= p_i s, then X.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <vector>

#include "allot/base/numbers.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/share_counts.hpp"
#include "allot/solve/detail/share_programme.hpp"
#include "allot/solve/detail/unmet_limits.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::kInfinity;
using detail::Pair;
using detail::ShareCounts;
using detail::ShareCut;
using detail::SharePart;
using detail::ShareProgramme;
using detail::Shares;
using detail::Use;

std::string in_quotes(const std::string& name) { return "'" + name + "'"; }

/// Levels that differ by less than this, relative, count as equal, because of rounding in the program.
constexpr double kSameLevel = 1e-9;
/// Exact shares: the search ignores answers that are not better by more than this, relative.
constexpr double kGap = 0.5e-9;

/// Whether one answer is better than another: first by level, then by throughput.
bool is_better(double level, double throughput, double other_level, double other_throughput) noexcept {
  const double margin = kSameLevel * std::max(std::abs(level), std::abs(other_level));
  if (level > other_level + margin) return true;
  if (level < other_level - margin) return false;
  return throughput > other_throughput * (1 + 1e-12);
}

struct Worse {
  bool operator()(const SharePart& a, const SharePart& b) const noexcept {
    return a.level != b.level ? a.level < b.level : a.throughput < b.throughput;
  }
};

constexpr Setting kShares{.name = "shares",
                          .help =
                              "each type gets exactly its share (default), or at least its share of the "
                              "highest common level",
                          .words = kShareWords};
constexpr const Setting* kSettings[] = {&kShares};

class WeightedSearch {
 public:
  WeightedSearch(const System& system, const SolveOptions& options)
      : system_(system),
        options_(options),
        reading_(options.settings.get<ShareReading>(kShares)),
        poll_(options.stop, 1) {
    for (const TaskType i : system.types()) {
      if (system.count(i) == 0) continue;
      for (const ResourceId j : system.resources_for(i)) {
        if (system.reach(j) >= system.resource(j).min_depth)
          pairs_.push_back({i, j});  // otherwise it stays closed
      }
    }
  }

  Solution run() {
    if (std::string reason = share_without_threads(); !reason.empty()) return infeasible(std::move(reason));
    ShareProgramme programme(system_, reading_, pairs_);
    SharePart root;
    root.least.assign(pairs_.size(), 0.0);
    for (const Pair& pair : pairs_) root.most.push_back(static_cast<double>(system_.count(pair.i)));
    for (const ResourceId j : system_.resource_ids()) {
      root.use.push_back(system_.reach(j) < system_.resource(j).min_depth ? Use::kClosed : Use::kUndecided);
    }
    proof_.parts.assign(1, {});
    close(root, programme.plain_prices());
    std::priority_queue<SharePart, std::vector<SharePart>, Worse> open;
    open.push(std::move(root));
    bool first = true;
    while (!open.empty() && !poll_.should_stop_now()) {
      SharePart part = open.top();
      open.pop();
      process(std::move(part), programme, first, open);
      first = false;
    }
    return answer(programme, !open.empty() || poll_.stopped());
  }

 private:
  std::string share_without_threads() const {
    for (const TaskType i : system_.types()) {
      if (system_.shares()[index(i)] > 0 && system_.count(i) == 0) {
        return "task type " + in_quotes(system_.task(i).name) + " should have a share of " +
               rounded_text(system_.shares()[index(i)], 6) +
               ", but its count is 0: give it a thread or priority 0";
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
        return detail::limit_name(system_, i) + " cannot be met: its threads complete at most " +
               rounded_text(most, 6) + " tasks/s even with the machine to themselves, not " +
               rounded_text(system_.floor(i), 6);
      }
      if (most > 0 && system_.floor(i) / most > tightness) {
        tightest = i;
        tightness = system_.floor(i) / most;
      }
    }
    if (tightest) {
      return "the shares and " + detail::limits_in_words(system_) +
             " cannot be met together; the tightest is " + detail::limit_name(system_, *tightest) + ": " +
             rounded_text(100 * tightness, 6) +
             "% of what its threads complete with the machine to themselves";
    }
    return "no whole numbers of tasks give the shares and meet every minimum depth";
  }

  // ---- the search

  using Open = std::priority_queue<SharePart, std::vector<SharePart>, Worse>;

  bool is_exact() const noexcept { return reading_ == ShareReading::kExact; }
  /// Nothing at or below this is of interest: no throughput is negative.
  double cutoff() const noexcept { return found_ ? value_ * (1 + kGap) : -1e-9 * scale_; }
  /// Exact shares: whether these prices show that the part holds nothing of interest. The program's own value
  /// is not a proof.
  bool closes(const SharePart& part, const ShareProgramme& programme, const ProofPrices& prices) {
    if (programme.bound(part, prices) > cutoff()) return false;
    close(part, prices);
    return true;
  }
  void close(const SharePart& part, const ProofPrices& prices) {
    if (options_.keep_proof) proof_.parts[part.proof].prices = {prices};
  }

  void process(SharePart part, ShareProgramme& programme, bool first, Open& open) {
    // Bounds of a part come from the part that was split; with floors there are no others.
    if (!is_exact() && found_ && !is_better(part.level, part.throughput, best_.level, best_.throughput))
      return;
    const ProofPrices plain = programme.plain_prices();
    scale_ = first ? programme.bound(part, plain) : scale_;
    if (is_exact() && closes(part, programme, plain)) return;
    if (programme.bound(part, plain) == -kInfinity) return;  // no counts at all
    Shares shares;
    const bool solved = programme.solve(part, shares, poll_);
    poll_.spend(programme.steps());
    if (poll_.stopped()) return;
    if (!solved) {
      unresolved_ = true;
      return;
    }
    const ProofPrices prices = is_exact() ? programme.prices() : plain;
    if (is_exact() && closes(part, programme, prices)) return;
    if (!is_exact()) {
      if (!shares.complete) return;
      if (found_ && !is_better(shares.level, shares.throughput, best_.level, best_.throughput)) return;
    }
    part.level = shares.level;
    part.throughput = shares.throughput;
    std::optional<ShareCut> cut;
    if (!shares.complete) {
      cut = counts_.widest(part);
    } else {
      Assignment counts;
      cut = counts_.realise(part, shares, counts);
      if (!cut) {
        take(shares, std::move(counts), programme);
        if (!is_exact() || closes(part, programme, prices)) return;
        cut = counts_.widest(part);
      }
    }
    if (cut && !counts_.divides(part, *cut)) cut = counts_.widest(part);
    if (!cut) {
      unresolved_ = true;  // only one way to place the threads, and rounding prevents a proof
      return;
    }
    split(std::move(part), *cut, prices, open);
  }

  /// Takes a better answer: settles it, and computes its value afterwards.
  void take(const Shares& shares, Assignment counts, const ShareProgramme& programme) {
    Solution settled;
    settled.assignment = std::move(counts);
    const bool has_level = settle(shares, settled);
    double value = 0;
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      value += settled.time_shares[index(pairs_[at].i) * system_.resource_count() + index(pairs_[at].j)] *
               system_.rate(pairs_[at].i, pairs_[at].j);
    }
    if (found_ && is_exact() && value <= value_) return;
    found_ = true;
    value_ = value;
    best_ = shares;
    // From the part where it was found: with fractions of tasks, other constraints may limit the throughput.
    settled.binding = programme.binding(settled.assignment, settled.time_shares);
    settled_ = std::move(settled);
    has_level_ = has_level;
  }

  Solution answer(const ShareProgramme& programme, bool stopped) {
    if (!found_) {
      if (stopped) {
        Solution solution = infeasible("no realisable time shares were found in time");
        solution.outcome = detail::outcome_of(poll_);
        return solution;
      }
      Solution solution = infeasible(missed_floor());
      if (unresolved_) solution.reason = "found no time shares that meet " + detail::limits_in_words(system_);
      if (is_exact() && !unresolved_) keep_proof(solution, std::nullopt);
      return solution;
    }
    if (const std::optional<TaskType> k = is_exact() ? highest_floor() : std::nullopt) {
      if (value_ < least_level(*k)) return below_floor(programme, *k);
    }
    Solution solution = std::move(settled_);
    if (!has_level_) {
      solution.reason = "rates differ so much that the time shares of some type are lost in rounding";
    }
    const bool proven = has_level_ && !unresolved_;
    solution.outcome = detail::outcome_of(poll_, proven ? Outcome::kOptimal : Outcome::kConverged);
    solution.proven_optimal = is_exact() && solution.outcome == Outcome::kOptimal;
    if (solution.proven_optimal) keep_proof(solution, cutoff());
    return solution;
  }

  // ---- floors: with exact shares, the throughput that they require

  double least_level(TaskType k) const noexcept {
    const double least = system_.floor(k) * (1 - kFloorTolerance);
    return system_.shares()[index(k)] > 0 ? least / system_.shares()[index(k)] : kInfinity;
  }

  std::optional<TaskType> highest_floor() const {
    std::optional<TaskType> highest;
    for (const TaskType i : system_.types()) {
      if (system_.floor(i) > 0 && (!highest || least_level(i) > least_level(*highest))) highest = i;
    }
    return highest;
  }

  /// The best answer that keeps the shares is below a floor.
  Solution below_floor(const ShareProgramme& programme, TaskType k) {
    Solution solution = infeasible(missed_floor());
    if (poll_.stopped() || unresolved_ || !has_level_ || cutoff() * (1 + 1e-12) >= least_level(k)) {
      solution.reason = "found no time shares that meet " + detail::limits_in_words(system_);
      if (poll_.stopped()) solution.outcome = detail::outcome_of(poll_);
      return solution;
    }
    // At most the cutoff, and at least the floor's level: twice the one is less than the difference's worth.
    const bool has_share = system_.shares()[index(k)] > 0;
    const double level = has_share ? least_level(k) : system_.floor(k);
    const double excess = 2 * std::max(cutoff(), 1e-6 * level) / (has_share ? level - cutoff() : level / 2);
    for (ProofPart& part : proof_.parts) {
      for (ProofPrices& prices : part.prices) prices = programme.against_floor(prices, k, excess);
    }
    keep_proof(solution, std::nullopt);
    return solution;
  }

  void keep_proof(Solution& solution, std::optional<double> bound) {
    if (!options_.keep_proof) return;
    proof_.bound = bound;
    solution.proof = std::make_shared<const Proof>(std::move(proof_));
  }

  void split(SharePart part, const ShareCut& cut, const ProofPrices& prices, Open& open) {
    SharePart low = part;
    SharePart high = part;
    if (cut.resource) {
      low.use[index(*cut.resource)] = Use::kClosed;
      high.use[index(*cut.resource)] = Use::kOpen;
    } else {
      low.most[cut.pair] = cut.at;
      high.least[cut.pair] = cut.at + 1;
    }
    if (options_.keep_proof) {
      low.proof = proof_.parts.size();
      high.proof = low.proof + 1;
      proof_.parts.resize(low.proof + 2);
      ProofSplit record;
      record.resource = cut.resource ? *cut.resource : pairs_[cut.pair].j;
      if (!cut.resource) record.type = pairs_[cut.pair].i;
      record.at = static_cast<Count>(cut.resource ? 0 : cut.at);
      record.low = low.proof;
      record.high = high.proof;
      proof_.parts[part.proof].split = record;
      proof_.parts[part.proof].prices.clear();
      close(low, prices);
      close(high, prices);
    }
    open.push(std::move(low));
    open.push(std::move(high));
  }

  /// Makes the time shares fit and the shares exact, and writes the matrix. False if some type that should
  /// have a share completes nothing.
  bool settle(const Shares& shares, Solution& solution) const {
    solution.time_shares.assign(system_.type_count() * system_.resource_count(), 0.0);
    // The program meets its limits to a tolerance: one factor makes all of them hold.
    double factor = 1;
    std::vector<double> busy(system_.resource_count());
    std::vector<double> by_task(system_.type_count());
    std::vector<double> time(pairs_.size());
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const auto [i, j] = pairs_[at];
      const double n = static_cast<double>(solution.assignment(i, j));
      if (n == 0) continue;
      time[at] = shares.time[at];
      busy[index(j)] += time[at];
      by_task[index(i)] += time[at] * system_.rate(i, j);
      factor = std::max(factor, time[at] / n);
    }
    for (const ResourceId j : system_.resource_ids()) {
      factor = std::max(factor, busy[index(j)] / static_cast<double>(system_.resource(j).servers));
    }
    double level = kInfinity;
    for (const TaskType i : system_.types()) {
      if (system_.shares()[index(i)] > 0)
        level = std::min(level, by_task[index(i)] / system_.shares()[index(i)]);
    }
    for (std::size_t at = 0; at < pairs_.size(); ++at) {
      const std::size_t i = index(pairs_[at].i);
      const double share = system_.shares()[i];
      // Scaling every type down to the lowest makes the shares exact.
      const double slower = !is_exact()                   ? 1.0
                            : share > 0 && by_task[i] > 0 ? share * level / by_task[i]
                                                          : 0.0;
      solution.time_shares[i * system_.resource_count() + index(pairs_[at].j)] = time[at] * slower / factor;
    }
    for (const TaskType i : system_.types()) {
      if (system_.count(i) > 0 && system_.shares()[index(i)] == 0 && by_task[index(i)] <= 0) {
        solution.reason += (solution.reason.empty() ? "" : "; ") +
                           ("task type " + in_quotes(system_.task(i).name)) +
                           " has priority 0 and is starved";
      }
    }
    return level > 0;
  }

  const System& system_;
  const SolveOptions& options_;
  const ShareReading reading_;
  StopPoll poll_;
  std::vector<Pair> pairs_;
  ShareCounts counts_{system_, pairs_};
  bool found_ = false;
  bool has_level_ = false;
  bool unresolved_ = false;  // some part could not be judged: nothing is proven
  double value_ = 0;         // throughput of the best answer
  double scale_ = 1;         // an upper limit on the throughput
  Shares best_;
  Solution settled_;
  Proof proof_;
};

Solution weighted_search(const Problem& problem, const SolveOptions& options) {
  return WeightedSearch(problem.system, options).run();
}

}  // namespace

extern const SolverInfo weighted;
const SolverInfo weighted{
    .name = "weighted",
    .summary = "exact shares by weighted service, from a linear program",
    .minimises_priority_error = true,
    .search = weighted_search,
    .settings = kSettings,
    .instead_with_needs = "'planned' (--service planned), or 'mis' or 'local' for even sharing"};

}  // namespace allot::solvers
