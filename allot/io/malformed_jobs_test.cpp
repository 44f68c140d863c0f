// Every file of tests/malformed_jobs is refused with exactly the diagnostics of its neighbour *.expected.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "allot/io/job_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(ALLOT_SOURCE_DIR) / "tests/malformed_jobs";

std::vector<std::string> lines(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> malformed_jobs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string extension = entry.path().extension();
    if (extension == ".toml" || extension == ".json") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class MalformedJobs : public testing::TestWithParam<std::string> {};

TEST_P(MalformedJobs, AreRefusedWithEveryProblemAndItsPlace) {
  const fs::path path = kFolder / GetParam();
  const ReadResult<Job> job = read_job(path.string());
  ASSERT_FALSE(job);
  // Without the folder, which is another one on every machine.
  std::vector<std::string> found;
  for (const Diagnostic& diagnostic : job.diagnostics()) {
    std::string line = to_string(diagnostic);
    for (std::size_t at = 0; (at = line.find(kFolder.string() + "/")) != std::string::npos;) {
      line.erase(at, kFolder.string().size() + 1);
    }
    found.push_back(line);
  }
  EXPECT_THAT(found, testing::ElementsAreArray(lines(path.string() + ".expected")));
}

INSTANTIATE_TEST_SUITE_P(Files, MalformedJobs, testing::ValuesIn(malformed_jobs()), [](const auto& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(MalformedJobFiles, AreMany) { EXPECT_GE(malformed_jobs().size(), 60U); }

}  // namespace
}  // namespace allot
