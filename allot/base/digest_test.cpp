#include "allot/base/digest.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(Digest, StaysWhatItIs) {
  // Stores and journals on disk are found by it.
  EXPECT_EQ(Digest().text(), "cbf29ce48422232584222325cbf29ce4");
  EXPECT_EQ(Digest().add("solver").add("map").add(1).text(), "b9e59cd7c369f9cd4731ce640260f17c");
}

TEST(Digest, KeepsPartsApart) {
  EXPECT_NE(Digest().add("ab").add("c").text(), Digest().add("a").add("bc").text());
  EXPECT_NE(Digest().add("a").add("").text(), Digest().add("a").text());
}

}  // namespace
}  // namespace allot
