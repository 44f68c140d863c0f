// Exact throughput by branch and price: an answer, and a proof of how good it is.
//
// Every part of the search restricts what each resource may hold: which totals, and where that is not enough
// how many of a type. The configuration bound over these domains says how good the part can be; a part that
// cannot beat the best assignment known is dropped, another is split where the bound's linear programme mixes
// contents. Under ps a part in which every resource has one total is a transportation problem, whose linear
// programme has integer solutions, so branching on totals alone suffices; fcfs and floors need the counts
// too.
#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <vector>

#include "allot/solve/detail/configuration_bound.hpp"
#include "allot/solve/detail/linear_program.hpp"
#include "allot/solve/detail/local_search.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::ColumnDomain;
using detail::ConfigurationBound;
using detail::Interval;
using detail::kInfinity;
using detail::Prices;
using detail::WeightedContent;

/// A relative gap up to this is called none.
constexpr double kProven = 1e-9;

constexpr int kRootRounds = 2000;
constexpr int kNodeRounds = 60;

/// A part of the search.
struct Node {
  double bound = kInfinity;
  std::vector<ColumnDomain> domains;
  Prices prices;
};

struct LowerBound {
  bool operator()(const Node& a, const Node& b) const noexcept { return a.bound < b.bound; }
};

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
    if (system_.approximate()) {
      // No formula, no proof: the bound below would be one on an approximation.
      if (!incumbent_) return detail::no_placement(system_);
      solution.assignment = *incumbent_;
      solution.outcome = detail::outcome_of(poll_);
      solution.reason = "nothing is proven: an fcfs resource with several servers has no exact formula";
      return solution;
    }
    explore();
    solution.assignment = incumbent_ ? *incumbent_ : home_assignment(system_);
    solution.outcome = detail::outcome_of(poll_, Outcome::kOptimal);
    if (!has_answer()) {
      if (solution.outcome == Outcome::kOptimal) {
        solution.outcome = Outcome::kInfeasible;
        solution.reason = "proven: no assignment keeps every least depth and meets every floor";
      } else {
        solution.reason =
            "no assignment that keeps every least depth and meets every floor was found in time";
      }
      return solution;
    }
    // Without time for a better one: every unit busy with its fastest type.
    if (!std::isfinite(upper_)) upper_ = bound_.scale();
    solution.upper_bound = std::max(upper_, value_);
    if (upper_ <= value_ + kProven * std::abs(value_)) {  // the difference is rounding
      solution.proven_optimal = true;
      solution.outcome = Outcome::kOptimal;
      solution.upper_bound = value_;
    } else if (solution.outcome == Outcome::kOptimal) {
      solution.outcome = Outcome::kConverged;  // as close as was asked for
    }
    return solution;
  }

 private:
  bool has_answer() const noexcept { return incumbent_ && value_ > -kInfinity; }
  /// Nothing at or below this is of interest. Without an answer that is a little below zero: no throughput is
  /// negative, so a part whose bound is holds no feasible assignment.
  double cutoff() const noexcept {
    return has_answer() ? value_ + options_.gap_tolerance * std::abs(value_) : -1e-6 * bound_.scale();
  }

  /// Takes the assignment if it is feasible and better.
  void consider(const Assignment& assignment) {
    const Performance performance = evaluate(system_, assignment);
    const bool feasible =
        is_placement(system_, assignment) && floor_shortfall(system_, performance.throughput_by_task) == 0;
    if (!incumbent_) incumbent_ = assignment;  // something to show, should nothing feasible turn up
    if (!feasible || (has_answer() && performance.throughput <= value_)) return;
    incumbent_ = assignment;
    value_ = performance.throughput;
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

  /// The mean content that the linear programme gives a resource, rounded within each type to whole tasks.
  Assignment rounded(const std::vector<WeightedContent>& support) const {
    Assignment result(system_.type_count(), system_.resource_count());
    std::vector<double> mean(system_.resource_count());
    for (const TaskType i : system_.types()) {
      std::fill(mean.begin(), mean.end(), 0.0);
      for (const WeightedContent& part : support) {
        const auto types = bound_.pricer(part.resource).types();
        const auto at = std::lower_bound(types.begin(), types.end(), i);
        if (at != types.end() && *at == i) {
          mean[index(part.resource)] +=
              part.weight *
              static_cast<double>((*part.content)[static_cast<std::size_t>(at - types.begin())]);
        }
      }
      round_row(i, mean, result);
    }
    return result;
  }

  /// Largest remainders, so that the row sums to N_i.
  void round_row(TaskType i, std::vector<double>& mean, Assignment& result) const {
    Count placed = 0;
    for (const ResourceId j : system_.resources_for(i)) {
      const double whole = std::floor(mean[index(j)] + 1e-9);
      result(i, j) = static_cast<Count>(whole);
      mean[index(j)] -= whole;
      placed += result(i, j);
    }
    while (placed != system_.count(i)) {
      const Count step = placed < system_.count(i) ? 1 : -1;
      std::optional<ResourceId> best;
      for (const ResourceId j : system_.resources_for(i)) {
        if (step < 0 && result(i, j) == 0) continue;
        if (!best ||
            static_cast<double>(step) * mean[index(j)] > static_cast<double>(step) * mean[index(*best)]) {
          best = j;
        }
      }
      // A row far from its sum (the programme was stopped early) is made up at one resource at once.
      const Count missing = std::abs(system_.count(i) - placed);
      const Count n = missing > static_cast<Count>(system_.resource_count()) ? missing : 1;
      const Count moved = step > 0 ? n : std::min(n, result(i, *best));
      result(i, *best) += step * moved;
      mean[index(*best)] -= static_cast<double>(step * moved);
      placed += step * moved;
    }
  }

  /// With every total given, ps is a transportation problem: solved exactly.
  std::optional<Assignment> transport(const std::vector<Count>& totals) {
    detail::LinearProgram programme;
    for (const TaskType i : system_.types()) {
      programme.add_row(static_cast<double>(system_.count(i)), static_cast<double>(system_.count(i)));
    }
    for (const ResourceId j : system_.resource_ids()) {
      programme.add_row(static_cast<double>(totals[index(j)]), static_cast<double>(totals[index(j)]));
    }
    detail::LinearProgram::Batch batch;
    std::vector<std::pair<TaskType, ResourceId>> places;
    for (const TaskType i : system_.types()) {
      if (system_.count(i) == 0) continue;
      for (const ResourceId j : system_.resources_for(i)) {
        const Count m = totals[index(j)];
        if (m == 0) continue;
        const double weight =
            static_cast<double>(std::min(m, system_.resource(j).servers)) / static_cast<double>(m);
        batch.begin_column(-weight * system_.rate(i, j) / bound_.scale());
        batch.entry(static_cast<int>(index(i)), 1.0);
        batch.entry(static_cast<int>(system_.type_count() + index(j)), 1.0);
        places.emplace_back(i, j);
      }
    }
    programme.add_columns(std::move(batch));
    if (programme.solve(&poll_) != detail::LinearProgram::Status::kOptimal) return std::nullopt;
    Assignment result(system_.type_count(), system_.resource_count());
    const auto solution = programme.columns();
    for (std::size_t at = 0; at < places.size(); ++at) {
      result(places[at].first, places[at].second) = static_cast<Count>(std::llround(solution[at]));
    }
    for (const TaskType i : system_.types()) {
      if (result.row_sum(i) != system_.count(i)) return std::nullopt;
    }
    return result;
  }

  /// Whether every resource's throughput is linear in its content once its total is known, and nothing else
  /// constrains the types: ps, or fcfs where nobody ever waits, and no floors.
  bool totals_decide() const noexcept {
    if (system_.has_floors()) return false;
    for (const ResourceId j : system_.resource_ids()) {
      const Resource& resource = system_.resource(j);
      if (resource.discipline == Discipline::kFcfs && system_.reach(j) > resource.servers) return false;
    }
    return true;
  }

  void explore() {
    std::priority_queue<Node, std::vector<Node>, LowerBound> open;
    Node root;
    root.domains = bound_.whole_domains();
    upper_ = kInfinity;
    if (poll_.stopped()) return;
    process(std::move(root), open, kRootRounds);
    if (poll_.stopped()) return;  // whatever the root proved is in upper_
    while (!open.empty()) {
      if (open.top().bound < upper_) {
        upper_ = open.top().bound;
        report();
      }
      if (upper_ <= cutoff()) break;
      if (poll_.should_stop_now()) return;
      Node node = open.top();
      open.pop();
      process(std::move(node), open, kNodeRounds);
      if (poll_.stopped()) return;  // what was under way is lost, but its bound still holds
    }
    upper_ = has_answer() ? cutoff() : -kInfinity;
  }

  void process(Node node, std::priority_queue<Node, std::vector<Node>, LowerBound>& open, int rounds) {
    const bool is_root = node.prices.task.empty();
    std::function<void(double)> watch;
    if (is_root && options_.progress) {
      watch = [this](double bound) {
        upper_ = bound;
        report();
      };
    }
    ConfigurationBound::Result result = bound_.lower(node.domains, node.prices, cutoff(), rounds, watch);
    if (is_root) {
      upper_ = result.bound;
      report();
    }
    if (result.end == ConfigurationBound::End::kBelowCutoff ||
        result.end == ConfigurationBound::End::kEmpty) {
      if (is_root) upper_ = has_answer() ? cutoff() : -kInfinity;
      return;
    }
    if (poll_.stopped()) return;
    node.bound = std::min(node.bound, result.bound);
    node.prices = result.prices;
    try_support(result);
    if (node.bound <= cutoff()) return;
    if (!bound_.shrink(node.domains, node.prices, cutoff())) return;
    branch(std::move(node), result, open);
  }

  /// Assignments near the linear programme's solution.
  void try_support(const ConfigurationBound::Result& result) {
    if (!result.complete) return;
    polish(rounded(result.support));
    if (!totals_decide()) return;
    // The totals, rounded so that they sum to Q.
    std::vector<double> mean(system_.resource_count());
    for (const WeightedContent& part : result.support) {
      mean[index(part.resource)] += part.weight * static_cast<double>(part.total);
    }
    std::vector<Count> totals;
    Count sum = 0;
    for (const double m : mean) {
      totals.push_back(static_cast<Count>(std::floor(m + 1e-9)));
      sum += totals.back();
    }
    for (; sum < system_.population(); ++sum) {
      std::size_t largest = 0;
      for (std::size_t j = 1; j < mean.size(); ++j) {
        if (mean[j] - static_cast<double>(totals[j]) > mean[largest] - static_cast<double>(totals[largest]))
          largest = j;
      }
      ++totals[largest];
    }
    if (const std::optional<Assignment> exact = transport(totals)) {
      consider(*exact);
      polish(*exact);
    }
  }

  void branch(Node node, const ConfigurationBound::Result& result,
              std::priority_queue<Node, std::vector<Node>, LowerBound>& open) {
    std::vector<double> mean(system_.resource_count());
    std::vector<double> weight(system_.resource_count());
    for (const WeightedContent& part : result.support) {
      mean[index(part.resource)] += part.weight * static_cast<double>(part.total);
      weight[index(part.resource)] += part.weight;
    }
    // The resource whose total the programme is least decided about.
    std::vector<double> spread(system_.resource_count());
    for (const WeightedContent& part : result.support) {
      const std::size_t j = index(part.resource);
      spread[j] += part.weight * std::abs(static_cast<double>(part.total) - mean[j] / weight[j]);
    }
    std::optional<ResourceId> widest;
    for (const ResourceId j : system_.resource_ids()) {
      if (spread[index(j)] > 1e-6 && (!widest || spread[index(j)] > spread[index(*widest)])) widest = j;
    }
    if (widest) {
      const Count at = static_cast<Count>(std::floor(mean[index(*widest)] / weight[index(*widest)]));
      split_totals(node, *widest, at, open);
      return;
    }
    if (!totals_decide() && split_counts(node, result, open)) return;
    // The programme mixes nothing, yet its bound is above what its solution gives: it was stopped early, or
    // several contents tie. Split the resource with most totals left, or else most counts.
    std::optional<ResourceId> largest;
    Count most = 0;
    for (const ResourceId j : system_.resource_ids()) {
      const auto& totals = node.domains[index(j)].totals;
      const Count extent = totals.back().last - totals.front().first;
      if (extent > most) {
        most = extent;
        largest = j;
      }
    }
    if (largest) {
      const auto& totals = node.domains[index(*largest)].totals;
      split_totals(node, *largest, totals.front().first + (most - 1) / 2, open);
      return;
    }
    if (totals_decide()) {
      // Every total is known: the transportation problem is the whole truth about this part.
      std::vector<Count> totals;
      for (const ColumnDomain& domain : node.domains) totals.push_back(domain.totals.front().first);
      if (const std::optional<Assignment> exact = transport(totals)) consider(*exact);
      return;
    }
    split_widest_count(node, open);
  }

  void split_totals(const Node& node, ResourceId j, Count at,
                    std::priority_queue<Node, std::vector<Node>, LowerBound>& open) {
    Node low = node;
    keep_totals(low.domains[index(j)], 0, at);
    Node high = node;
    keep_totals(high.domains[index(j)], at + 1, system_.population());
    if (!low.domains[index(j)].empty()) open.push(std::move(low));
    if (!high.domains[index(j)].empty()) open.push(std::move(high));
  }

  void split_count(const Node& node, ResourceId j, std::size_t t, Count at,
                   std::priority_queue<Node, std::vector<Node>, LowerBound>& open) {
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
    open.push(std::move(low));
    open.push(std::move(high));
  }

  /// Splits the count that the programme is least decided about; false when it mixes no counts.
  bool split_counts(const Node& node, const ConfigurationBound::Result& result,
                    std::priority_queue<Node, std::vector<Node>, LowerBound>& open) {
    double widest = 1e-6;
    ResourceId at_resource{};
    std::size_t at_type = 0;
    Count at = 0;
    for (const ResourceId j : system_.resource_ids()) {
      const std::size_t size = bound_.pricer(j).types().size();
      for (std::size_t t = 0; t < size; ++t) {
        double weight = 0;
        double mean = 0;
        for (const WeightedContent& part : result.support) {
          if (part.resource != j) continue;
          weight += part.weight;
          mean += part.weight * static_cast<double>((*part.content)[t]);
        }
        if (weight <= 0) continue;
        mean /= weight;
        double spread = 0;
        for (const WeightedContent& part : result.support) {
          if (part.resource == j)
            spread += part.weight * std::abs(static_cast<double>((*part.content)[t]) - mean);
        }
        if (spread > widest) {
          widest = spread;
          at_resource = j;
          at_type = t;
          at = static_cast<Count>(std::floor(mean));
        }
      }
    }
    if (widest <= 1e-6) return false;
    split_count(node, at_resource, at_type, at, open);
    return true;
  }

  /// Last resort: halves the widest range of a count. When every count is known, the part is one assignment.
  void split_widest_count(const Node& node, std::priority_queue<Node, std::vector<Node>, LowerBound>& open) {
    Count widest = 0;
    ResourceId at_resource{};
    std::size_t at_type = 0;
    Count at = 0;
    Assignment single(system_.type_count(), system_.resource_count());
    for (const ResourceId j : system_.resource_ids()) {
      const ColumnDomain& domain = node.domains[index(j)];
      const auto types = bound_.pricer(j).types();
      for (std::size_t t = 0; t < types.size(); ++t) {
        const Count low = domain.lower.empty() ? 0 : domain.lower[t];
        const Count high = domain.upper.empty() ? system_.count(types[t]) : domain.upper[t];
        single(types[t], j) = low;
        if (high - low > widest) {
          widest = high - low;
          at_resource = j;
          at_type = t;
          at = low + (high - low - 1) / 2;
        }
      }
    }
    if (widest > 0) {
      split_count(node, at_resource, at_type, at, open);
    } else if (is_placement(system_, single)) {
      consider(single);
    }
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
};

Solution exact_search(const Problem& problem, const SolveOptions& options) {
  return BranchAndPrice(problem, options).run();
}

}  // namespace

extern const SolverInfo exact;
const SolverInfo exact{"exact", "branch and price: proves the optimum, or how far it can be", true, false,
                       exact_search};

}  // namespace allot::solvers
