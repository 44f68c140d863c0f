#include "allot/format/probabilities_reader.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace allot::probabilities_reader_test {
namespace {

using ::testing::ElementsAre;

const System& two_by_two() {
  static const System system({{.name = "cpu"}, {.name = "gpu"}},
                             {{.name = "sort", .count = 3}, {.name = "search", .count = 2}},
                             Rates(2, 2, {9, 2, 0, 4}));
  return system;
}

std::vector<std::string> problems(const std::string& text) {
  const auto read = read_probabilities_text(text, two_by_two(), "p.json");
  std::vector<std::string> out;
  if (!read) {
    for (const Diagnostic& diagnostic : read.diagnostics()) out.push_back(to_string(diagnostic));
  }
  return out;
}

TEST(ProbabilitiesReader, TakesAMatrixBareOrUnderItsKey) {
  for (const char* text :
       {"[[0.25, 0.75], [0, 1]]", R"({"tasks": ["sort", "search"], "resources": ["cpu", "gpu"],
                                                        "probabilities": [[0.25, 0.75], [0, 1]], "why": "so"})"}) {
    const auto read = read_probabilities_text(text, two_by_two());
    ASSERT_TRUE(read) << to_string(read.diagnostics().front());
    EXPECT_THAT(*read, ElementsAre(0.25, 0.75, 0, 1));
  }
}

TEST(ProbabilitiesReader, SaysEverythingThatIsWrong) {
  EXPECT_THAT(problems("[[0.5, 0.6], [0.5, 0.5]]"),
              ElementsAre("p.json: $[0]: the row of 'sort' must sum to 1, sums to 1.1",
                          "p.json: $[1][0]: 'search' cannot run on 'cpu': its probability there must be 0"));
  EXPECT_THAT(
      problems("[[1, 0]]"),
      ElementsAre("p.json: $: the probabilities must be an array of 2 rows, one per task type, is one of 1"));
  EXPECT_THAT(
      problems("[[1, 0, 0], 7]"),
      ElementsAre(
          "p.json: $[0]: the row of 'sort' must be an array of 2 probabilities, one per resource, is "
          "one of 3",
          "p.json: $[1]: the row of 'search' must be an array of 2 probabilities, one per resource, is "
          "7"));
  EXPECT_EQ(problems("[[-1, 2], [0, 1]]").size(), 1U);
  EXPECT_EQ(problems("[[\"all\", 0], [0, 1]]").size(), 1U);
  EXPECT_EQ(problems("{\"assignment\": [[3, 0], [0, 2]]}").size(), 1U);
  EXPECT_EQ(problems("{\"tasks\": [\"search\", \"sort\"], \"probabilities\": [[1, 0], [0, 1]]}").size(), 1U);
}

}  // namespace
}  // namespace allot::probabilities_reader_test
