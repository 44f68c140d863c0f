#include "allot/ask/questions/solve.hpp"

#include <algorithm>

#include "allot/ask/detail/common.hpp"
#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"
#include "allot/base/words.hpp"
#include "allot/model/filling.hpp"
#include "allot/solve/solution_json.hpp"

namespace allot {
namespace {

std::vector<std::string_view> solvers_for(std::optional<Objective> objective) {
  std::vector<std::string_view> names;
  for (const SolverInfo* solver : builtin_solvers()) {
    if (!objective || supports(*solver, *objective)) names.push_back(solver->name);
  }
  return names;
}

/// A setting of some solvers as an option. `solvers` names them.
Option option_of(const Setting& setting, const std::string& solvers, Settings& settings) {
  const std::string name(setting.name);
  const std::string help = solvers + ": " + std::string(setting.help);
  const auto set = [&settings, &setting](double value) { settings.set(setting.name, value); };
  const double now = settings.get(setting);
  if (setting.is_flag) return {name, FlagValue{now != 0, set, setting.off}, help};
  if (setting.words.empty()) return {name, NumberValue{now, setting.least, set}, help};
  const std::vector<std::string_view> words(setting.words.begin(), setting.words.end());
  const auto choose = [set](std::size_t at) { set(static_cast<double>(at)); };
  return {name, WordValue{static_cast<std::size_t>(now), words, choose}, help};
}

bool has(const SolverInfo& solver, const Setting* setting) {
  return std::find(solver.settings.begin(), solver.settings.end(), setting) != solver.settings.end();
}

std::vector<const Setting*> all_settings() {
  std::vector<const Setting*> known;
  for (const SolverInfo* solver : builtin_solvers()) {
    for (const Setting* setting : solver->settings) {
      if (std::find(known.begin(), known.end(), setting) == known.end()) known.push_back(setting);
    }
  }
  return known;
}

void add_settings(std::vector<Option>& options, Settings& settings) {
  for (const Setting* setting : all_settings()) {
    std::string solvers;
    for (const SolverInfo* solver : builtin_solvers()) {
      if (has(*solver, setting)) solvers += (solvers.empty() ? "" : ", ") + std::string(solver->name);
    }
    options.push_back(option_of(*setting, solvers, settings).under("Details of single solvers"));
  }
}

/// The only solver for the objective that has a setting which was given; null: none or several.
const SolverInfo* owner_of(const Settings& given, Objective objective) {
  const SolverInfo* owner = nullptr;
  for (const SolverInfo* solver : builtin_solvers()) {
    if (!supports(*solver, objective)) continue;
    const bool owns = std::any_of(solver->settings.begin(), solver->settings.end(),
                                  [&](const Setting* setting) { return given.has(setting->name); });
    if (owns && owner != nullptr) return nullptr;
    if (owns) owner = solver;
  }
  return owner;
}

/// Throws InvalidModel for a given setting that the solver does not have.
void refuse_settings_of_others(const Settings& given, const SolverInfo& solver) {
  for (const Setting* setting : all_settings()) {
    if (!given.has(setting->name) || has(solver, setting)) continue;
    std::vector<std::string> owners;
    for (const SolverInfo* other : builtin_solvers()) {
      if (has(*other, setting)) owners.push_back(quote::name(other->name));
    }
    throw InvalidModel(std::string(setting->name),
                       "is for the solver " + alternatives(owners) + ", not " + quote::name(solver.name));
  }
}

}  // namespace

void SolutionQuestion::answer_with(const SolverInfo& solver, Objective objective,
                                   const Attendance& attendance) {
  const System& system = scenario->system;
  SolveOptions options = how;
  options.stop = attendance.limits(time_limit_s);
  options.progress = attendance.proof;
  options.price_limits = explains;
  solution =
      solve(solver, solver.plans_service ? planned_problem(*scenario, objective) : Problem{system, objective},
            options);
  was_refused = solver.is_all_or_nothing && solution.outcome == Outcome::kBudget;
  if (explains && !solution.is_planned) explanation = explain(system, solution.assignment);
  if (explains && !solution.is_planned && !was_refused && objective == Objective::kThroughput &&
      solution.outcome != Outcome::kInfeasible) {
    SolveOptions again = options;
    again.progress = nullptr;
    again.keep_proof = false;
    limit_costs = costs_of_limits(solver, {system, objective}, solution, again);
  }
  if (options.progress) {
    options.progress({solution.performance.value, solution.gap() ? solution.upper_bound : std::nullopt});
  }
  if (!compares || was_refused || system.population() == 0 || solution.outcome == Outcome::kInfeasible)
    return;
  options.progress = nullptr;
  options.keep_proof = false;
  if (solution.is_planned) {
    if (!scenario->is_static() || scenario->power_cap || objective != Objective::kThroughput) return;
    if (why_no_even_sharing(system)) return;
    even = solve(default_solver(Objective::kThroughput), Problem{system, Objective::kThroughput}, options);
    if (even->outcome == Outcome::kTimeLimit || even->outcome == Outcome::kInterrupted) even.reset();
    return;
  }
  if (const SolverInfo* const home = find_solver("best-fit"); home != nullptr && home != &solver)
    best_fit = solve(*home, Problem{system, Objective::kThroughput});
  if (objective == Objective::kThroughput) return;
  fastest = solve(default_solver(Objective::kThroughput), Problem{system, Objective::kThroughput}, options);
  if (fastest->outcome == Outcome::kTimeLimit || fastest->outcome == Outcome::kInterrupted) fastest.reset();
}

std::string SolutionQuestion::json() const {
  return solution_json(scenario->system, solution, explains && !solution.is_planned ? &explanation : nullptr);
}

// ---- solve

std::pair<const SolverInfo*, Objective> SolveQuestion::chosen() const {
  if (solver.empty()) {
    const Objective wanted = objective.value_or(Objective::kThroughput);
    if (const SolverInfo* const owner = owner_of(how.settings, wanted)) return {owner, wanted};
    if (!objective) {
      if (const SolverInfo* const owner = owner_of(how.settings, Objective::kPriority))
        return {owner, Objective::kPriority};
    }
    return {&default_solver(wanted), wanted};
  }
  const SolverInfo* const known = find_solver(solver);
  if (known == nullptr) refuse_unknown("solver", "solver", solver, solvers_for(objective));
  const Objective wanted = objective.value_or(
      supports(*known, Objective::kThroughput) ? Objective::kThroughput : Objective::kPriority);
  if (!supports(*known, wanted)) {
    std::vector<std::string> others;
    for (const std::string_view name : solvers_for(wanted)) others.push_back(quote::name(name));
    throw InvalidModel("solver", quote::name(solver) + " does not optimise for " +
                                     std::string(to_string(wanted)) + "; use " + alternatives(others));
  }
  return {known, wanted};
}

std::vector<Option> SolveQuestion::options() {
  std::vector<Option> options;
  std::string meanings;
  for (const ObjectiveInfo& known : objectives()) {
    meanings +=
        (meanings.empty() ? "" : "; ") + std::string(known.summary) + (meanings.empty() ? " (default)" : "");
  }
  options.push_back(ask::objective_option(objective, meanings).leading());
  options.push_back(
      text_option("solver", solver, "solver to use, see 'allot list'")
          .unless_said("'best' for throughput, 'mis' for priority, 'planned' for planned service; "
                       "or the solver that another option belongs to")
          .shown_as("NAME")
          .suggesting(names_in(builtin_solvers()))
          .leading());
  options.push_back(service.option());
  options.push_back(ask::time_limit_option(
      time_limit_s, "stop after this time with the best answer so far, e.g. 30 or 10m"));
  options.push_back(ask::seed_option(how.seed));
  options.push_back(flag_option("explain", explains,
                                "show what moving a task would change, or what relaxing a limit would gain")
                        .with_letter("e"));
  options.push_back(
      Option{"start", AssignmentValue{&how.start}, "an assignment to begin from"}.not_for_commands());
  add_settings(options, how.settings);
  return options;
}

void SolveQuestion::answer(const Attendance& attendance) {
  auto [meant, wanted] = chosen();
  if (meant->plans_service && !service.wanted && !solver.empty()) service.wanted = Service::kPlanned;
  if (service.is_planned(*scenario, wanted, "solve") && !meant->plans_service) {
    if (!solver.empty())
      throw InvalidModel("solver", quote::name(solver) + " does not plan service; use 'planned'" +
                                       (service.note.empty() ? "" : ": " + service.note));
    meant = find_solver("planned");
  }
  if (service.wanted == Service::kEven && meant->plans_service)
    throw InvalidModel("service", "the solver 'planned' is not for even sharing");
  refuse_settings_of_others(how.settings, *meant);
  if (info(wanted).needs_shares)
    ask::require_priorities(scenario->system, "the " + std::string(to_string(wanted)) + " objective");
  answer_with(*meant, wanted, attendance);
}

namespace questions {

extern const QuestionInfo solve;
const QuestionInfo solve{"solve",
                         "Find where each task should run.",
                         "allot solve examples/workstation.toml --explain\n"
                         "allot solve examples/workstation.toml --objective priority\n"
                         "allot solve examples/workstation.toml --solver exact --json",
                         make_question<SolveQuestion>,
                         ProgressKind::kProof,
                         "Solution",
                         "progress: called with the best throughput and the proven bound so far, or None.\n"
                         "\n"
                         ">>> import allot\n"
                         ">>> machine = allot.Scenario([[8.0, 7.5], [2.0, 6.0]], [4, 4], priorities=[3, 1])\n"
                         ">>> allot.solve(machine).proven_optimal\n"
                         "True\n"
                         ">>> allot.solve(machine, solver=\"map\").outcome\n"
                         "'converged'\n"
                         ">>> allot.solve(machine, \"priority\").shares.round(2)\n"
                         "array([0.77, 0.23])"};
}  // namespace questions
}  // namespace allot
