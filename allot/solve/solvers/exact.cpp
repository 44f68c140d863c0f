// Exact throughput by branch and price: an answer, and a proof of how good it is.
//
// Every part of the search restricts what each resource may hold: which totals and, if that is not enough,
// how many of a type. The configuration bound over these domains says how good the part can be; a part that
// cannot beat the best assignment known is dropped, another is split where the bound's linear program mixes
// contents. Under ps a part in which every resource has one total is a transportation problem, whose linear
// program has integer solutions, so branching on totals alone suffices; fcfs and floors need the counts too.
// A part is dropped only by a safe bound at known prices, and these prices are the proof.
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/solve/detail/branching.hpp"
#include "allot/solve/detail/configuration_bound.hpp"
#include "allot/solve/detail/joined_search.hpp"
#include "allot/solve/detail/linear_program.hpp"
#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/detail/unmet_limits.hpp"
#include "allot/solve/detail/whole_tasks.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::ColumnDomain;
using detail::ConfigurationBound;
using detail::Interval;
using detail::kInfinity;
using detail::Prices;

/// A relative gap up to this counts as closed; the rest up to 1e-9 is for rounding in the throughput itself.
constexpr double kProven = 0.999e-9;

constexpr int kRootRounds = 2000;
constexpr int kNodeRounds = 60;

/// A part of the search.
struct Node {
  double bound = kInfinity;
  std::vector<ColumnDomain> domains;
  Prices prices;
  std::size_t part = 0;      // of the proof
  bool indivisible = false;  // one assignment, whose throughput has no exact formula
};

struct LowerBound {
  bool operator()(const Node& a, const Node& b) const noexcept { return a.bound < b.bound; }
};

/// The parts that wait, best bound first.
using Open = std::priority_queue<Node, std::vector<Node>, LowerBound>;

/// Cuts a domain in two: totals up to `at` and totals above.
void keep_totals(ColumnDomain& domain, Count first, Count last) {
  std::vector<Interval> kept;
  for (const Interval& interval : domain.totals) {
    const Interval cut{std::max(interval.first, first), std::min(interval.last, last)};
    if (cut.first <= cut.last) kept.push_back(cut);
  }
  domain.totals = std::move(kept);
}

class BranchAndPrice {
 public:
  BranchAndPrice(const Problem& problem, const SolveOptions& options)
      : system_(problem.system),
        options_(options),
        poll_(options.stop, 32),
        bound_(system_, poll_),
        search_(poll_) {}

  Solution run() {
    Solution solution;
    find_first_answer();
    explore();
    solution.assignment = incumbent_ ? *incumbent_ : home_assignment(system_);
    solution.outcome = detail::outcome_of(poll_, Outcome::kOptimal);
    if (!has_answer()) {
      if (unresolved_) {
        solution.outcome = Outcome::kInfeasible;
        solution.reason =
            "found no assignment that meets " + detail::limits_in_words(system_) +
            "; it is not proven that there is none, as tasks of different rates at an fcfs resource with "
            "several servers have no exact formula";
      } else if (solution.outcome == Outcome::kOptimal) {
        solution.outcome = Outcome::kInfeasible;
        solution.reason = "proven: " + detail::no_assignment_meets(system_, solution.assignment);
        keep_proof(solution);
      } else {
        solution.reason =
            "no assignment that meets " + detail::limits_in_words(system_) + " was found in time";
      }
      return solution;
    }
    // If there was no time for a better bound: every server busy with its fastest type.
    if (!std::isfinite(upper_)) upper_ = bound_.scale() * (1 + 1e-12);
    upper_ = std::max({upper_, settled_, value_});
    solution.upper_bound = upper_;
    report();
    keep_proof(solution);
    if (evaluate(system_, *incumbent_).approximate) {
      if (solution.outcome == Outcome::kOptimal) solution.outcome = Outcome::kConverged;
      solution.reason = !detail::has_inexact_queues(system_)
                            ? detail::kFluidLevels
                            : "nothing is proven about this assignment: tasks of different rates wait at an "
                              "fcfs resource with several servers, which has no exact formula";
    } else if (*solution.upper_bound <= value_ + kProven * value_) {
      solution.proven_optimal = true;
      solution.outcome = Outcome::kOptimal;
    } else if (solution.outcome == Outcome::kOptimal) {
      solution.outcome = Outcome::kConverged;  // as close as requested
    }
    return solution;
  }

 private:
  bool has_answer() const noexcept { return incumbent_ && value_ > -kInfinity; }
  /// Nothing at or below this is of interest. Without an answer, it is slightly below zero: no throughput is
  /// negative, so a part with a negative bound has no feasible assignment.
  double cutoff() const noexcept {
    if (!has_answer()) return -1e-6 * bound_.scale();
    // For gaps that count as closed, leaves room for rounding.
    return value_ * (1 + (options_.gap_tolerance > 1e-9 ? options_.gap_tolerance
                                                        : std::min(options_.gap_tolerance, 0.9 * kProven)));
  }

  /// Records that a part with at most this bound is dropped.
  void settle(double bound) noexcept { settled_ = std::max(settled_, bound); }

  // The proof, if requested: what closes each part, and how the others were split.
  static ProofPrices as_proof(const Prices& prices) { return {prices.task, prices.completion, {}, {}}; }
  void close(std::size_t part, const Prices& prices) {
    if (options_.keep_proof) parts_[part].prices = {as_proof(prices)};
  }
  /// Adds two new parts for the sides of the split; returns the lower one.
  std::size_t split(const Node& node, ResourceId j, std::optional<TaskType> i, Count at) {
    if (!options_.keep_proof) return 0;
    const std::size_t low = parts_.size();
    parts_[node.part].prices = {as_proof(node.prices)};
    parts_[node.part].split = ProofSplit{j, i, at, low, low + 1};
    parts_.resize(low + 2);
    return low;
  }
  void keep_proof(Solution& solution) {
    if (!options_.keep_proof) return;
    solution.proof = std::make_shared<const Proof>(Proof{solution.upper_bound, std::move(parts_)});
  }

  /// Takes the assignment if it is feasible and better.
  void consider(const Assignment& assignment) {
    const Performance performance = evaluate(system_, assignment);
    const bool feasible =
        is_placement(system_, assignment) && floor_shortfall(system_, performance.throughput_by_task) == 0;
    if (!incumbent_) incumbent_ = assignment;  // the answer in case nothing feasible is found
    if (!feasible || (has_answer() && performance.value <= value_)) return;
    incumbent_ = assignment;
    value_ = performance.value;
    bound_.add_assignment(assignment);
    report();
  }

  void report() const {
    if (options_.progress) {
      options_.progress({has_answer() ? std::optional(value_) : std::nullopt,
                         std::isfinite(upper_) ? std::optional(upper_) : std::nullopt});
    }
  }

  void find_first_answer() {
    if (const SolverInfo* local = find_solver("local")) {
      const Solution first = local->search(Problem{system_, Objective::kThroughput}, options_);
      if (first.outcome != Outcome::kInfeasible) consider(first.assignment);
    }
  }

  /// Descends from an assignment that keeps depths, or can be made to.
  void polish(Assignment assignment) {
    if (!detail::keep_depths(system_, assignment)) return;
    state_.reset(system_, Objective::kThroughput, assignment);
    search_.descend(state_);
    consider(state_.assignment());
  }

  /// Whether every resource's throughput is linear in its content once its total is known, and nothing else
  /// constrains the types: ps, or fcfs where no task ever waits, and no floors or needs.
  bool totals_decide() const noexcept {
    if (system_.has_floors() || system_.has_needs()) return false;
    for (const ResourceId j : system_.resource_ids()) {
      const Resource& resource = system_.resource(j);
      if (resource.discipline == Discipline::kFcfs && system_.reach(j) > resource.servers) return false;
    }
    return true;
  }

  void explore() {
    Open open;
    Node root;
    root.domains = bound_.whole_domains();
    root.prices = bound_.zero_prices();
    parts_.assign(1, {});
    search(std::move(root), open);
    for (; options_.keep_proof && !open.empty(); open.pop()) close(open.top().part, open.top().prices);
  }

  void search(Node root, Open& open) {
    upper_ = kInfinity;
    close(0, root.prices);
    if (poll_.stopped()) return;
    process(std::move(root), open, true);
    if (poll_.stopped()) return;  // whatever the root proved is in upper_
    while (!open.empty()) {
      if (open.top().bound < upper_) {
        upper_ = open.top().bound;
        report();
      }
      if (upper_ <= cutoff()) {
        settle(upper_);
        break;
      }
      if (open.top().indivisible) {  // nothing can lower this bound, and it is the largest
        unresolved_ = true;
        return;
      }
      if (poll_.should_stop_now()) return;
      Node node = open.top();
      open.pop();
      close(node.part, node.prices);  // in case the search is stopped
      process(std::move(node), open, false);
      if (poll_.stopped()) return;  // the part in progress is lost, but its bound still holds
    }
    upper_ = settled_;
  }

  void process(Node node, Open& open, bool is_root) {
    std::function<void(double)> watch;
    if (is_root && options_.progress) {
      watch = [this](double bound) {
        upper_ = bound;
        report();
      };
    }
    ConfigurationBound::Result result =
        bound_.lower(node.domains, node.prices, cutoff(), is_root ? kRootRounds : kNodeRounds, watch);
    if (poll_.stopped() && !is_root && result.bound > node.bound) return;
    node.bound = result.bound;
    node.prices = result.prices;
    close(node.part, node.prices);
    if (is_root) {
      upper_ = result.bound;
      report();
    }
    if (result.end == ConfigurationBound::End::kBelowCutoff ||
        result.end == ConfigurationBound::End::kEmpty) {
      settle(result.bound);
      return;
    }
    if (poll_.stopped()) return;
    try_support(result);
    if (node.bound <= cutoff()) {
      settle(node.bound);
      return;
    }
    settle(cutoff());  // totals that are not above it are struck out
    if (!bound_.shrink(node.domains, node.prices, cutoff())) return;
    branch(std::move(node), result, open);
  }

  /// Assignments near the linear program's solution.
  void try_support(const ConfigurationBound::Result& result) {
    if (!result.complete) return;
    polish(detail::rounded(system_, bound_, result.support));
    if (!totals_decide()) return;
    const auto exact =
        detail::transport(system_, detail::rounded_totals(system_, result.support), bound_.scale(), poll_);
    if (exact) {
      consider(exact->assignment);
      polish(exact->assignment);
    }
  }

  void branch(Node node, const ConfigurationBound::Result& result, Open& open) {
    if (const auto cut = detail::undecided_total(system_, result.support))
      return split_totals(node, *cut, open);
    if (!totals_decide()) {
      if (const auto cut = detail::undecided_count(system_, bound_, result.support))
        return split_count(node, *cut, open);
    }
    // The program mixes nothing, yet its bound is above what its solution gives: it was stopped early, or
    // several contents tie. Split the resource with the most totals left, or with the most counts.
    if (const auto cut = detail::widest_total(system_, node.domains)) return split_totals(node, *cut, open);
    if (totals_decide() && closes_with_totals(node)) return;
    if (const auto cut = detail::widest_count(system_, bound_, node.domains))
      return split_count(node, *cut, open);
    const Assignment single = detail::least_counts(system_, bound_, node.domains);
    judge(std::move(node), single, open);
  }

  /// Every total is known: the transportation problem decides this part.
  bool closes_with_totals(const Node& node) {
    std::vector<Count> totals;
    for (const ColumnDomain& domain : node.domains) totals.push_back(domain.totals.front().first);
    const auto exact = detail::transport(system_, totals, bound_.scale(), poll_);
    if (!exact) return false;
    consider(exact->assignment);
    return closes(node, exact->prices);
  }

  /// Whether nothing in the part is better than the cutoff at these prices.
  bool closes(const Node& node, const Prices& prices) {
    std::vector<double> values;
    const double bound = bound_.lagrangian(node.domains, prices, values);
    if (bound > cutoff()) return false;
    settle(bound);
    close(node.part, prices);
    return true;
  }

  void split_totals(const Node& node, const detail::TotalCut& cut, Open& open) {
    const auto [j, at] = cut;
    Node low = node;
    keep_totals(low.domains[index(j)], 0, at);
    Node high = node;
    keep_totals(high.domains[index(j)], at + 1, system_.population());
    low.part = split(node, j, std::nullopt, at);
    high.part = low.part + 1;
    if (!low.domains[index(j)].empty()) open.push(std::move(low));
    if (!high.domains[index(j)].empty()) open.push(std::move(high));
  }

  void split_count(const Node& node, const detail::CountCut& cut, Open& open) {
    const ResourceId j = cut.resource;
    const std::size_t t = cut.type;
    const Count at = cut.at;
    const auto types = bound_.pricer(j).types();
    const auto with_bounds = [&](Node child) {
      ColumnDomain& domain = child.domains[index(j)];
      if (domain.lower.empty()) domain.lower.assign(types.size(), 0);
      if (domain.upper.empty()) {
        for (const TaskType i : types) domain.upper.push_back(system_.count(i));
      }
      return child;
    };
    Node low = with_bounds(node);
    low.domains[index(j)].upper[t] = std::min(low.domains[index(j)].upper[t], at);
    Node high = with_bounds(node);
    high.domains[index(j)].lower[t] = std::max(high.domains[index(j)].lower[t], at + 1);
    low.part = split(node, j, types[t], at);
    high.part = low.part + 1;
    open.push(std::move(low));
    open.push(std::move(high));
  }

  /// The part is one assignment.
  void judge(Node node, const Assignment& single, Open& open) {
    Prices prices = bound_.zero_prices();
    if (is_placement(system_, single)) {
      consider(single);
      if (closes(node, prices)) return;
      // Otherwise a floor is missed, and the price of its completions may be as high as needed.
      const Performance performance = evaluate(system_, single);
      for (const TaskType i : system_.types()) {
        const double missing = system_.floor(i) - performance.throughput_by_task[index(i)];
        if (missing > kFloorTolerance * system_.floor(i)) {
          prices.completion[index(i)] =
              2 * bound_.scale() / (missing - kFloorTolerance * system_.floor(i)) * (1 + 1e-6);
        }
      }
    } else {
      // Too many or too few tasks: this price may also be as high as needed.
      for (const TaskType i : system_.types()) {
        const Count spare = single.row_sum(i) - system_.count(i);
        if (spare != 0) prices.task[index(i)] = 2 * bound_.scale() * (spare > 0 ? 1 : -1);
      }
    }
    if (closes(node, prices)) return;
    node.indivisible = true;
    open.push(std::move(node));
  }

  const System& system_;
  const SolveOptions& options_;
  StopPoll poll_;
  ConfigurationBound bound_;
  detail::LocalSearch search_;
  detail::SearchState state_;
  std::optional<Assignment> incumbent_;
  double value_ = -kInfinity;  // of the incumbent, when feasible
  double upper_ = kInfinity;
  double settled_ = -kInfinity;   // no part that was dropped holds more
  bool unresolved_ = false;       // the largest bound left is that of a state without an exact formula
  std::vector<ProofPart> parts_;  // of the proof
};

/// Systems with at most this many states are enumerated if no formula is exact.
constexpr double kFewStates = 2e6;
/// The relative rounding error of a value, at most.
constexpr double kRounding = 1e-14;

bool is_feasible(const System& system, const Solution& solution) {
  return is_placement(system, solution.assignment) &&
         floor_shortfall(system, evaluate(system, solution.assignment).throughput_by_task) == 0;
}

/// Takes the other assignment if it is better: feasible first, then the value.
void take_better(const System& system, Solution& best, const Solution& other) {
  if (!is_feasible(system, other)) return;
  if (is_feasible(system, best) &&
      evaluate(system, best.assignment).value >= evaluate(system, other.assignment).value)
    return;
  best.assignment = other.assignment;
  best.outcome = Outcome::kConverged;
  best.reason.clear();
}

/// If tasks of different rates wait for several fcfs servers, the throughput is an approximation, for which
/// the bound is not made. Small systems are then enumerated, so that `exhaustive` never finds more.
Solution exact_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  if (system.has_needs() && options.keep_proof) {
    throw InvalidModel(
        "proof",
        "there is no certificate of even sharing where tasks have needs; one of planned service "
        "(--service planned) is a bound for it, too");
  }
  if (!detail::is_sum_of_columns(system, options.stop.steps)) return detail::search_joined(problem, options);
  Solution best = BranchAndPrice(problem, options).run();
  if (system.has_needs() && !best.proven_optimal && best.upper_bound)
    detail::take_planned_bound(problem, options, best);
  if (best.proven_optimal || !detail::has_inexact_queues(system)) return best;
  SolveOptions few = options;
  few.settings.set("max_states", kFewStates);
  take_better(system, best, find_solver("exhaustive")->search(problem, few));
  if (!best.upper_bound) return best;
  const Performance found = evaluate(system, best.assignment);
  // A value has rounding errors of its own, and no assignment may have more than the bound.
  best.upper_bound = std::max(*best.upper_bound, found.value * (1 + kRounding));
  if (!found.approximate && *best.upper_bound <= found.value * (1 + kProven)) {
    best.proven_optimal = true;
    best.outcome = Outcome::kOptimal;
  }
  return best;
}

}  // namespace

extern const SolverInfo exact;
const SolverInfo exact{"exact", "branch and price: proves the optimum, or a bound on the gap", true, false,
                       exact_search};

}  // namespace allot::solvers
