#include "allot/jobs/tokens.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> problems;
  std::vector<std::string> words = split_command(text, problems);
  EXPECT_THAT(problems, IsEmpty()) << text;
  return words;
}

TEST(Tokens, AreSplitAtBlanksAndKeptTogetherByQuotes) {
  EXPECT_THAT(split("djpeg -fast {}"), ElementsAre("djpeg", "-fast", "{}"));
  EXPECT_THAT(split("  a\t b  "), ElementsAre("a", "b"));
  EXPECT_THAT(split("a 'b c' \"d e\" f\\ g"), ElementsAre("a", "b c", "d e", "f g"));
  EXPECT_THAT(split("a'b'\"c\"d ''"), ElementsAre("abcd", ""));
  EXPECT_THAT(split(""), IsEmpty());
  EXPECT_THAT(split("\n  one two \n"), ElementsAre("one", "two"));
}

TEST(Tokens, AreEscapedAsInAShell) {
  EXPECT_THAT(split(R"("a\"b\\c\$d\`e\n")"), ElementsAre(R"(a"b\c$d`e\n)"));
  EXPECT_THAT(split(R"('a\b"c$(d)')"), ElementsAre(R"(a\b"c$(d))"));
  EXPECT_THAT(split("one \\\n two"), ElementsAre("one", "two"));
  EXPECT_THAT(split("cost$ 5$ $1"), ElementsAre("cost$", "5$", "$1"));
}

TEST(Tokens, MayNotBeWhatOnlyAShellUnderstands) {
  for (const char* const text : {"a; b", "a | b", "a & b", "a < b", "a > b", "a `b`", "a $(b)", "a $HOME",
                                 "a ${HOME}", "\"$HOME\"", "\"`a`\"", "a\nb"}) {
    std::vector<std::string> problems;
    split_command(text, problems);
    ASSERT_FALSE(problems.empty()) << text;
    EXPECT_THAT(problems.front(), HasSubstr("shell = true")) << text;
  }
}

TEST(Tokens, NeedTheirQuotesClosed) {
  for (const char* const text : {"a 'b", "a \"b", "a \\"}) {
    std::vector<std::string> problems;
    split_command(text, problems);
    EXPECT_EQ(problems.size(), 1U) << text;
  }
}

TEST(Tokens, AreQuotedOnlyWhereTheyNeedIt) {
  EXPECT_EQ(quote_word("images/a.jpg"), "images/a.jpg");
  EXPECT_EQ(quote_word("{}"), "{}");
  EXPECT_EQ(quote_word("{a,b}"), "'{a,b}'");
  EXPECT_EQ(quote_word(""), "''");
  EXPECT_EQ(quote_word("it's"), R"('it'\''s')");
  const std::vector<std::string> words = {"A=1", "b=2", "c d"};
  EXPECT_EQ(join_command(words), "'A=1' b=2 'c d'");
}

RC_GTEST_PROP(Tokens, ComeBackAsTheyWere, (const std::vector<std::string>& words)) {
  std::vector<std::string> problems;
  RC_ASSERT(split_command(join_command(words), problems) == words);
  RC_ASSERT(problems.empty());
}

}  // namespace
}  // namespace allot
