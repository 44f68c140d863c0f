#include "allot/jobs/inputs.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Inputs : public ::testing::Test {
 protected:
  Inputs() { fs::create_directories(folder_); }
  ~Inputs() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text = {}) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::vector<std::string> matched(std::vector<std::string> entries) {
    problems_.clear();
    return inputs_from_patterns(entries, folder_.string(), 1000, problems_).values;
  }
  InputTable csv(const std::string& text) {
    problems_.clear();
    return inputs_from_csv(text, 1000, problems_);
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-inputs-" + std::to_string(::getpid()));
  std::vector<InputProblem> problems_;
};

TEST_F(Inputs, MatchPatternsInByteOrder) {
  for (const char* const name :
       {"in/b.jpg", "in/a.jpg", "in/B.jpg", "in/.hidden.jpg", "in/c.png", "in/deep/d.jpg"})
    file(name);
  EXPECT_THAT(matched({"in/*.jpg"}), ElementsAre("in/B.jpg", "in/a.jpg", "in/b.jpg"));
  EXPECT_THAT(matched({"in/[ab].jpg"}), ElementsAre("in/a.jpg", "in/b.jpg"));
  EXPECT_THAT(matched({"in/?.png"}), ElementsAre("in/c.png"));
  EXPECT_THAT(matched({"*/*/d.jpg"}), ElementsAre("in/deep/d.jpg"));
  EXPECT_THAT(matched({"*/deep/d.jpg"}), ElementsAre("in/deep/d.jpg"));
  EXPECT_THAT(matched({"**/*.jpg"}), ElementsAre("in/B.jpg", "in/a.jpg", "in/b.jpg", "in/deep/d.jpg"));
  EXPECT_THAT(matched({"in/.*.jpg"}), ElementsAre("in/.hidden.jpg"));
  EXPECT_THAT(matched({folder_.string() + "/in/c.*"}), ElementsAre(folder_.string() + "/in/c.png"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Inputs, MayHaveAnyBytesInTheirNames) {
  file("a b.x");
  file("new\nline.x");
  file("\xff.x");
  EXPECT_THAT(matched({"*.x"}), ElementsAre("a b.x", "new\nline.x", "\xff.x"));
}

TEST_F(Inputs, DoNotFollowLinksInCircles) {
  file("in/a.jpg");
  fs::create_directory_symlink("..", folder_ / "in/up");
  EXPECT_THAT(matched({"**/*.jpg"}), ElementsAre("in/a.jpg"));
}

TEST_F(Inputs, AreLiteralWithoutAPattern) {
  EXPECT_THAT(matched({"alpha", "no/such/file", "alpha"}), ElementsAre("alpha", "no/such/file", "alpha"));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Inputs, NameThePatternThatMatchesNothing) {
  EXPECT_THAT(matched({"*.jpg", "none/*.png", "x"}), ElementsAre("x"));
  ASSERT_EQ(problems_.size(), 2U);
  EXPECT_EQ(problems_[0].message, "'*.jpg' matches nothing");
  EXPECT_EQ(problems_[1].message, "'none/*.png' matches nothing");
}

TEST_F(Inputs, ComeLineByLineFromAList) {
  EXPECT_THAT(inputs_from_list("\xEF\xBB\xBF"
                               "a\r\n\n b c \nlast",
                               1000, problems_)
                  .values,
              ElementsAre("a", " b c ", "last"));
  EXPECT_THAT(problems_, IsEmpty());
  inputs_from_list("\n\n", 1000, problems_);
  EXPECT_EQ(problems_.back().message, "has no line");
  inputs_from_list(std::string("a\nb\0c\n", 6), 1000, problems_);
  EXPECT_EQ(problems_.back().line, 2U);
}

TEST_F(Inputs, ComeFromTablesWithTheirColumns) {
  const InputTable table = csv("file,note\r\na.jpg,plain\r\n\"b,c\",\"say \"\"hi\"\"\ntwice\"\r\n,\n");
  EXPECT_THAT(problems_, IsEmpty());
  EXPECT_THAT(table.columns, ElementsAre("file", "note"));
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_THAT(table.row(1), ElementsAre("b,c", "say \"hi\"\ntwice"));
  EXPECT_THAT(table.row(2), ElementsAre("", ""));
}

TEST_F(Inputs, OfATableNeedEveryFieldAndEveryQuote) {
  csv("a,b\n1\n1,2,3\n1,2\n");
  ASSERT_EQ(problems_.size(), 2U);
  EXPECT_EQ(problems_[0].line, 2U);
  EXPECT_THAT(problems_[0].message, HasSubstr("has 1 fields, not 2"));
  EXPECT_EQ(problems_[1].line, 3U);
  csv("a\n\"open\nstill");
  EXPECT_THAT(problems_, ElementsAre(InputProblem{2, "a quoted field is not closed"}));
  csv("a\n\"x\"y\n");
  EXPECT_THAT(problems_.front().message, HasSubstr("after its closing quote"));
  csv("a\nx\"y\n");
  EXPECT_THAT(problems_.front().message, HasSubstr("a quote in the middle"));
}

TEST_F(Inputs, OfATableHaveColumnsThatCanBeNamed) {
  csv("a,a\n1,2\n");
  EXPECT_EQ(problems_.front().message, "two columns are called 'a'");
  csv("a,out\n1,2\n");
  EXPECT_THAT(problems_.front().message, HasSubstr("cannot be called 'out'"));
  csv("a,\n1,2\n");
  EXPECT_EQ(problems_.front().message, "a column has no name");
  csv("a{\n1\n");
  EXPECT_THAT(problems_.front().message, HasSubstr("braces"));
  csv("");
  EXPECT_THAT(problems_.front().message, HasSubstr("is empty"));
  csv("a,b\n");
  EXPECT_EQ(problems_.front().message, "has no line after its columns");
}

TEST_F(Inputs, AreReadByTheNameOfTheFile) {
  const std::string list = file("list.txt", "a,b\nc\n");
  const std::string table = file("table.CSV", "x,y\n1,2\n");
  EXPECT_THAT(inputs_from_file(list, 1000, problems_).values, ElementsAre("a,b", "c"));
  EXPECT_THAT(inputs_from_file(table, 1000, problems_).columns, ElementsAre("x", "y"));
  EXPECT_THAT(problems_, IsEmpty());
  inputs_from_file((folder_ / "none.txt").string(), 1000, problems_);
  EXPECT_THAT(problems_.back().message, HasSubstr("No such file"));
  inputs_from_file(folder_.string(), 1000, problems_);
  EXPECT_EQ(problems_.back().message, "is not a file");
}

TEST_F(Inputs, AreCountedAndCannotBeTooMany) {
  EXPECT_THAT(inputs_by_counting(3).values, ElementsAre("1", "2", "3"));
  inputs_from_list("a\nb\nc\n", 2, problems_);
  EXPECT_EQ(problems_.back().message, "gives more than 2 tasks");
  inputs_from_csv("x\na\nb\nc\n", 2, problems_);
  EXPECT_EQ(problems_.back().message, "gives more than 2 tasks");
}

TEST_F(Inputs, CanEndInZeroBytesAndThenHoldAnythingElse) {
  const std::string text("a\nb\0\0c\r\0", 8);
  EXPECT_THAT(inputs_from_null_list(text, 10, problems_).values, ElementsAre("a\nb", "c\r"));
  std::istringstream lines("x\ny");
  EXPECT_THAT(inputs_from_stream(lines, false, 10, problems_).values, ElementsAre("x", "y"));
  std::istringstream zeros(text);
  EXPECT_EQ(inputs_from_stream(zeros, true, 10, problems_).rows(), 2U);
  EXPECT_THAT(problems_, IsEmpty());
  inputs_from_null_list(text, 1, problems_);
  EXPECT_EQ(problems_.back().message, "gives more than 1 tasks");
}

}  // namespace
}  // namespace allot
