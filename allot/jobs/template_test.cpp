#include "allot/jobs/template.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string expanded(const std::string& text, const std::string& input) {
  std::vector<std::string> problems;
  const Template parsed = Template::parse(text, {{""}, true, true}, problems);
  EXPECT_THAT(problems, IsEmpty());
  EXPECT_EQ(parsed.source(), text);
  const std::vector<std::string> columns = {input};
  return parsed.expand({columns, 12, 3, "tmp/out"});
}

TEST(Template, PutsTheInputWhereItIsAskedFor) {
  EXPECT_EQ(expanded("{}", "images/a.tar.gz"), "images/a.tar.gz");
  EXPECT_EQ(expanded("{.}", "images/a.tar.gz"), "images/a.tar");
  EXPECT_EQ(expanded("{/}", "images/a.tar.gz"), "a.tar.gz");
  EXPECT_EQ(expanded("{//}", "images/a.tar.gz"), "images");
  EXPECT_EQ(expanded("{/.}", "images/a.tar.gz"), "a.tar");
  EXPECT_EQ(expanded("--in={} --to {out} ({#}, {%})", "x"), "--in=x --to tmp/out (12, 3)");
}

TEST(Template, TakesDotsOnlyFromTheNameItself) {
  EXPECT_EQ(expanded("{.}", "v1.2/plain"), "v1.2/plain");
  EXPECT_EQ(expanded("{.}", "home/.profile"), "home/.profile");
  EXPECT_EQ(expanded("{/.}", ".profile"), ".profile");
  EXPECT_EQ(expanded("{.}", "ends."), "ends.");
  EXPECT_EQ(expanded("{//}", "plain"), ".");
  EXPECT_EQ(expanded("{//}", "/etc"), "/");
  EXPECT_EQ(expanded("{/}", "folder/"), "");
}

TEST(Template, DoublesBracesThatStandForThemselves) {
  EXPECT_EQ(expanded("{{}}", "x"), "{}");
  EXPECT_EQ(expanded("{{{}}}", "x"), "{x}");
  EXPECT_EQ(expanded("awk '{{print $1}}'", "x"), "awk '{print $1}'");
}

TEST(Template, KnowsColumnsByName) {
  std::vector<std::string> problems;
  const Template parsed =
      Template::parse("{width}x{height} of {}", {{"file", "width", "height"}, false, true}, problems);
  EXPECT_THAT(problems, IsEmpty());
  const std::vector<std::string> row = {"a b.png", "640", "480"};
  EXPECT_EQ(parsed.expand({row, 1, 0, {}}), "640x480 of a b.png");
}

TEST(Template, NeverReadsAValueAgain) {
  EXPECT_EQ(expanded("[{}]", "{} {out} {{ }} $(x) ; '"), "[{} {out} {{ }} $(x) ; ']");
}

TEST(Template, NamesWhatItKnowsWhenItMeetsWhatItDoesNot) {
  std::vector<std::string> problems;
  Template::parse("{wdith} {out} {", {{"file", "width"}, false, false}, problems);
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_THAT(problems[0], HasSubstr("'{wdith}'"));
  EXPECT_THAT(problems[0], HasSubstr("{} {.} {/} {//} {/.} {#} {file} {width}"));
  EXPECT_THAT(problems[1], HasSubstr("needs an 'output'"));
  EXPECT_THAT(problems[2], HasSubstr("write '{{'"));
}

TEST(Template, RefusesABraceWithoutItsPartner) {
  for (const char* const text : {"{", "}", "a } b", "{ {} }", "{}}", "{{}"}) {
    std::vector<std::string> problems;
    Template::parse(text, {{""}, false, true}, problems);
    EXPECT_FALSE(problems.empty()) << text;
  }
}

TEST(Template, SaysWhatItUses) {
  std::vector<std::string> problems;
  const Template parsed = Template::parse("{}{#}", {{""}, true, true}, problems);
  EXPECT_TRUE(parsed.uses(Placeholder::kInput));
  EXPECT_TRUE(parsed.uses(Placeholder::kNumber));
  EXPECT_FALSE(parsed.uses(Placeholder::kOutput));
  EXPECT_FALSE(Template::literal("{}").uses(Placeholder::kInput));
}

TEST(Template, TheInputOfTheTaskBeforeHasTheFormsOfAPath) {
  const TemplateScope scope{{"", "from", "from.size"}, false, true};
  std::vector<std::string> problems;
  const Template text =
      Template::parse("{} {/.} {from} {from.} {from/} {from//} {from/.} {from.size}", scope, problems);
  EXPECT_TRUE(problems.empty());
  const std::vector<std::string> values = {"tmp/1.ppm", "in/a.tar.gz", "3"};
  EXPECT_EQ(text.expand({values, 1, 0, {}}), "tmp/1.ppm 1 in/a.tar.gz in/a.tar a.tar.gz in a.tar 3");
  Template::parse("{fromage} {from.other}", scope, problems);
  EXPECT_EQ(problems.size(), 2U);
}

}  // namespace
}  // namespace allot
