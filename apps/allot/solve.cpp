// allot solve: where each task should run.
#include <memory>
#include <string>
#include <vector>

#include "allot/io/result_json.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/solver.hpp"
#include "apps/allot/command.hpp"
#include "apps/allot/input.hpp"
#include "apps/allot/interrupt.hpp"
#include "apps/allot/options.hpp"
#include "apps/allot/proof_file.hpp"
#include "apps/allot/report.hpp"

namespace allot::app {
namespace {

struct Arguments {
  std::string file;
  std::optional<Objective> objective;
  std::string solver;
  std::optional<double> time_limit;
  bool explain = false;
  bool json = false;
  bool slsqp_unoccupied = false;
  const CLI::Option* map_moves = nullptr;
  std::string proof;
  SolveOptions options;
};

std::vector<std::string> solvers_for(std::optional<Objective> objective) {
  std::vector<std::string> names;
  for (const SolverInfo* solver : builtin_solvers()) {
    if (!objective || supports(*solver, *objective)) names.push_back(in_quotes(solver->name));
  }
  return names;
}

/// The solver and the objective that were meant: the one given decides the other.
std::pair<const SolverInfo*, Objective> choose(const Arguments& arguments) {
  if (arguments.solver.empty()) {
    const Objective objective = arguments.objective.value_or(Objective::kThroughput);
    // Who says how MAP shall move means MAP.
    const bool means_map = objective == Objective::kThroughput && arguments.map_moves->count() > 0;
    return {means_map ? find_solver("map") : &default_solver(objective), objective};
  }
  const SolverInfo* solver = find_solver(arguments.solver);
  if (solver == nullptr) {
    std::vector<std::string_view> names;
    for (const SolverInfo* known : builtin_solvers()) names.push_back(known->name);
    throw Failure(Exit::kUsage, "--solver: there is no solver " + in_quotes(arguments.solver) + "." +
                                    did_you_mean(arguments.solver, names) + "\nThere are " +
                                    alternatives(solvers_for(arguments.objective)) + ".");
  }
  const Objective objective = arguments.objective.value_or(
      supports(*solver, Objective::kThroughput) ? Objective::kThroughput : Objective::kPriority);
  if (!supports(*solver, objective)) {
    throw Failure(Exit::kUsage, "--solver: " + in_quotes(solver->name) + " does not optimise for " +
                                    std::string(to_string(objective)) + "; use " +
                                    alternatives(solvers_for(objective)) + ".");
  }
  return {solver, objective};
}

/// Enumeration that never began is no answer, though the solution holds a placement.
bool was_refused(const Solution& solution) {
  return (solution.solver == "exhaustive" || solution.solver == "slsqp") &&
         solution.outcome == Outcome::kBudget;
}

Exit run_solve(const Arguments& arguments, Console& console) {
  const auto [solver, objective] = choose(arguments);
  const Scenario scenario = read_static_scenario_or_fail(arguments.file, "solve", console);
  const System& system = scenario.system;
  if (objective == Objective::kPriority && system.shares().empty()) {
    throw Failure(Exit::kInvalidInput,
                  arguments.file +
                      ": the priority objective needs a 'priority' for every task type, such as "
                      "'priority = 0.5'; none has one");
  }
  SolveOptions options = arguments.options;
  options.slsqp_occupied = !arguments.slsqp_unoccupied;
  options.keep_proof = !arguments.proof.empty();
  options.stop = start_clock(arguments.time_limit);
  const Solution solution = solve(*solver, Problem{system, objective}, options);
  const bool refused = was_refused(solution);
  std::vector<Placement> placements;
  if (arguments.explain) placements = explain(system, solution.assignment);

  if (arguments.json) {
    console.document(solution_json(system, solution, arguments.explain ? &placements : nullptr));
  } else if (refused) {
    throw Failure(Exit::kFailed, std::string(solution.solver) + " " + solution.reason +
                                     (solution.solver == "exhaustive" ? " (--max-states)" : "") +
                                     "; 'allot certify' proves optima of larger systems");
  } else {
    print_system(console, scenario);
    print_solution(console, scenario, solution);
    print_comparison(console, system, solution, options);
    if (arguments.explain) print_explanation(console, system, solution, placements);
  }
  write_proof(arguments.proof, system, solution);
  if (interrupted()) return Exit::kInterrupted;
  return refused || solution.outcome == Outcome::kInfeasible ? Exit::kFailed : Exit::kOk;
}

Action declare(CLI::App& command) {
  const auto arguments = std::make_shared<Arguments>();
  Arguments& a = *arguments;
  add_file(command, a.file);
  add_choice<std::optional<Objective>>(
      command, "--objective", a.objective,
      {{"throughput", Objective::kThroughput}, {"priority", Objective::kPriority}},
      "complete the most tasks per second (default), or match the shares that the priorities ask for");
  command
      .add_option("--solver", a.solver,
                  "default 'best' for throughput ('map' with --map-moves), 'mis' for priority; 'allot list' "
                  "names them all")
      ->type_name("NAME");
  add_time_limit(command, a.time_limit,
                 "stop after this time, with the best so far, as in 30 or 10m (default: no limit)");
  add_seed(command, a.options.seed);
  command.add_flag("--explain", a.explain, "say what moving a task elsewhere would change");
  add_proof(command, a.proof);
  add_json(command, a.json);

  const char* const details = "Details of single solvers";
  add_choice<ShareReading>(
      command, "--shares", a.options.shares,
      {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}},
      "weighted: every type completes exactly its share (default), or at least its part of the "
      "largest common level")
      ->group(details);
  add_choice<Sensitivity>(command, "--sensitivity", a.options.sensitivity,
                          {{"exact", Sensitivity::kExact}, {"derivative", Sensitivity::kDerivative}},
                          "map, mis: rate a move by the exact difference (default) or by the derivative")
      ->group(details);
  a.map_moves =
      add_choice<MapMoves>(
          command, "--map-moves", a.options.map_moves,
          {{"bulk", MapMoves::kBulk}, {"single", MapMoves::kSingle}},
          "map: several starts, and moves of many tasks and of two types at once (default), or only "
          "one task at a time from home, as printed")
          ->group(details);
  add_choice<MisMoves>(command, "--mis-moves", a.options.mis_moves,
                       {{"both", MisMoves::kBoth}, {"forward", MisMoves::kForward}},
                       "mis: move tasks both ways (default) or only towards the more sensitive resource")
      ->group(details);
  command
      .add_option_function<std::string>(
          "--max-states",
          [&a](const std::string& text) {
            a.options.max_states = parse_number("--max-states", text);
            if (!(a.options.max_states >= 1)) {
              throw CLI::ValidationError("--max-states", "must be at least 1, is " + in_quotes(text));
            }
          },
          "exhaustive: refuse a system of more states (default 1e9)")
      ->type_name("N")
      ->group(details);
  command
      .add_flag("--slsqp-unoccupied", a.slsqp_unoccupied,
                "slsqp: let the relaxation leave resources almost empty")
      ->group(details);
  return [arguments](Console& console) { return run_solve(*arguments, console); };
}

}  // namespace

extern const Command solve_command;
const Command solve_command{"solve", "Find where each task should run.",
                            "allot solve examples/workstation.toml --explain\n"
                            "allot solve examples/workstation.toml --objective priority\n"
                            "allot solve examples/workstation.toml --solver exact --json",
                            declare};

}  // namespace allot::app
