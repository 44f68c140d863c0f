// Every file of tests/malformed is refused with exactly the diagnostics of its neighbour *.expected.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "allot/io/scenario_reader.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines(const fs::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in) << path;
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

std::vector<std::string> malformed_files() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(ALLOT_SOURCE_DIR) / "tests/malformed")) {
    if (entry.path().extension() != ".expected") names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class Malformed : public testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::string> as_lines(const std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : diagnostics) out.push_back(to_string(diagnostic));
    return out;
  }
};

TEST_P(Malformed, IsRefusedWithEveryProblemAndItsPlace) {
  const fs::path path = fs::path(ALLOT_SOURCE_DIR) / "tests/malformed" / GetParam();
  const FileFormat format = path.extension() == ".toml" ? FileFormat::kToml : FileFormat::kJson;
  const std::vector<std::string> expected = lines(path.string() + ".expected");
  ASSERT_FALSE(expected.empty());

  const ReadResult<Scenario> from_text = read_scenario_text(contents(path), format, GetParam());
  ASSERT_FALSE(from_text);
  EXPECT_THAT(as_lines(from_text.diagnostics()), testing::ElementsAreArray(expected));

  const ReadResult<Scenario> from_file = read_scenario(path.string());
  ASSERT_FALSE(from_file);
  ASSERT_EQ(from_file.diagnostics().size(), expected.size());
  for (const Diagnostic& diagnostic : from_file.diagnostics()) {
    EXPECT_THAT(diagnostic.place, testing::StartsWith(path.string()));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Malformed, testing::ValuesIn(malformed_files()), [](const auto& file) {
  std::string name = file.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

TEST(MalformedFiles, AreManyInBothFormats) {
  const auto names = malformed_files();
  const auto count = [&](const char* extension) {
    return std::count_if(names.begin(), names.end(),
                         [&](const auto& name) { return name.ends_with(extension); });
  };
  EXPECT_GE(count(".toml"), 80);
  EXPECT_GE(count(".json"), 30);
}

}  // namespace
}  // namespace allot
