// Every sweep in the book tests/malformed/sweeps.cases is refused with exactly the diagnostics that stand
// beside it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "allot/sweep/sweep_reader.hpp"
#include "tests/support/case_book.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

const std::vector<testing::BookCase>& sweeps() {
  static const std::vector<testing::BookCase> all =
      testing::read_book(fs::path(ALLOT_SOURCE_DIR) / "tests/malformed/sweeps.cases");
  return all;
}

class MalformedSweeps : public ::testing::TestWithParam<std::string> {};

TEST_P(MalformedSweeps, AreRefusedWithEveryProblemAndItsPlace) {
  const auto entry = std::ranges::find(sweeps(), GetParam(), &testing::BookCase::name);
  ASSERT_NE(entry, sweeps().end());
  const testing::UnpackedBook unpacked(
      {*entry}, fs::temp_directory_path() / ("allot-malformed-sweeps-" + std::to_string(::getpid())));
  const ReadResult<SweepPlan> sweep = read_sweep((unpacked.folder() / GetParam()).string());
  ASSERT_FALSE(sweep);
  EXPECT_THAT(unpacked.lines(sweep.diagnostics()), ::testing::ElementsAreArray(entry->expected));
}

INSTANTIATE_TEST_SUITE_P(Files, MalformedSweeps, ::testing::ValuesIn(testing::refused_in(sweeps())),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

TEST(MalformedSweepFiles, AreMany) { EXPECT_GE(testing::refused_in(sweeps()).size(), 79U); }

}  // namespace
}  // namespace allot
