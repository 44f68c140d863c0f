#include "integrations/wasm/answer.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/io/result_json.hpp"
#include "allot/io/scenario_reader.hpp"
#include "allot/io/scenario_writer.hpp"
#include "allot/model/generate.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/pareto.hpp"
#include "allot/solve/solver.hpp"

namespace allot::wasm {
namespace {

using Json = nlohmann::ordered_json;

/// What a question asks for that cannot be.
using Problems = std::vector<Diagnostic>;

[[noreturn]] void refuse(std::string place, std::string message) {
  throw Problems{{std::move(place), std::move(message)}};
}

template <typename T>
T value_or_refuse(ReadResult<T> result) {
  if (!result) throw result.diagnostics();
  return std::move(result).value();
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
}

/// The options of a question, by name and kind.
class Options {
 public:
  explicit Options(std::string_view text)
      : document_(value_or_refuse(parse_document(text, FileFormat::kJson))) {
    if (document_.root().get<Node::Table>() == nullptr) refuse("options", "must be an object");
  }

  bool has(std::string_view key) const { return document_.root().find(key) != nullptr; }

  std::string text(std::string_view key, std::string_view otherwise) const {
    const Node* const node = document_.root().find(key);
    if (node == nullptr) return std::string(otherwise);
    const auto* const value = node->get<std::string>();
    return value != nullptr ? *value : (wrong(*node, "a string"), std::string());
  }

  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> result;
    const Node* const node = document_.root().find(key);
    if (node == nullptr) return result;
    const auto* const array = node->get<Node::Array>();
    if (array == nullptr) wrong(*node, "an array of strings");
    for (const Node& element : *array) {
      const auto* const value = element.get<std::string>();
      if (value == nullptr) wrong(element, "a string");
      result.push_back(*value);
    }
    return result;
  }

  bool flag(std::string_view key) const {
    const Node* const node = document_.root().find(key);
    if (node == nullptr) return false;
    const bool* const value = node->get<bool>();
    return value != nullptr ? *value : (wrong(*node, "true or false"), false);
  }

  double number(std::string_view key, double otherwise) const {
    const Node* const node = document_.root().find(key);
    return node == nullptr ? otherwise : number(*node);
  }

  std::uint64_t whole(std::string_view key, std::uint64_t otherwise, std::uint64_t least,
                      std::uint64_t most) const {
    const Node* const node = document_.root().find(key);
    if (node == nullptr) return otherwise;
    const auto* const value = node->get<std::int64_t>();
    if (value == nullptr || *value < 0 || static_cast<std::uint64_t>(*value) < least ||
        static_cast<std::uint64_t>(*value) > most) {
      wrong(*node, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<std::uint64_t>(*value);
  }

  /// A matrix of numbers, row-major; empty when it is not there.
  std::vector<double> matrix(std::string_view key, std::size_t rows, std::size_t columns) const {
    std::vector<double> values;
    const Node* const node = document_.root().find(key);
    if (node == nullptr) return values;
    const std::string shape =
        "a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) + " numbers";
    const auto* const lines = node->get<Node::Array>();
    if (lines == nullptr || lines->size() != rows) wrong(*node, shape);
    for (const Node& line : *lines) {
      const auto* const entries = line.get<Node::Array>();
      if (entries == nullptr || entries->size() != columns) wrong(line, shape);
      for (const Node& entry : *entries) values.push_back(number(entry));
    }
    return values;
  }

  template <typename T>
  T choice(std::string_view key, T otherwise,
           std::initializer_list<std::pair<std::string_view, T>> names) const {
    if (!has(key)) return otherwise;
    const std::string name = text(key, {});
    std::string known;
    for (const auto& [candidate, value] : names) {
      if (candidate == name) return value;
      known += (known.empty() ? "'" : " or '") + std::string(candidate) + "'";
    }
    refuse(std::string(key), "must be " + known + ", not '" + name + "'");
  }

 private:
  double number(const Node& node) const {
    if (const auto* const value = node.get<std::int64_t>()) return static_cast<double>(*value);
    const auto* const value = node.get<double>();
    if (value == nullptr) wrong(node, "a number");
    return *value;
  }

  [[noreturn]] void wrong(const Node& node, const std::string& right) const {
    refuse(document_.place(node), "must be " + right + ", not " + document_.describe(node));
  }

  Document document_;
};

FileFormat format_of(const Question& question) {
  return question.is_json ? FileFormat::kJson : FileFormat::kToml;
}

Scenario scenario_of(const Question& question) {
  return value_or_refuse(read_scenario_text(question.scenario, format_of(question)));
}

Scenario static_scenario_of(const Question& question) {
  Scenario scenario = scenario_of(question);
  const auto refuse_varying = [&](bool is_there, const char* key) {
    if (is_there)
      refuse(key, "'" + std::string(question.command) + "' needs constant counts; 'simulate' does not");
  };
  refuse_varying(!scenario.threads.empty(), "threads");
  refuse_varying(!scenario.population.empty(), "population");
  refuse_varying(!scenario.arrivals.empty(), "arrivals");
  return scenario;
}

void need_priorities(const System& system) {
  if (system.shares().empty()) refuse("tasks", "this needs a priority for every task type; none has one");
}

StopLimits limits_of(const Options& options, std::optional<double> otherwise) {
  StopLimits limits;
  const double seconds = options.number("time_limit", otherwise.value_or(0));
  if (seconds > 0 && seconds < 1e9) {
    limits.deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  }
  return limits;
}

SolveOptions solve_options_of(const Options& options, std::optional<double> time_limit = {}) {
  SolveOptions result;
  result.stop = limits_of(options, time_limit);
  result.seed = options.whole("seed", 1, 0, std::uint64_t{1} << 62);
  result.shares = options.choice<ShareReading>(
      "shares", ShareReading::kExact, {{"exact", ShareReading::kExact}, {"floor", ShareReading::kFloor}});
  return result;
}

std::string list(const Question&, const Options&) { return list_json(builtin_listing()); }

/// The scenario in both formats, what is worth a word about it, and what its shares and homes come to.
std::string read(const Question& question, const Options&) {
  const Scenario scenario = scenario_of(question);
  Json object;
  object["json"] = write_scenario(scenario, FileFormat::kJson);
  object["toml"] = write_scenario(scenario, FileFormat::kToml);
  object["static"] = scenario.is_static();
  object["notes"] = notes(scenario);
  return text_of(object);
}

std::string solve(const Question& question, const Options& options) {
  const Scenario scenario = static_scenario_of(question);
  const Objective objective =
      options.choice<Objective>("objective", Objective::kThroughput,
                                {{"throughput", Objective::kThroughput}, {"priority", Objective::kPriority}});
  const std::string name = options.text("solver", default_solver(objective).name);
  const SolverInfo* const solver = find_solver(name);
  if (solver == nullptr) refuse("solver", "there is no solver '" + name + "'");
  if (objective == Objective::kPriority) need_priorities(scenario.system);
  const Solution solution =
      allot::solve(*solver, Problem{scenario.system, objective}, solve_options_of(options));
  if (!options.flag("explain")) return solution_json(scenario.system, solution);
  const std::vector<Placement> placements = explain(scenario.system, solution.assignment);
  return solution_json(scenario.system, solution, &placements);
}

std::string certify(const Question& question, const Options& options) {
  const Scenario scenario = static_scenario_of(question);
  return solution_json(scenario.system,
                       allot::solve(*find_solver("exact"), Problem{scenario.system, Objective::kThroughput},
                                    solve_options_of(options, 10.0)));
}

std::string pareto(const Question& question, const Options& options) {
  const Scenario scenario = static_scenario_of(question);
  need_priorities(scenario.system);
  const SolveOptions how = solve_options_of(options);
  const ParetoFrontier frontier =
      allot::pareto(scenario.system, options.whole("points", 20, 2, 1'000'000), how);
  if (frontier.outcome == Outcome::kTimeLimit) return pareto_json(scenario.system, frontier, nullptr);
  const Solution weighted =
      allot::solve(*find_solver("weighted"), Problem{scenario.system, Objective::kPriority}, how);
  return pareto_json(scenario.system, frontier, &weighted);
}

Assignment assignment_of(const Options& options, const System& system) {
  Assignment assignment(system.type_count(), system.resource_count());
  const std::vector<double> counts =
      options.matrix("assignment", system.type_count(), system.resource_count());
  if (counts.empty()) refuse("assignment", "is missing");
  const PairSpan given(counts, system.resource_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) {
      const double n = given(i, j);
      if (!(n >= 0) || n > static_cast<double>(kMaxCount) || n != std::floor(n) ||
          (n > 0 && !system.can_run(i, j)))
        refuse("assignment", "must hold whole numbers, and 0 where a type cannot run");
      assignment(i, j) = static_cast<Count>(n);
    }
  }
  if (!is_placement(system, assignment))
    refuse("assignment", "must place every thread exactly once and keep the least depths");
  return assignment;
}

std::string evaluate(const Question& question, const Options& options) {
  const Scenario scenario = static_scenario_of(question);
  Solution solution;
  solution.solver = "given";
  solution.assignment = assignment_of(options, scenario.system);
  solution.performance = allot::evaluate(scenario.system, solution.assignment);
  const std::vector<Placement> placements = explain(scenario.system, solution.assignment);
  return solution_json(scenario.system, solution, &placements);
}

std::string flows(const Question& question, const Options& options) {
  const System system = static_scenario_of(question).system;
  const std::vector<double> time_shares =
      options.matrix("time_shares", system.type_count(), system.resource_count());
  const PairSpan shares(time_shares, system.resource_count());
  std::optional<Assignment> assignment;
  if (time_shares.empty()) assignment = assignment_of(options, system);
  Json rows = Json::array();
  for (std::size_t i = 0; i < system.type_count(); ++i) rows.push_back(Json::array());
  for (const ResourceId j : system.resource_ids()) {
    CompletionLaw law;
    if (assignment) {
      const Resource& resource = system.resource(j);
      law = completion_law(resource.discipline, resource.servers, column_sums(system, *assignment, j));
    }
    for (const TaskType i : system.types()) {
      const double mu = system.rate(i, j);
      rows[index(i)].push_back(assignment ? static_cast<double>((*assignment)(i, j)) *
                                                (law.per_rate * mu + law.per_task)
                                          : mu * shares(i, j));
    }
  }
  return text_of(rows);
}

std::string generate(const Question&, const Options& options) {
  GenerateOptions how;
  how.general = options.whole("gps", how.general, 0, 64);
  how.specialized = options.whole("sas", how.specialized, 0, 64);
  how.threads =
      static_cast<Count>(options.whole("threads", static_cast<std::uint64_t>(how.threads), 0, 1'000'000'000));
  how.rule = options.choice<AffinityRule>("rule", how.rule,
                                          {{"row", AffinityRule::kRow},
                                           {"column", AffinityRule::kColumn},
                                           {"ordered", AffinityRule::kOrdered},
                                           {"none", AffinityRule::kNone}});
  how.lowest_rate = options.number("lowest_rate", how.lowest_rate);
  how.highest_rate = options.number("highest_rate", how.highest_rate);
  how.priorities = options.flag("priorities");
  how.powers = options.flag("powers");
  how.seed = options.whole("seed", 1, 0, std::uint64_t{1} << 62);
  return write_scenario(allot::generate(how), FileFormat::kJson);
}

const PolicyInfo& policy_or_refuse(const std::string& name) {
  if (const PolicyInfo* const policy = find_policy(name)) return *policy;
  refuse("policy", "there is no policy '" + name + "'");
}

SimulateOptions simulate_options_of(const Question& question, const Options& options, const System& system) {
  SimulateOptions how;
  how.completions = options.whole("completions", how.completions, 1, 1'000'000'000'000);
  if (options.has("warmup")) how.warmup = options.whole("warmup", 0, 0, 1'000'000'000'000);
  how.replications =
      static_cast<std::uint32_t>(options.whole("replications", how.replications, 1, 1'000'000));
  how.random_start = options.choice<bool>("start", how.random_start, {{"random", true}, {"listed", false}});
  how.seed = options.whole("seed", how.seed, 0, std::uint64_t{1} << 62);
  how.threads = 1;  // the page has a worker, not threads
  how.policy.shares = solve_options_of(options).shares;
  if (options.has("assignment")) how.policy.assignment = assignment_of(options, system);
  how.progress = question.progress;
  return how;
}

std::string simulate(const Question& question, const Options& options) {
  const Scenario scenario = scenario_of(question);
  const auto sizes = make_distribution(options.text("distribution", "exponential"));
  return simulation_json(scenario.system,
                         allot::simulate(scenario, policy_or_refuse(options.text("policy", "map")), *sizes,
                                         simulate_options_of(question, options, scenario.system)));
}

std::string compare(const Question& question, const Options& options) {
  const Scenario scenario = scenario_of(question);
  const auto sizes = make_distribution(options.text("distribution", "exponential"));
  std::vector<const PolicyInfo*> policies;
  for (const std::string& name : options.texts("policies")) policies.push_back(&policy_or_refuse(name));
  if (policies.empty()) refuse("policies", "needs at least one policy");
  return comparison_json(
      scenario.system,
      allot::compare(scenario, policies, *sizes, simulate_options_of(question, options, scenario.system)));
}

/// Events as rows of numbers, which a page reads quickly.
class Recorder : public TraceSink {
 public:
  void event(const TraceEvent& event) override {
    events.push_back(Json::array({static_cast<int>(event.what), event.time, event.task, event.thread,
                                  index(event.type), index(event.resource)}));
  }
  Json events = Json::array();
};

/// What happens from the first moment on, and the target that the policy holds.
std::string replay(const Question& question, const Options& options) {
  const Scenario scenario = static_scenario_of(question);
  const PolicyInfo& info = policy_or_refuse(options.text("policy", "map"));
  const auto sizes = make_distribution(options.text("distribution", "exponential"));
  SimulateOptions how = simulate_options_of(question, options, scenario.system);
  how.completions = options.whole("completions", 2000, 1, 100'000);
  how.warmup = 0;
  how.replications = 1;
  Recorder recorder;
  how.trace = &recorder;
  allot::simulate(scenario, info, *sizes, how);
  const std::unique_ptr<Policy> policy = info.make(scenario.system, how.policy);
  std::vector<Count> population;
  for (const TaskType i : scenario.system.types()) population.push_back(scenario.system.count(i));
  policy->set_population(population);
  Json object;
  object["policy"] = info.name;
  object["target"] = nullptr;
  if (const Assignment* const target = policy->target()) {
    object["target"] = Json::array();
    for (const TaskType i : scenario.system.types()) {
      Json row = Json::array();
      for (const ResourceId j : scenario.system.resource_ids()) row.push_back((*target)(i, j));
      object["target"].push_back(std::move(row));
    }
  }
  object["events"] = std::move(recorder.events);
  return text_of(object);
}

struct Command {
  std::string_view name;
  std::string (*answer)(const Question&, const Options&);
};

constexpr Command kCommands[] = {
    {"list", list},         {"read", read},         {"solve", solve},   {"certify", certify},
    {"pareto", pareto},     {"evaluate", evaluate}, {"flows", flows},   {"generate", generate},
    {"simulate", simulate}, {"compare", compare},   {"replay", replay},
};

std::string problems_json(const Problems& problems) {
  Json object;
  Json& list = object["diagnostics"] = Json::array();
  for (const Diagnostic& problem : problems)
    list.push_back({{"place", problem.place}, {"message", problem.message}});
  return text_of(object);
}

}  // namespace

std::string answer(const Question& question) {
  try {
    const Options options(question.options);
    for (const Command& command : kCommands) {
      if (command.name == question.command) return command.answer(question, options);
    }
    return problems_json({{"command", "there is no command '" + std::string(question.command) + "'"}});
  } catch (const Problems& problems) {
    return problems_json(problems);
  } catch (const InvalidModel& error) {
    const std::string text = error.what();
    return problems_json({{error.field(), text.substr(std::min(text.size(), error.field().size() + 2))}});
  } catch (const std::bad_alloc&) {
    return problems_json({{"memory", "this is too large for a page"}});
  }
}

}  // namespace allot::wasm
