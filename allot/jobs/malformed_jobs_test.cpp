// Every job in the book tests/malformed/jobs.cases is refused with exactly the diagnostics that stand beside
// it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "allot/jobs/job_reader.hpp"
#include "tests/support/case_book.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

const std::vector<testing::BookCase>& jobs() {
  static const std::vector<testing::BookCase> all =
      testing::read_book(fs::path(ALLOT_SOURCE_DIR) / "tests/malformed/jobs.cases");
  return all;
}

class MalformedJobs : public ::testing::TestWithParam<std::string> {};

TEST_P(MalformedJobs, AreRefusedWithEveryProblemAndItsPlace) {
  const auto entry = std::ranges::find(jobs(), GetParam(), &testing::BookCase::name);
  ASSERT_NE(entry, jobs().end());
  const testing::UnpackedBook unpacked(
      jobs(), fs::temp_directory_path() / ("allot-malformed-jobs-" + std::to_string(::getpid())));
  const ReadResult<Job> job = read_job((unpacked.folder() / GetParam()).string());
  ASSERT_FALSE(job);
  EXPECT_THAT(unpacked.lines(job.diagnostics()), ::testing::ElementsAreArray(entry->expected));
}

INSTANTIATE_TEST_SUITE_P(Files, MalformedJobs, ::testing::ValuesIn(testing::refused_in(jobs())),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

TEST(MalformedJobFiles, AreMany) { EXPECT_GE(testing::refused_in(jobs()).size(), 94U); }

}  // namespace
}  // namespace allot
