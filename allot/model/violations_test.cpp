// Every rule at once: nothing hides behind the first that is violated.
#include "allot/model/violations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allot/base/error.hpp"

namespace allot {
namespace {

std::vector<std::string> texts(const Rules& rules) {
  std::vector<std::string> out;
  for (const Violation& found : rules.found())
    out.push_back(to_string(found.place) + ": " + to_string(found));
  return out;
}

TEST(Rules, FindAllThatIsViolatedInASystem) {
  Rules rules;
  rules.system({{.name = "cpu", .servers = 0, .power = -1}, {.name = "cpu", .kind = Kind::kSpecialized}},
               {{.name = "a", .count = 1, .priority = 2}, {.name = "", .count = -1, .floor = 1e200}},
               PerPair<double>(2, 2, 3.0));
  EXPECT_THAT(
      texts(rules),
      ::testing::UnorderedElementsAre(
          "resources[0].servers: must be a whole number from 1 to 1000000000, is 0",
          "resources[0].power: must be a finite number >= 0, is -1.0",
          "resources[1].name: resource name 'cpu' is used twice",
          "resources[1].kind: 'cpu' is an accelerator (\"sa\"): only one task type may have a rate on "
          "it, not 'a', ''",
          "tasks[1].name: must not be empty",
          "tasks[1].count: must be a whole number from 0 to 1000000000, is -1",
          "tasks[1].floor: must be at most 1e100, is 1e+200",
          "tasks[1].priority: needs 'priority', since other tasks have one: give it for all task types or "
          "for none (they are weights, divided by their sum)"));
  EXPECT_THROW(throw_if_any(rules.found()), InvalidModel);
}

TEST(Rules, SayNothingThatRestsOnAValueThatIsWrongOrWasNotRead) {
  Rules rules;
  rules.unread("tasks", 0, "rates");
  rules.unread("tasks", 0, "name");
  PerPair<double> rates(2, 1);
  rates(task_type(1), resource_id(0)) = -1;
  rules.system({{.name = "cpu"}},
               {{.name = "", .count = 1, .home = resource_id(0)}, {.name = "b", .count = 1}}, rates);
  EXPECT_THAT(texts(rules),
              ::testing::ElementsAre("tasks[1].rates.cpu: must be a finite number >= 0, is -1.0"));
}

TEST(Rules, LookAtCountsOverTimeInTheOrderOfTime) {
  Rules rules;
  rules.work({{.name = "a", .count = 1}}, PerPair<double>(1, 1, 1.0), {},
             {{2, task_type(0), -2}, {1, task_type(0), 1}, {3, task_type(0), -1}}, {});
  EXPECT_THAT(texts(rules),
              ::testing::ElementsAre("population[2].change: 'change' would take the count of 'a' from "
                                     "0 to -1; it must stay from 0 to 1000000000"));
}

}  // namespace
}  // namespace allot
