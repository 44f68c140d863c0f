#include "integrations/wasm/answer.hpp"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "allot/ask/questions/simulate.hpp"
#include "allot/ask/service_choice.hpp"
#include "allot/base/error.hpp"
#include "allot/format/json.hpp"
#include "allot/format/scenario_reader.hpp"
#include "allot/format/scenario_writer.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/solve/explain.hpp"
#include "allot/solve/fairness.hpp"
#include "allot/solve/solution_json.hpp"

namespace allot::wasm {
namespace {

/// The problems of an invalid question.
using Problems = std::vector<Diagnostic>;

[[noreturn]] void refuse(std::string place, std::string message) {
  throw Problems{{std::move(place), std::move(message)}};
}

template <typename T>
T value_or_refuse(ReadResult<T> result) {
  if (!result) throw result.diagnostics();
  return std::move(result).value();
}

/// The options of a page's question, by name and kind.
class Said {
 public:
  explicit Said(std::string_view text) : document_(value_or_refuse(parse_document(text, FileFormat::kJson))) {
    if (document_.root().get<Node::Table>() == nullptr) refuse("options", "must be an object");
  }

  const Node* find(std::string_view key) const { return document_.root().find(key); }

  double number(const Node& node) const {
    if (const auto* const value = node.get<std::int64_t>()) return static_cast<double>(*value);
    const auto* const value = node.get<double>();
    if (value == nullptr) wrong(node, "a number");
    return *value;
  }
  std::uint64_t whole(const Node& node, std::uint64_t least, std::uint64_t most) const {
    const auto* const value = node.get<std::int64_t>();
    if (value == nullptr || *value < 0 || static_cast<std::uint64_t>(*value) < least ||
        static_cast<std::uint64_t>(*value) > most) {
      wrong(node, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<std::uint64_t>(*value);
  }
  bool flag(const Node& node) const {
    const bool* const value = node.get<bool>();
    return value != nullptr ? *value : (wrong(node, "true or false"), false);
  }
  std::string text(const Node& node) const {
    const auto* const value = node.get<std::string>();
    return value != nullptr ? *value : (wrong(node, "a string"), std::string());
  }
  std::vector<std::string> texts(const Node& node) const {
    std::vector<std::string> result;
    for (const Node& element : array(node, "an array of strings")) result.push_back(text(element));
    return result;
  }
  const Node::Array& array(const Node& node, const std::string& what) const {
    const auto* const value = node.get<Node::Array>();
    if (value == nullptr) wrong(node, what);
    return *value;
  }

  /// A matrix of numbers, row-major.
  std::vector<double> matrix(const Node& node, std::size_t rows, std::size_t columns) const {
    std::vector<double> values;
    const std::string shape =
        "a matrix of " + std::to_string(rows) + " x " + std::to_string(columns) + " numbers";
    const Node::Array& lines = array(node, shape);
    if (lines.size() != rows) wrong(node, shape);
    for (const Node& line : lines) {
      const Node::Array& entries = array(line, shape);
      if (entries.size() != columns) wrong(line, shape);
      for (const Node& entry : entries) values.push_back(number(entry));
    }
    return values;
  }

  void check(const Node& node, const std::string& problem) const {
    if (!problem.empty()) refuse(document_.place(node), problem + ", not " + document_.describe(node));
  }
  [[noreturn]] void wrong(const Node& node, const std::string& right) const {
    refuse(document_.place(node), "must be " + right + ", not " + document_.describe(node));
  }

 private:
  Document document_;
};

FileFormat format_of(const Call& call) { return call.is_json ? FileFormat::kJson : FileFormat::kToml; }

Scenario scenario_of(const Call& call) {
  return value_or_refuse(read_scenario_text(call.scenario, format_of(call)));
}

Scenario static_scenario_of(const Call& call) {
  Scenario scenario = scenario_of(call);
  const auto refuse_varying = [&](bool is_there, const char* key) {
    if (is_there)
      refuse(key, "'" + std::string(call.command) + "' needs constant counts; 'simulate' does not");
  };
  refuse_varying(!scenario.threads.empty(), "threads");
  refuse_varying(!scenario.population.empty(), "population");
  refuse_varying(!scenario.arrivals.empty(), "arrivals");
  return scenario;
}

Assignment assignment_of(const Said& said, const Node* node, const System& system) {
  if (node == nullptr) refuse("assignment", "is missing");
  Assignment assignment(system.type_count(), system.resource_count());
  const std::vector<double> counts = said.matrix(*node, system.type_count(), system.resource_count());
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
    refuse("assignment", "must place every thread exactly once and meet the minimum depths");
  return assignment;
}

/// Sets one option to its given value.
struct Setter {
  const Said& said;
  const Node& node;
  const Scenario* scenario;

  void operator()(const FlagValue& value) const { value.set(said.flag(node)); }
  void operator()(const WholeValue& value) const {
    const auto* const word = node.get<std::string>();
    if (word != nullptr && !value.otherwise.empty() && *word == value.otherwise) return;
    value.set(said.whole(node, value.least, value.most));
  }
  void operator()(const NumberValue& value) const { said.check(node, put(value, said.number(node))); }
  void operator()(const RangeValue& value) const {
    const Node::Array& ends = said.array(node, "two numbers");
    if (ends.size() != 2) said.wrong(node, "two numbers");
    value.set(said.number(ends[0]), said.number(ends[1]));
  }
  void operator()(const SecondsValue& value) const { said.check(node, put(value, said.number(node))); }
  void operator()(const PartValue& value) const { said.check(node, put(value, said.number(node))); }
  void operator()(const WordValue& value) const { said.check(node, put(value, said.text(node))); }
  void operator()(const TextValue& value) const { value.set(said.text(node)); }
  void operator()(const TextsValue& value) const { value.set(said.texts(node)); }
  void operator()(const AssignmentValue& value) const {
    *value.target = assignment_of(said, &node, scenario->system);
  }
  void operator()(const ProbabilitiesValue& value) const {
    *value.target = said.matrix(node, scenario->system.type_count(), scenario->system.resource_count());
  }
};

void set_options(Question& question, const Said& said) {
  for (const Option& option : question.options()) {
    if (const Node* const node = said.find(option.name); node != nullptr && option.is_for_page)
      std::visit(Setter{said, *node, question.scenario.get()}, option.value);
    else if (node == nullptr && option.is_required)
      refuse(option.name, "is missing");
  }
}

/// Any question of the library.
std::string ask(const QuestionInfo& info, const Call& call, const Said& said) {
  const std::unique_ptr<Question> question = info.make();
  if (question->needs_scenario()) question->scenario = std::make_shared<const Scenario>(scenario_of(call));
  set_options(*question, said);
  // The page has a web worker instead of threads, and asks for the best assignment itself.
  if (auto* const simulation = dynamic_cast<SimulationQuestion*>(question.get())) simulation->how.threads = 1;
  if (auto* const comparison = dynamic_cast<CompareQuestion*>(question.get())) comparison->finds_best = false;
  Attendance attendance;
  attendance.share = call.progress;
  question->answer(attendance);
  return question->json();
}

/// Why only planned service can answer, or null.
Json reason_to_plan(const Scenario& scenario) {
  if (!scenario.population.empty()) return nullptr;  // planned service cannot, either
  ServiceChoice choice;
  return choice.is_planned(scenario, Objective::kThroughput, "solve") ? Json(choice.note) : Json();
}

/// The scenario in both formats, its notes, and its shares and home resources.
std::string read(const Call& call, const Said&) {
  const Scenario scenario = scenario_of(call);
  return Json::object({{"json", write_scenario(scenario, FileFormat::kJson)},
                       {"toml", write_scenario(scenario, FileFormat::kToml)},
                       {"static", scenario.is_static()},
                       {"planned", reason_to_plan(scenario)},
                       {"notes", notes(scenario)}})
      .line();
}

std::string evaluate(const Call& call, const Said& said) {
  const Scenario scenario = static_scenario_of(call);
  Solution solution;
  solution.solver = "given";
  solution.assignment = assignment_of(said, said.find("assignment"), scenario.system);
  solution.performance = allot::evaluate(scenario.system, solution.assignment);
  const std::vector<Placement> placements = explain(scenario.system, solution.assignment);
  return solution_json(scenario.system, solution, &placements);
}

std::string flows(const Call& call, const Said& said) {
  const Node* const node = said.find("time_shares");
  const System system = (node != nullptr ? scenario_of(call) : static_scenario_of(call)).system;
  const std::size_t width = system.resource_count();
  std::vector<double> values;
  if (node != nullptr) {
    values = said.matrix(*node, system.type_count(), width);
    for (std::size_t at = 0; at < values.size(); ++at) values[at] *= system.rates().values()[at];
  } else {
    values = throughput_by_pair(system, assignment_of(said, said.find("assignment"), system));
  }
  return Json::matrix(values, width).line();
}

/// The value of a plan against the completions of its least-served type.
std::string fairness(const Call& call, const Said& said) {
  std::size_t points = 11;
  if (const Node* const node = said.find("points")) points = said.whole(*node, 2, 1000);
  const FairnessTrade trade =
      trade_fairness(planned_problem(scenario_of(call), Objective::kThroughput), points);
  Json::Array list;
  for (const FairnessPoint& point : trade.points)
    list.push_back(Json::object({{"least", point.least}, {"value", point.value}}));
  return Json::object({{"outcome", to_string(trade.outcome)}, {"points", std::move(list)}}).line();
}

/// The completions of the least-served type for given completions of types and rounds of groups.
std::string least(const Call& call, const Said& said) {
  const Scenario scenario = scenario_of(call);
  const auto numbers = [&](const char* key, std::size_t count) {
    const Node* const node = said.find(key);
    if (node == nullptr) return std::vector<double>();
    const Node::Array& given = said.array(*node, "an array of numbers");
    if (given.size() != count) said.wrong(*node, std::to_string(count) + " numbers");
    std::vector<double> values;
    for (const Node& value : given) values.push_back(said.number(value));
    return values;
  };
  const std::vector<double> completions = numbers("completions", scenario.system.type_count());
  if (completions.empty()) refuse("completions", "is missing");
  const std::vector<double> rounds = numbers("rounds", scenario.threads.size());
  const double served = least_served(planned_problem(scenario, Objective::kThroughput), completions, rounds);
  return Json::object({{"least", served}}).line();
}

/// Events as rows of numbers, which a page can read quickly.
class Recorder : public TraceSink {
 public:
  void event(const TraceEvent& event) override {
    events.emplace_back(Json::Array{static_cast<int>(event.what), event.time, event.task, event.thread,
                                    index(event.type), index(event.resource)});
  }
  Json::Array events;
};

/// The first events of a simulation, and the target of the policy.
std::string replay(const Call& call, const Said& said) {
  const Scenario scenario = static_scenario_of(call);
  SimulateQuestion question;
  question.scenario = std::make_shared<const Scenario>(scenario);
  set_options(question, said);
  const PolicyInfo& info = *question.policy.builtin;
  SimulateOptions& how = question.how;
  how.completions = 2000;
  if (const Node* const node = said.find("completions")) how.completions = said.whole(*node, 1, 100'000);
  how.warmup = 0;
  how.replications = 1;
  how.threads = 1;
  Recorder recorder;
  how.trace = &recorder;
  simulate(scenario, info, *question.sizes, how);
  const std::unique_ptr<Policy> policy = info.make(scenario.system, how.policy);
  std::vector<Count> population;
  for (const TaskType i : scenario.system.types()) population.push_back(scenario.system.count(i));
  policy->set_population(population);
  const Assignment* const target = policy->target();
  Json object;
  object.add("policy", info.name);
  object.add("target", target != nullptr ? Json(*target) : Json());
  object.add("events", std::move(recorder.events));
  return object.line();
}

/// Questions that only a page asks.
struct Own {
  std::string_view name;
  std::string (*answer)(const Call&, const Said&);
};

constexpr Own kOwn[] = {{"read", read},         {"evaluate", evaluate}, {"flows", flows},
                        {"fairness", fairness}, {"least", least},       {"replay", replay}};

std::string problems_json(const Problems& problems) {
  Json::Array list;
  for (const Diagnostic& problem : problems)
    list.push_back(Json::object({{"place", problem.place}, {"message", problem.message}}));
  return Json::object({{"diagnostics", std::move(list)}}).line();
}

}  // namespace

std::string answer(const Call& call) {
  try {
    const Said said(call.options);
    for (const Own& own : kOwn) {
      if (own.name == call.command) return own.answer(call, said);
    }
    if (const QuestionInfo* const question = find_question(call.command)) return ask(*question, call, said);
    return problems_json({{"command", "there is no command '" + std::string(call.command) + "'"}});
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
