#include "allot/format/assignment_reader.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace allot {
namespace {

using ::testing::ElementsAre;

const System& two_by_two() {
  static const System system({{.name = "cpu"}, {.name = "gpu", .min_depth = 2}},
                             {{.name = "sort", .count = 3}, {.name = "search", .count = 2}},
                             Rates(2, 2, {9, 2, 0, 4}));
  return system;
}

std::vector<std::string> problems(const std::string& text) {
  const auto read = read_assignment_text(text, two_by_two(), "a.json");
  std::vector<std::string> out;
  if (!read) {
    for (const Diagnostic& diagnostic : read.diagnostics()) out.push_back(to_string(diagnostic));
  }
  return out;
}

TEST(AssignmentReader, TakesAMatrixOrTheOutputOfSolve) {
  Assignment wanted(2, 2);
  wanted(task_type(0), resource_id(0)) = 3;
  wanted(task_type(1), resource_id(1)) = 2;
  for (const char* text :
       {"[[3, 0], [0, 2]]", R"({"solver": "map", "tasks": ["sort", "search"], "resources": ["cpu", "gpu"],
                               "assignment": [[3, 0], [0, 2.0]], "throughput": 12.5, "gap": null})"}) {
    const auto read = read_assignment_text(text, two_by_two());
    ASSERT_TRUE(read) << to_string(read.diagnostics().front());
    EXPECT_EQ(*read, wanted);
    EXPECT_TRUE(is_placement(two_by_two(), *read));
  }
}

TEST(AssignmentReader, NamesEveryEntryThatIsWrong) {
  EXPECT_THAT(problems("[[2, 0], [1, 1]]"),
              ElementsAre("a.json: $[0]: the row of 'sort' must sum to its 3 threads, sums to 2",
                          "a.json: $[1][0]: 'search' cannot run on 'cpu': its count there must be 0, is 1"));
  EXPECT_THAT(
      problems("[[-1, 4.5], [0, \"2\"]]"),
      ElementsAre(
          "a.json: $[0][0]: the count of 'sort' on 'cpu' must be a whole number from 0 to 1000000000, is -1",
          "a.json: $[0][1]: the count of 'sort' on 'gpu' must be a whole number from 0 to 1000000000, is 4.5",
          "a.json: $[1][1]: the count of 'search' on 'gpu' must be a whole number from 0 to 1000000000, "
          "is the string '2'"));
}

TEST(AssignmentReader, RefusesOtherShapes) {
  EXPECT_THAT(
      problems("[[3, 0]]"),
      ElementsAre("a.json: $: the assignment must be an array of 2 rows, one per task type, is one of 1"));
  EXPECT_THAT(
      problems("[[3], 7]"),
      ElementsAre(
          "a.json: $[0]: the row of 'sort' must be an array of 2 counts, one per resource, is one of 1",
          "a.json: $[1]: the row of 'search' must be an array of 2 counts, one per resource, is 7"));
  EXPECT_THAT(problems("{}"),
              ElementsAre("a.json: $: needs 'assignment', an array of 2 rows, one per task type"));
  EXPECT_THAT(problems("5"),
              ElementsAre("a.json: $: the assignment must be an array of 2 rows, one per task type, is 5"));
  EXPECT_THAT(
      problems("[[3, 0], [0, 2]"),
      ElementsAre("a.json:1:16: not valid JSON: syntax error while parsing array - unexpected end of input; "
                  "expected ']'"));
}

TEST(AssignmentReader, RefusesAnAssignmentForAnotherSystem) {
  EXPECT_THAT(
      problems(R"({"tasks": ["search", "sort"], "resources": ["cpu"], "assignment": [[3, 0], [0, 2]]})"),
      ElementsAre(
          "a.json: tasks: the assignment is for another scenario: its tasks must be 'sort', 'search', "
          "in this order",
          "a.json: resources: the assignment is for another scenario: its resources must be 'cpu', "
          "'gpu', in this order"));
}

TEST(AssignmentReader, RespectsTheLeastDepth) {
  const System one({{.name = "cpu"}, {.name = "gpu", .min_depth = 2}}, {{.name = "sort", .count = 3}},
                   Rates(1, 2, {9, 2}));
  EXPECT_TRUE(read_assignment_text("[[1, 2]]", one));
  const auto read = read_assignment_text("[[2, 1]]", one);
  ASSERT_FALSE(read);
  EXPECT_EQ(to_string(read.diagnostics().front()),
            "$: 'gpu' must have no task or at least 2 (its min_depth), has 1");
}

TEST(AssignmentReader, TakesADocumentAtHand) {
  const auto document = [](const char* text) { return parse_document(text, FileFormat::kJson, "").value(); };
  EXPECT_TRUE(read_assignment(document("[[3, 0], [0, 2]]"), two_by_two()).has_value());
  EXPECT_FALSE(read_assignment(document("[[1, 0], [0, 0]]"), two_by_two()).has_value());
  EXPECT_TRUE(read_pattern(document("[[1, 0], [0, 0]]"), two_by_two()).has_value());
  EXPECT_FALSE(read_pattern(document("[[1, 0], [1, 0]]"), two_by_two()).has_value());
}

}  // namespace
}  // namespace allot
