// The paper's rival: the relaxed problem (detail/relaxation.hpp) by the sequential least-squares programming
// of NLopt, then the best rounding (detail/rounding.hpp).
//
// The relaxation is not concave, so the end depends on the start: the method starts at home, as MAP does, and
// from an even spread, and takes the better end. A step solves a quadratic program in all variables; its cost
// grows with their third power, and it cannot be interrupted. So no step begins that would pass the deadline,
// a stop flag takes effect at the end of a step, and problems with steps of many seconds are refused.
#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/relaxation.hpp"
#include "allot/solve/detail/rounding.hpp"
#include "allot/solve/detail/start.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::Relaxation;

constexpr double kTolerance = 1e-9;          // relative change of X between steps at which a search ends
constexpr double kConstraints = 1e-8;        // by how much a constraint may be missed, relative to its size
constexpr int kMaxEvaluations = 2000;        // of one search
constexpr std::size_t kMaxVariables = 1000;  // a step with this many takes some seconds
constexpr double kStepSeconds =
    2.5e-9;  // approximate time of a step, divided by the third power of the number of variables

struct Destroy {
  void operator()(nlopt_opt_s* opt) const noexcept { nlopt_destroy(opt); }
};
using Optimizer = std::unique_ptr<nlopt_opt_s, Destroy>;

/// One search from one start. NLopt calls back into it; nothing is thrown out of those calls.
class Search {
 public:
  Search(const System& system, const Relaxation& relaxation, const StopLimits& limits)
      : relaxation_(relaxation), limits_(limits), poll_(limits, 1) {
    for (const ResourceId j : system.resource_ids()) {
      double fastest = 0;
      for (const TaskType i : system.types()) fastest = std::max(fastest, system.value_rate(i, j));
      scale_ += fastest * static_cast<double>(
                              std::min(system.resource(j).servers, std::max(Count{1}, system.reach(j))));
    }
    for (const TaskType i : relaxation.floors()) floors_.push_back({i, system.floor(i)});
    // With the mean content of a column as the unit, the first step along the gradient has a sensible length.
    unit_ = std::max(1.0,
                     static_cast<double>(system.population()) / static_cast<double>(system.resource_count()));
    point_.resize(relaxation.size());
    longest_step_ = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(kStepSeconds * std::pow(static_cast<double>(relaxation.size()), 3)));
  }

  nlopt_result run(std::vector<double> start) {
    Optimizer opt(nlopt_create(NLOPT_LD_SLSQP, static_cast<unsigned>(relaxation_.size())));
    if (!opt) throw std::bad_alloc();
    opt_ = opt.get();
    best_ = start;
    best_value_ = relaxation_.value(start.data(), nullptr);
    best_missing_ = relaxation_.shortfall(start.data());
    if (!configure()) throw std::bad_alloc();  // NLopt refuses these settings only if it runs out of memory
    for (double& n : start) n /= unit_;
    double value = 0;
    started_ = false;
    const nlopt_result result = nlopt_optimize(opt_, start.data(), &value);
    opt_ = nullptr;
    relaxation_.clean(best_.data());
    best_value_ = relaxation_.value(best_.data(), nullptr);
    best_missing_ = relaxation_.shortfall(best_.data());
    return result;
  }

  const StopPoll& poll() const noexcept { return poll_; }
  bool out_of_time() const noexcept { return out_of_time_; }
  const std::vector<double>& best() const noexcept { return best_; }
  double value() const noexcept { return best_value_; }
  double missing() const noexcept { return best_missing_; }

 private:
  struct Floor {
    TaskType type{};
    double least = 0;
  };

  bool configure() {
    std::vector<double> upper(relaxation_.size());
    std::vector<double> row_tolerance;
    for (const Relaxation::Row& row : relaxation_.rows()) {
      for (std::size_t v = row.begin; v < row.end; ++v) upper[v] = row.count / unit_;
      row_tolerance.push_back(kConstraints * row.count / unit_);
    }
    const std::vector<double> column_tolerance(relaxation_.occupied().size(), kConstraints / unit_);
    const std::vector<double> floor_tolerance(floors_.size(), kConstraints);
    const auto size = [](const std::vector<double>& values) { return static_cast<unsigned>(values.size()); };
    bool ok =
        nlopt_set_min_objective(opt_, objective, this) > 0 && nlopt_set_lower_bounds1(opt_, 0) > 0 &&
        nlopt_set_upper_bounds(opt_, upper.data()) > 0 && nlopt_set_ftol_rel(opt_, kTolerance) > 0 &&
        nlopt_set_maxeval(opt_, kMaxEvaluations) > 0 &&
        nlopt_add_equality_mconstraint(opt_, size(row_tolerance), row_sums, this, row_tolerance.data()) > 0;
    if (!column_tolerance.empty()) {
      ok = ok && nlopt_add_inequality_mconstraint(opt_, size(column_tolerance), column_sums, this,
                                                  column_tolerance.data()) > 0;
    }
    if (!floors_.empty()) {
      ok = ok && nlopt_add_inequality_mconstraint(opt_, size(floor_tolerance), floor_gaps, this,
                                                  floor_tolerance.data()) > 0;
    }
    if (limits_.deadline) {
      const double left = std::chrono::duration<double>(*limits_.deadline - Clock::now()).count();
      ok = ok && nlopt_set_maxtime(opt_, std::max(left, 1e-9)) > 0;
    }
    return ok;
  }

  const double* unscaled(const double* x) noexcept {
    for (std::size_t v = 0; v < point_.size(); ++v) point_[v] = x[v] * unit_;
    return point_.data();
  }

  /// The deadline and the flag, and whether one more step like the longest so far would pass the deadline.
  void watch() noexcept {
    const Clock::time_point now = Clock::now();
    if (started_) longest_step_ = std::max(longest_step_, now - last_call_);
    started_ = true;
    last_call_ = now;
    if (poll_.should_stop_now()) {
      nlopt_force_stop(opt_);
    } else if (limits_.deadline && now + longest_step_ > *limits_.deadline) {
      out_of_time_ = true;
      nlopt_force_stop(opt_);
    }
  }

  void remember(const double* point, double value) noexcept {
    if (!relaxation_.feasible(point, 10 * kConstraints)) return;
    const double missing = floors_.empty() ? 0 : relaxation_.shortfall(point);
    if (missing > best_missing_ || (missing == best_missing_ && value <= best_value_)) return;
    std::copy(point, point + best_.size(), best_.begin());
    best_value_ = value;
    best_missing_ = missing;
  }

  static double objective(unsigned size, const double* x, double* gradient, void* data) noexcept {
    Search& self = *static_cast<Search*>(data);
    const double* point = self.unscaled(x);
    const double value = self.relaxation_.value(point, gradient);
    self.remember(point, value);
    self.watch();
    if (gradient != nullptr) {
      for (unsigned v = 0; v < size; ++v) gradient[v] *= -self.unit_ / self.scale_;
    }
    return -value / self.scale_;
  }

  static void row_sums(unsigned, double* result, unsigned size, const double* x, double* gradient,
                       void* data) noexcept {
    const Search& self = *static_cast<const Search*>(data);
    const auto rows = self.relaxation_.rows();
    if (gradient != nullptr) std::fill(gradient, gradient + rows.size() * size, 0.0);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      result[r] = -rows[r].count / self.unit_;
      for (std::size_t v = rows[r].begin; v < rows[r].end; ++v) {
        result[r] += x[v];
        if (gradient != nullptr) gradient[r * size + v] = 1;
      }
    }
  }

  static void column_sums(unsigned, double* result, unsigned size, const double* x, double* gradient,
                          void* data) noexcept {
    const Search& self = *static_cast<const Search*>(data);
    const auto columns = self.relaxation_.occupied();
    if (gradient != nullptr) std::fill(gradient, gradient + columns.size() * size, 0.0);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      result[c] = 1 / self.unit_;
      for (const std::size_t v : columns[c].variables) {
        result[c] -= x[v];
        if (gradient != nullptr) gradient[c * size + v] = -1;
      }
    }
  }

  /// 1 - X_i / floor_i <= 0.
  static void floor_gaps(unsigned, double* result, unsigned size, const double* x, double* gradient,
                         void* data) noexcept {
    Search& self = *static_cast<Search*>(data);
    const double* point = self.unscaled(x);
    for (std::size_t f = 0; f < self.floors_.size(); ++f) {
      const Floor& floor = self.floors_[f];
      double* slopes = gradient == nullptr ? nullptr : gradient + f * size;
      result[f] = 1 - self.relaxation_.throughput_of(floor.type, point, slopes) / floor.least;
      if (slopes == nullptr) continue;
      for (unsigned v = 0; v < size; ++v) slopes[v] *= -self.unit_ / floor.least;
    }
  }

  const Relaxation& relaxation_;
  StopLimits limits_;
  StopPoll poll_;
  nlopt_opt opt_ = nullptr;  // of the search that is running
  double scale_ = 0;         // of X, so that tolerances do not depend on the unit of rates
  double unit_ = 1;          // NLopt's variables are n / unit
  std::vector<Floor> floors_;
  std::vector<double> point_;
  std::vector<double> best_;
  double best_value_ = 0;
  double best_missing_ = 0;
  Clock::time_point last_call_;
  Clock::duration longest_step_{};
  bool started_ = false;
  bool out_of_time_ = false;
};

/// Without it the supremum of the relaxation is not attained.
constexpr Setting kOccupied{.name = "slsqp_occupied",
                            .help = "let the relaxation leave resources almost empty",
                            .initial = 1,
                            .is_flag = true,
                            .off = "slsqp_unoccupied"};
/// For experiments: begin from an even spread as well as at home, and keep the better end.
constexpr Setting kEvenStart{.name = "slsqp_even_start", .help = "", .initial = 1, .is_flag = true};
constexpr const Setting* kSettings[] = {&kOccupied};

Solution slsqp_search(const Problem& problem, const SolveOptions& options) {
  const System& system = problem.system;
  Solution solution;
  const Relaxation relaxation(system, options.settings.get(kOccupied) != 0);
  if (relaxation.size() == 0) {
    solution.assignment = home_assignment(system);
    solution.relaxed_assignment = relaxation.matrix({});
    solution.relaxed_throughput = 0;
    return solution;
  }

  std::vector<std::vector<double>> starts{relaxation.home_start()};
  if (options.settings.get(kEvenStart) != 0) starts.push_back(relaxation.even_start());
  if (options.start && is_placement(system, *options.start)) {
    if (auto point = relaxation.point_of(*options.start)) starts.push_back(std::move(*point));
  }
  Search search(system, relaxation, options.stop);
  std::vector<double> best;
  double best_value = 0;
  double best_missing = 0;
  bool out_of_budget = false;
  const bool too_large = relaxation.size() > kMaxVariables;
  for (std::vector<double>& start : starts) {
    if (too_large) {
      const double value = relaxation.value(start.data(), nullptr);
      if (best.empty() || value > best_value) {
        best = std::move(start);
        best_value = value;
      }
      continue;
    }
    const nlopt_result result = search.run(std::move(start));
    if (best.empty() || search.missing() < best_missing ||
        (search.missing() == best_missing && search.value() > best_value)) {
      best = search.best();
      best_value = search.value();
      best_missing = search.missing();
    }
    if (search.poll().stopped() || search.out_of_time() || result == NLOPT_MAXTIME_REACHED) {
      solution.outcome = detail::outcome_of(search.poll(), Outcome::kTimeLimit);
      break;
    }
    if (result == NLOPT_OUT_OF_MEMORY) throw std::bad_alloc();
    if (result == NLOPT_MAXEVAL_REACHED) out_of_budget = true;
    if (result == NLOPT_FAILURE || result == NLOPT_INVALID_ARGS) {
      solution.reason = "NLopt gave up on a start (" + std::string(nlopt_result_to_string(result)) +
                        "); the best point so far counts";
    }
  }
  if (too_large) {
    solution.outcome = Outcome::kBudget;
    solution.reason = "refused: " + std::to_string(relaxation.size()) +
                      " variables, more than the limit of " + std::to_string(kMaxVariables) +
                      "; the answer is the best start, rounded";
  } else if (out_of_budget && solution.outcome == Outcome::kConverged) {
    solution.outcome = Outcome::kBudget;
    solution.reason = "stopped after " + std::to_string(kMaxEvaluations) + " evaluations from one start";
  }

  StopPoll poll(options.stop);
  solution.relaxed_assignment = relaxation.matrix(best);
  solution.relaxed_throughput = best_value;
  std::optional<Assignment> rounded = detail::best_rounding(system, solution.relaxed_assignment, poll);
  if (!rounded) rounded = detail::home_start(system);
  if (!rounded) {
    Solution none = detail::no_placement(system);
    none.relaxed_assignment = std::move(solution.relaxed_assignment);
    none.relaxed_throughput = solution.relaxed_throughput;
    return none;
  }
  solution.assignment = std::move(*rounded);
  if (poll.stopped()) solution.outcome = detail::outcome_of(poll);
  return solution;
}

}  // namespace

extern const SolverInfo slsqp;
const SolverInfo slsqp{.name = "slsqp",
                       .summary = "NLopt's SLSQP on the relaxed problem, rounded: slow, no proof",
                       .maximises_value = true,
                       .search = slsqp_search,
                       .settings = kSettings,
                       .is_all_or_nothing = true,
                       .instead_with_needs = "'local' or 'exact'"};

}  // namespace allot::solvers
