// Planned service: the host decides which task each free unit takes next. The most that it can reach is the
// optimum of a linear program, whose solution is also the plan.
//
//     throughput    the most value
//     priority      completions in the desired shares: X_i = p_i L, and the largest L
//     max-min       the largest t with X_i >= p_i t for all. Types whose price is above 0 can have no more in
//                   any solution: they keep what they have, and t is raised for the others, and so on
//     proportional  the largest sum of p_i log X_i. Logarithms are below their tangents, so a program with
//                   tangents for logarithms is a bound; tangents are added where its solution lies until the
//                   bound is met
//     energy        the least power that keeps a part of the most value
//
// With only arrivals, the objective is the largest multiple of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/solve/detail/best_packing.hpp"
#include "allot/solve/detail/limit_conflict.hpp"
#include "allot/solve/detail/outcome.hpp"
#include "allot/solve/detail/service_program.hpp"
#include "allot/solve/detail/service_proof.hpp"
#include "allot/solve/solver.hpp"

namespace allot::solvers {
namespace {

using detail::BoundedProgram;
using detail::kInfinity;
using detail::kSamePlan;
using detail::ServiceProgram;
using Answer = BoundedProgram::Answer;
using Party = ServiceProgram::Party;

/// Sums of logarithms are proven to within this part of the sum of weights.
constexpr double kSameLogarithm = 1e-7;

constexpr Setting kKeep{.name = "keep",
                        .help = "with --objective energy, the fraction of the maximum value to keep",
                        .initial = 0.9};
constexpr const Setting* kSettings[] = {&kKeep};

class PlannedSearch {
 public:
  PlannedSearch(const Problem& problem, const SolveOptions& options)
      : problem_(problem), options_(options), poll_(options.stop, 1), service_(problem) {}

  Solution run() {
    const System& system = problem_.system;
    solution_.assignment.reset(system.type_count(), system.resource_count());
    solution_.time_shares.assign(system.type_count() * system.resource_count(), 0.0);
    const Answer answer = optimise();
    if (answer.has_columns()) {
      take(answer);
    } else if (answer.is_infeasible()) {
      explain_conflict();
    } else {
      if (problem_.objective == Objective::kThroughput && service_.has_closed_work() &&
          solution_.objective_bound)
        solution_.upper_bound = *solution_.objective_bound + service_.value_of_arrivals();
      solution_.outcome = detail::outcome_of(poll_, Outcome::kBudget);
      solution_.reason = "no plan was found in time";
      if (!poll_.stopped())
        solution_.reason = "the linear program could not be solved: rates or counts are too far apart";
    }
    solution_.plan = std::move(plan_);
    if (proof_) solution_.plan_proof = std::make_shared<const PlanProof>(std::move(*proof_));
    solution_.is_planned = true;
    return std::move(solution_);
  }

 private:
  BoundedProgram& program() noexcept { return service_.program(); }

  /// The first program starts from the caller's basis and replaces it with its own.
  Answer maximise() {
    PlanBasis* const basis = programs_++ == 0 ? options_.plan_basis.get() : nullptr;
    if (basis != nullptr && !basis->states.empty()) program().start_from(basis->states);
    Answer answer = program().maximise(poll_);
    if (basis != nullptr && answer.is_optimal()) basis->states = program().basis();
    return answer;
  }

  void refuse_what_cannot_be() const {
    if (!service_.has_closed_work() && service_.has_arrivals() &&
        problem_.objective != Objective::kThroughput)
      throw InvalidModel("objective",
                         "'" + std::string(to_string(problem_.objective)) +
                             "' is for work with threads, and there are only arrivals; 'throughput' says how "
                             "much of them can be carried");
    if (!options_.settings.has(kKeep.name)) return;
    if (problem_.objective != Objective::kEnergy) throw InvalidModel("keep", "is for the objective 'energy'");
    if (const double keep = options_.settings.get(kKeep); keep > 1)
      throw InvalidModel("keep", "must be from 0 to 1, is " + quote::number(keep));
  }

  Answer optimise() {
    refuse_what_cannot_be();
    const bool idles = problem_.objective == Objective::kEnergy && !service_.has_arrivals();
    if (!service_.has_closed_work() && !idles) return optimise_headroom();
    switch (problem_.objective) {
      case Objective::kPriority:
        return optimise_shares();
      case Objective::kMaxMin:
        return optimise_least();
      case Objective::kProportional:
        return optimise_logarithms();
      case Objective::kEnergy:
        return optimise_power();
      default:  // linear in the completions
        break;
    }
    service_.aim_at_value();
    Answer answer = optimum(maximise());
    if (proof_) {
      constexpr double kRounding = 4 * std::numeric_limits<double>::epsilon();
      proof_->bound = (*proof_->bound + service_.value_of_arrivals()) * (1 + kRounding);
    }
    return answer;
  }

  /// Marks the answer as that of the objective.
  Answer optimum(Answer answer) {
    if (answer.is_infeasible()) return answer;
    if (answer.has_columns()) solution_.objective_value = answer.value;
    if (answer.bound < kInfinity)
      solution_.objective_bound = std::max(answer.bound, solution_.objective_value);
    if (options_.keep_proof && solution_.objective_bound) prove(answer.prices, *solution_.objective_bound);
    return answer;
  }

  void prove(const std::vector<double>& prices, double bound) {
    proof_.emplace();
    proof_->bound = bound;
    proof_->prices = detail::prices_of(service_, prices);
  }

  Answer optimise_headroom() {
    if (!service_.has_arrivals()) {  // nothing to do
      service_.aim_at_value();
      return optimum(maximise());
    }
    service_.aim_at_headroom();
    Answer answer = optimum(maximise());
    if (proof_) proof_->is_headroom = true;
    if (!answer.has_columns()) return answer;
    plan_.headroom = service_.carried(answer.columns);
    if (*plan_.headroom > 1 && !find_plan_at_load(answer)) answer = infeasible();
    return answer;
  }

  /// Finds the plan for the actual load, not for the largest multiple. False: no plan meets all limits then.
  bool find_plan_at_load(const Answer& most) {
    at_load_ = most.columns;
    for (double& x : at_load_) x /= *plan_.headroom;
    if (detail::missed_by(service_, at_load_, {}, 0).empty()) return true;
    service_.carry_load();  // floors and the power of idle servers are not proportional to the load
    Answer answer = maximise();
    if (answer.is_infeasible()) return false;
    if (answer.has_columns()) at_load_ = std::move(answer.columns);
    return true;
  }

  /// Infeasible at the actual load and at any fraction of it.
  Answer infeasible() {
    solution_.objective_value = 0;
    solution_.objective_bound.reset();
    proof_.reset();
    service_.carry_no_more_than_load();
    Answer none;
    none.status = detail::LinearProgram::Status::kInfeasible;
    return none;
  }

  /// Fairness without parties: optimises the value, as for types without a weight. Claims nothing about it.
  Answer optimise_without_parties() {
    service_.aim_at_value();
    const Answer answer = service_.has_closed_work() ? optimum(maximise()) : optimise_headroom();
    proof_.reset();
    return answer;
  }

  Answer optimise_shares() {
    const std::vector<std::size_t>& rows = service_.make_share_rows();
    double most = 0;
    for (const ResourceId j : problem_.system.resource_ids()) {
      double fastest = 0;  // per server
      for (const TaskType i : problem_.system.types()) {
        if (problem_.system.can_run(i, j))
          fastest = std::max(fastest, problem_.system.rate(i, j) / problem_.system.servers_taken(i, j));
      }
      most += fastest * static_cast<double>(problem_.system.resource(j).servers);
    }
    const std::size_t level = program().add_column(2 * std::max(most, 1e-300));
    for (std::size_t i = 0; i < rows.size(); ++i)
      program().add_entry(rows[i], level, -problem_.system.shares()[i]);
    service_.aim_at_column(level);
    return optimum(maximise());
  }

  Answer optimise_least() {
    parties_ = service_.make_parties();
    const std::vector<Party>& parties = parties_;
    if (parties.empty()) return optimise_without_parties();
    const std::size_t level = program().add_column(1);
    std::vector<std::size_t> rows;  // X - weight * level >= 0, while the party's level can still rise
    for (const Party& party : parties) rows.push_back(service_.add_row_like(party, 0));
    for (std::size_t p = 0; p < parties.size(); ++p) program().add_entry(rows[p], level, -parties[p].weight);
    service_.aim_at_column(level);
    std::vector<bool> is_settled(parties.size(), false);
    // No level can rise above the most that the scarcest party with a rising level can complete.
    const auto most_level = [&] {
      double most = kInfinity;
      for (std::size_t p = 0; p < parties.size(); ++p) {
        if (!is_settled[p]) most = std::min(most, parties[p].most / parties[p].weight);
      }
      return std::clamp(2 * most, 1e-300, 1e300);
    };
    Answer last;  // its prices are those of the least level, which is the objective
    const auto ended = [&](Answer answer) {
      if (answer.has_columns()) last.columns = std::move(answer.columns);
      last.status = answer.status;
      return last;
    };
    for (std::size_t left = parties.size(); left > 0;) {
      program().set_most(level, most_level());
      Answer answer = maximise();
      if (last.prices.empty()) {
        optimum(answer);
        last.prices = answer.prices;
        for (std::size_t p = 0; proof_ && p < parties.size(); ++p) {
          (parties[p].type ? proof_->prices.levels[index(*parties[p].type)]
                           : proof_->prices.group_levels[parties[p].group]) = -answer.prices[rows[p]];
        }
      }
      if (!answer.is_optimal()) return ended(std::move(answer));
      levels_are_proven_ = levels_are_proven_ && answer.bound <= answer.value * (1 + kSamePlan);
      const double reached = answer.columns[level];
      // The weights times prices of the parties that cannot rise sum to 1.
      double largest = 0;
      for (std::size_t p = 0; p < parties.size(); ++p) {
        if (!is_settled[p]) largest = std::max(largest, -answer.prices[rows[p]] * parties[p].weight);
      }
      for (std::size_t p = 0; p < parties.size(); ++p) {
        if (is_settled[p] || -answer.prices[rows[p]] * parties[p].weight < std::min(largest, 1e-7)) continue;
        is_settled[p] = true;
        --left;
        program().set_row(rows[p], -kInfinity, kInfinity);
        program().set_row(parties[p].row, parties[p].weight * reached * (1 - kSamePlan), kInfinity);
      }
      last.columns = std::move(answer.columns);
    }
    service_.aim_at_value();  // for types without a weight
    return ended(maximise());
  }

  Answer optimise_logarithms() {
    constexpr double kDeepest = 50;  // parts below exp(-50) of the most are not distinguished
    constexpr int kMostRounds = 200;
    parties_ = service_.make_parties();
    if (parties_.empty()) return optimise_without_parties();
    program().clear_gains();
    double weights = 0;
    double offset = 0;  // of the sum of logarithms
    std::vector<std::size_t> depths;
    for (const Party& party : parties_) {
      depths.push_back(program().add_column(2 * kDeepest, party.weight));  // kDeepest + log of the part
      weights += party.weight;
      offset += party.weight * std::log(party.most);
    }
    std::vector<detail::Tangent> tangents;
    const auto add_tangent = [&](std::size_t p, double part) {
      const double slope = 1 / (part * parties_[p].most);
      const std::size_t row =
          service_.add_row_like(parties_[p], -kInfinity, kDeepest + std::log(part) - 1, -slope);
      program().add_entry(row, depths[p], 1);
      tangents.push_back({p, row, slope});
    };
    for (std::size_t p = 0; p < parties_.size(); ++p) {
      for (const double part : {1.0, 0.3, 0.03}) add_tangent(p, part);
    }
    margin_ = kSameLogarithm * weights;
    Answer best;
    double best_value = -kInfinity;
    double bound = kInfinity;
    std::vector<double> prices;  // that prove the bound
    for (int round = 0; round < kMostRounds; ++round) {
      Answer answer = maximise();
      if (!answer.is_optimal()) {
        best.status = answer.status;
        break;
      }
      if (answer.bound - kDeepest * weights < bound) {
        bound = answer.bound - kDeepest * weights;
        prices = answer.prices;
      }
      double value = 0;
      std::vector<double> parts;
      const std::vector<double> sums = program().activities(answer.columns);
      for (const Party& party : parties_) {
        parts.push_back(sums[party.row] / party.most);
        value += party.weight * std::log(parts.back());
      }
      if (!best.has_columns() || value > best_value) {
        best_value = value;
        best = std::move(answer);
      }
      solution_.objective_value = best_value + offset;
      solution_.objective_bound = std::max(bound, best_value) + offset;
      if (bound - best_value <= margin_) break;
      for (std::size_t p = 0; p < parties_.size(); ++p)
        add_tangent(p, std::clamp(parts[p], std::exp(-kDeepest / 2), 1.0));
    }
    if (options_.keep_proof && !prices.empty())
      proof_ = detail::prove_logarithms(service_, parties_, tangents, std::move(prices));
    return best;
  }

  Answer optimise_power() {
    service_.aim_at_power(-kInfinity);  // so that both programs have the same rows
    service_.aim_at_value();
    Answer most = maximise();
    if (!most.is_optimal()) {  // there may be a plan, but not one that saves power
      if (most.has_columns()) solution_.objective_value = service_.mean_power(most.columns);
      return most;
    }
    const double least = options_.settings.get(kKeep) * most.value * (1 - kSamePlan);
    least_value_ = least;
    service_.aim_at_power(least);
    Answer answer = maximise();
    if (answer.is_infeasible()) return answer;
    if (answer.has_columns()) solution_.objective_value = service_.idle_power() - answer.value;
    solution_.objective_bound = service_.least_power(std::max(answer.bound, answer.value));
    if (options_.keep_proof) {
      prove(answer.prices, *solution_.objective_bound);
      proof_->value = least;
    }
    return answer;
  }

  void take(const Answer& answer) {
    const std::vector<double>& columns = at_load_.empty() ? answer.columns : at_load_;
    solution_.time_shares = service_.time_shares(columns);
    plan_.capacities = service_.capacities(columns, answer.prices);
    plan_.rounds = service_.rounds(columns);
    plan_.value = service_.value(columns);
    plan_.mean_power = service_.mean_power(columns);
    const std::string missed = detail::missed_by(service_, answer.columns, parties_, least_value_);
    if (!missed.empty())
      solution_.reason = "rates, counts or limits are too far apart: rounding makes the plan miss " + missed;
    const double margin = std::max(kSamePlan * std::abs(solution_.objective_value), margin_);
    solution_.proven_optimal = missed.empty() && solution_.objective_bound && answer.is_optimal() &&
                               std::abs(*solution_.objective_bound - solution_.objective_value) <= margin;
    solution_.outcome =
        solution_.proven_optimal ? Outcome::kOptimal : detail::outcome_of(poll_, Outcome::kConverged);
    if (proof_) detail::add_plan(service_, answer.columns, parties_, *proof_);
    if (problem_.objective == Objective::kThroughput && !plan_.headroom) {
      const double arrivals = plan_.value - answer.value;
      solution_.upper_bound = std::max(answer.bound, answer.value) + arrivals;
      solution_.objective_value = plan_.value;
      solution_.objective_bound = solution_.upper_bound;
    }
    const bool bounds = problem_.objective == Objective::kThroughput && options_.bound_packings;
    if (bounds && (solution_.upper_bound || problem_.system.has_needs())) {
      const double plain = solution_.upper_bound.value_or(plan_.value);
      const std::string why = detail::bound_packings(problem_, plain, poll_, plan_);
      if (solution_.reason.empty()) solution_.reason = why;
    }
    find_unserved();
    if (options_.price_limits) price_limits(answer);
    if (service_.has_arrivals() && !plan_.headroom) find_headroom();
  }

  void find_unserved() {
    const System& system = problem_.system;
    const PairSpan<const double> shares(solution_.time_shares, system.resource_count());
    for (const TaskType i : system.types()) {
      const auto row = shares.row(i);
      const bool is_served = std::any_of(row.begin(), row.end(), [](double x) { return x > 0; });
      if (system.count(i) > 0 && !is_served) plan_.unserved.push_back(system.task(i).name);
    }
  }

  /// The gain from relaxing each binding limit by 10%. Not for fairness, which is not a single program with
  /// an optimum to compare.
  void price_limits(const Answer& answer) {
    if (problem_.objective == Objective::kMaxMin || problem_.objective == Objective::kProportional) return;
    for (const ServiceProgram::Limit& limit : service_.limits()) {
      if (poll_.stopped()) break;
      const bool is_floor = limit.kind == ServiceProgram::Limit::Kind::kFloor ||
                            limit.kind == ServiceProgram::Limit::Kind::kArrivals;
      service_.impose(limit, limit.amount * (is_floor ? 0.9 : 1.1));
      const Answer relaxed = maximise();
      service_.impose(limit, limit.amount);
      const double gain = relaxed.value - answer.value;
      if (!relaxed.is_optimal() || gain <= kSamePlan * std::abs(answer.value)) continue;
      plan_.limits.push_back(
          {service_.name_of(limit), limit.amount, std::string(ServiceProgram::unit_of(limit)), gain});
    }
  }

  void explain_conflict() {
    solution_.outcome = Outcome::kInfeasible;
    const std::vector<detail::LimitConflict> conflicts = detail::find_conflicts(service_, poll_);
    for (const detail::LimitConflict& conflict : conflicts)
      solution_.reason += (solution_.reason.empty() ? "" : "; besides, ") + in_words(conflict);
    if (!conflicts.empty()) {
      const std::vector<ServiceProgram::Limit>& needed = conflicts.front().limits;
      for (const ServiceProgram::Limit& limit : needed) plan_.conflict.push_back(service_.name_of(limit));
      if (options_.keep_proof && !poll_.stopped()) proof_ = detail::prove_conflict(service_, needed, poll_);
    }
    if (proof_) proof_->is_headroom = !service_.has_closed_work() && service_.has_arrivals();
    if (service_.has_arrivals()) find_headroom();
  }

  std::string in_words(const detail::LimitConflict& conflict) {
    const std::string list = detail::names_of(service_, conflict);
    const std::string reach = detail::reach_in_words(conflict);
    const ServiceProgram::Limit& last = conflict.limits.back();
    if (conflict.limits.size() == 1)
      return list + " " + too_much(last) + (reach.empty() ? "" : ": " + reach) + service_.what_helps(last);
    const bool are_two = conflict.limits.size() == 2;
    const std::string others = are_two ? "the other" : "the others";
    return list + " cannot be met together: " +
           (are_two ? "each could be met without the other" : "without any one of them, the others could") +
           (reach.empty() ? "" : "; with " + others + " met, " + service_.name_of(last) + " can be " + reach);
  }

  /// Why a limit cannot be met, even alone.
  std::string too_much(const ServiceProgram::Limit& limit) {
    if (problem_.objective == Objective::kPriority && could_hold_without_shares(limit))
      return "cannot be met while the shares are matched";
    return service_.why_too_much(limit);
  }

  bool could_hold_without_shares(const ServiceProgram::Limit& limit) {
    ServiceProgram other(problem_);
    for (const ServiceProgram::Limit& one : other.limits()) {
      if (one.row != limit.row) other.drop(one);
    }
    return other.program().maximise(poll_).is_optimal();
  }

  void find_headroom() {
    ServiceProgram other(problem_);
    other.aim_at_headroom();
    const Answer carried = other.program().maximise(poll_);
    if (carried.is_optimal()) plan_.headroom = other.carried(carried.columns);
  }

  const Problem& problem_;
  const SolveOptions& options_;
  StopPoll poll_;
  ServiceProgram service_;
  Solution solution_;
  ServicePlan plan_;
  std::optional<PlanProof> proof_;
  std::vector<Party> parties_;   // of fairness
  std::vector<double> at_load_;  // columns of the plan, if those of the answer are for a multiple of the load
  int programs_ = 0;             // solved
  bool levels_are_proven_ = true;
  double least_value_ = 0;  // objective energy: the minimum value
  double margin_ = 0;       // within which bound and value of the objective count as equal
};

Solution planned_search(const Problem& problem, const SolveOptions& options) {
  return PlannedSearch(problem, options).run();
}

}  // namespace

extern const SolverInfo planned;
const SolverInfo planned{.name = "planned",
                         .summary = "planned service: the best that any policy can reach, and a plan for it",
                         .search = planned_search,
                         .settings = kSettings,
                         .is_default = true,
                         .plans_service = true};

}  // namespace allot::solvers
