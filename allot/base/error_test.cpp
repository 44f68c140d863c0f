#include "allot/base/error.hpp"

#include <gtest/gtest.h>

namespace allot {
namespace {

TEST(InvalidModel, NamesTheFieldAndSaysWhatIsWrong) {
  const InvalidModel error("tasks[2].rates.gpu", "must be >= 0");
  EXPECT_EQ(error.field(), "tasks[2].rates.gpu");
  EXPECT_STREQ(error.what(), "tasks[2].rates.gpu: must be >= 0");
}

TEST(InvalidModel, CanBeCaughtAsInvalidArgument) {
  EXPECT_THROW(throw InvalidModel("a", "b"), std::invalid_argument);
}

}  // namespace
}  // namespace allot
