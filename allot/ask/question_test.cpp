#include "allot/ask/question.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>

#include "allot/analyze/analysis_json.hpp"
#include "allot/ask/questions/simulate.hpp"
#include "allot/ask/questions/solve.hpp"
#include "allot/base/error.hpp"
#include "allot/model/generate.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/simulation_json.hpp"
#include "allot/size/distribution.hpp"
#include "allot/solve/solution_json.hpp"
#include "allot/solve/solver.hpp"

namespace allot {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Scenario> small(bool priorities = false) {
  GenerateOptions how;
  how.priorities = priorities;
  return std::make_shared<const Scenario>(generate(how));
}

/// Says something for the option of that name.
template <typename Kind, typename... Values>
void say(Question& question, std::string_view name, Values... values) {
  for (const Option& option : question.options()) {
    if (option.name == name) return std::get<Kind>(option.value).set(values...);
  }
  FAIL() << "no option " << name;
}

std::string refusal(Question& question) {
  try {
    question.answer({});
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "";
}

TEST(Questions, HaveOptionsWithNamesHelpAndDefaultsWithinTheirRange) {
  for (const QuestionInfo* info : all_questions()) {
    EXPECT_EQ(find_question(info->name), info);
    const auto question = info->make();
    std::set<std::string> names;
    for (const Option& option : question->options()) {
      EXPECT_TRUE(names.insert(option.name).second) << info->name << ": " << option.name;
      EXPECT_FALSE(option.help.empty()) << option.name;
      EXPECT_EQ(option.help.find("(default "), std::string::npos) << option.name << ": from the value";
      EXPECT_EQ(option.name.find('-'), std::string::npos) << option.name;
      if (const auto* whole = std::get_if<WholeValue>(&option.value);
          whole != nullptr && whole->initial && option.absent.empty()) {
        EXPECT_GE(*whole->initial, whole->least) << option.name;
        EXPECT_LE(*whole->initial, whole->most) << option.name;
      }
      if (const auto* word = std::get_if<WordValue>(&option.value); word != nullptr && word->initial) {
        EXPECT_LT(*word->initial, word->words.size()) << option.name;
      }
    }
  }
  EXPECT_EQ(find_question("nothing"), nullptr);
}

TEST(Questions, SolveByWhatIsMeant) {
  SolveQuestion question;
  EXPECT_EQ(question.chosen().first->name, "best");
  say<WordValue>(question, "map_moves", std::size_t{1});
  EXPECT_EQ(question.chosen().first->name, "map");
  say<WordValue>(question, "objective", std::size_t{1});
  EXPECT_EQ(question.chosen().first->name, "mis");
  question.scenario = small(true);
  EXPECT_EQ(refusal(question), "map_moves: is for the solver 'map', not 'mis'");
  question.how.settings = {};
  question.objective.reset();
  question.solver = "weighted";
  EXPECT_EQ(question.chosen().second, Objective::kPriority);
  question.scenario = small();
  EXPECT_THAT(refusal(question), HasSubstr("needs a 'priority' for every task type"));
  question.solver = "mapp";
  EXPECT_THAT(refusal(question), HasSubstr("solver: there is no solver 'mapp'. Did you mean 'map'?"));
  question.solver = "mis";
  question.objective = Objective::kThroughput;
  EXPECT_THAT(refusal(question), HasSubstr("'mis' does not optimise for throughput; use 'best-fit'"));
}

TEST(Questions, SolveByTheSolverThatAnOptionBelongsTo) {
  for (const auto& [option, solver] : {std::pair{"shares", "weighted"}, std::pair{"mis_moves", "mis"}}) {
    for (const bool names_objective : {false, true}) {
      SolveQuestion question;
      question.scenario = small(true);
      if (names_objective) question.objective = Objective::kPriority;
      say<WordValue>(question, option, std::size_t{1});
      EXPECT_EQ(refusal(question), "");
      EXPECT_EQ(question.solution.solver, solver) << option;
      EXPECT_EQ(question.solution.objective, Objective::kPriority) << option;
    }
    SolveQuestion question;
    question.scenario = small(true);
    question.objective = Objective::kThroughput;
    say<WordValue>(question, option, std::size_t{1});
    EXPECT_EQ(refusal(question), std::string(option) + ": is for the solver '" + solver + "', not 'best'");
  }
  SolveQuestion question;
  question.scenario = small(true);
  say<WordValue>(question, "shares", std::size_t{1});
  say<WordValue>(question, "mis_moves", std::size_t{1});
  EXPECT_EQ(refusal(question), "mis_moves: is for the solver 'mis', not 'best'");
}

TEST(Questions, AnswerWithWhatOthersWouldReach) {
  SolveQuestion question;
  question.scenario = small(true);
  question.objective = Objective::kPriority;
  question.compares = true;
  question.answer({});
  ASSERT_TRUE(question.best_fit && question.fastest);
  EXPECT_GE(question.fastest->performance.throughput, question.best_fit->performance.throughput);
  EXPECT_THAT(question.json(), HasSubstr("\"mis\""));
}

TEST(Questions, RefuseWhatVariesAndWhatNoPolicyTakes) {
  Scenario scenario = *small();
  scenario.population.push_back({1.0, task_type(0), 1});
  CertifyQuestion certify;
  certify.scenario = std::make_shared<const Scenario>(scenario);
  EXPECT_THAT(refusal(certify), HasSubstr("population: 'certify' does not support [[population]]"));
  SimulateQuestion simulate;
  simulate.scenario = small();
  simulate.how.policy.placement_probabilities = {1};
  say<TextValue>(simulate, "policy", std::string("map"));
  EXPECT_THAT(refusal(simulate), HasSubstr("only the policy 'random' places by given ones"));
  simulate.how.policy.placement_probabilities.clear();
  say<WordValue>(simulate, "shares", std::size_t{1});
  EXPECT_EQ(refusal(simulate), "shares: is for the policy 'weighted'");
  say<TextValue>(simulate, "policy", std::string("fixed"));
  EXPECT_THAT(refusal(simulate), HasSubstr("the policy 'fixed' needs one to hold"));
  EXPECT_THROW(say<TextValue>(simulate, "policy", std::string("mop")), InvalidModel);
  EXPECT_THROW(say<TextValue>(simulate, "distribution", std::string("normal")), InvalidModel);
}

TEST(Questions, StopWhenNobodyWaitsAnyMore) {
  GenerateOptions how;
  how.general = 12;
  how.specialized = 12;
  how.threads = 500;
  const auto large = std::make_shared<const Scenario>(generate(how));
  const StopFlag stop{true};
  SolveQuestion question;
  question.scenario = large;
  question.answer({.flag = &stop});
  EXPECT_EQ(question.solution.outcome, Outcome::kInterrupted);
  CertifyQuestion late;
  late.scenario = large;
  late.answer({.used_s = 20});  // longer than the limit of 10 s
  EXPECT_EQ(late.solution.outcome, Outcome::kTimeLimit);
}

TEST(Question, ListsTheTablesOfBuiltIns) {
  const nlohmann::json json = nlohmann::json::parse(find_question("list")->make()->json());
  ASSERT_EQ(json.at("solvers").size(), builtin_solvers().size());
  for (std::size_t at = 0; at < builtin_solvers().size(); ++at) {
    EXPECT_EQ(json.at("solvers").at(at).at("name"), builtin_solvers()[at]->name);
    EXPECT_FALSE(json.at("solvers").at(at).at("objectives").empty());
  }
  EXPECT_EQ(json.at("policies").size(), builtin_policies().size());
  ASSERT_EQ(json.at("distributions").size(), builtin_distributions().size());
  for (std::size_t at = 0; at < builtin_distributions().size(); ++at) {
    const DistributionInfo& kind = *builtin_distributions()[at];
    EXPECT_EQ(json.at("distributions").at(at).at("name"), kind.name);
    EXPECT_EQ(json.at("distributions").at(at).contains("parameters"), !kind.parameters.empty());
  }
  EXPECT_EQ(json.at("disciplines").size(), 2U);
}

template <typename Result>
void check_fields(std::span<const ResultField<Result>> fields) {
  std::set<std::string_view> keys;
  for (const ResultField<Result>& field : fields) {
    SCOPED_TRACE(field.key);
    EXPECT_TRUE(keys.insert(field.key).second);
    EXPECT_TRUE(field.kept != nullptr || field.word != nullptr || field.json != nullptr);
    EXPECT_TRUE(field.help.empty() ||
                ((field.kept != nullptr || field.word != nullptr) && field.help.ends_with('.')));
    EXPECT_TRUE(field.sentence.empty() || field.sentence.find("{}") != std::string_view::npos);
  }
}

TEST(ResultFields, AreNamedOnceAndExplained) {
  check_fields(solution_fields());
  check_fields(simulation_fields());
  check_fields(analysis_fields());
  check_fields(point_fields());
  check_fields(change_fields());
  check_fields(difference_fields());
}

}  // namespace
}  // namespace allot
