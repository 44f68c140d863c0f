#include "allot/jobs/identity.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "tests/support/identity.hpp"

namespace allot {
namespace {

TEST(Identity, ReadsAsAPersonWouldWriteIt) {
  EXPECT_EQ(to_string({"decode", {"images/a.jpg"}, 1}), "decode:images/a.jpg");
  EXPECT_EQ(to_string({"decode", {"images/a.jpg"}, 2}), "decode:images/a.jpg#2");
  EXPECT_EQ(to_string({"resize", {"a.png", "640", "480"}, 1}), "resize:a.png,640,480");
  EXPECT_EQ(to_string({"grüße", {"Ärger.txt"}, 1}), "grüße:Ärger.txt");
}

TEST(Identity, EscapesWhatCouldBeMistaken) {
  EXPECT_EQ(to_string({"a:b", {"c:d"}, 1}), "a%3Ab:c:d");
  EXPECT_EQ(to_string({"a", {"x#2"}, 1}), "a:x%232");
  EXPECT_EQ(to_string({"a", {"x,y"}, 1}), "a:x%2Cy");
  EXPECT_EQ(to_string({"a", {"100%"}, 1}), "a:100%25");
  EXPECT_EQ(to_string({"a", {"x\n\xff\xc2\x80\x7f"}, 1}), "a:x%0A%FF%C2%80%7F");
}

TEST(Identity, ToldApartWhereTextsAreAlike) {
  EXPECT_NE(to_string({"a", {"x"}, 2}), to_string({"a", {"x#2"}, 1}));
  EXPECT_NE(to_string({"a", {"x", "y"}, 1}), to_string({"a", {"x,y"}, 1}));
  EXPECT_NE(to_string({"a", {}, 1}), to_string({"a", {""}, 1}));
  EXPECT_NE(to_string({"a:b", {"c"}, 1}), to_string({"a", {"b:c"}, 1}));
}

RC_GTEST_PROP(Identity, CanBeReadBack,
              (const std::string& type, const std::vector<std::string>& values, std::uint8_t more)) {
  const TaskIdentity identity{type, values, std::size_t{1} + more};
  const auto again = parse_identity(to_string(identity));
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == identity);
}

TEST(Identity, IsOneTextOnly) {
  for (const char* const text :
       {"a:%41", "a:x#1", "a:x#0", "a:x#02", "a:%", "a:%2", "a:%2g", "a:x##2", "a:x\n", "a:%2c"}) {
    EXPECT_FALSE(parse_identity(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace allot
