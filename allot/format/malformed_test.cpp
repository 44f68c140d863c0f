// Every file in the books tests/malformed/scenarios.* is refused with exactly the diagnostics that stand
// beside it.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "allot/format/scenario_reader.hpp"
#include "tests/support/case_book.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

const std::vector<testing::BookCase>& scenarios() {
  static const std::vector<testing::BookCase> all = [] {
    const fs::path folder = fs::path(ALLOT_SOURCE_DIR) / "tests/malformed";
    std::vector<testing::BookCase> book = testing::read_book(folder / "scenarios.toml.cases");
    for (testing::BookCase& entry : testing::read_book(folder / "scenarios.json.cases"))
      book.push_back(std::move(entry));
    return book;
  }();
  return all;
}

class Malformed : public ::testing::TestWithParam<std::string> {
 protected:
  static std::vector<std::string> as_lines(const std::vector<Diagnostic>& diagnostics) {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : diagnostics) out.push_back(to_string(diagnostic));
    return out;
  }
};

TEST_P(Malformed, IsRefusedWithEveryProblemAndItsPlace) {
  const auto found = std::ranges::find(scenarios(), GetParam(), &testing::BookCase::name);
  ASSERT_NE(found, scenarios().end());
  const FileFormat format = GetParam().ends_with(".toml") ? FileFormat::kToml : FileFormat::kJson;

  const ReadResult<Scenario> from_text = read_scenario_text(found->text, format, GetParam());
  ASSERT_FALSE(from_text);
  EXPECT_THAT(as_lines(from_text.diagnostics()), ::testing::ElementsAreArray(found->expected));

  const testing::UnpackedBook unpacked(
      {*found}, fs::temp_directory_path() / ("allot-malformed-" + std::to_string(::getpid())));
  const fs::path path = unpacked.folder() / GetParam();
  const ReadResult<Scenario> from_file = read_scenario(path.string());
  ASSERT_FALSE(from_file);
  ASSERT_EQ(from_file.diagnostics().size(), found->expected.size());
  for (const Diagnostic& diagnostic : from_file.diagnostics()) {
    EXPECT_THAT(diagnostic.place, ::testing::StartsWith(path.string()));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Malformed, ::testing::ValuesIn(testing::refused_in(scenarios())),
                         [](const auto& file) {
                           std::string name = file.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '-' || c == '.'; }, '_');
                           return name;
                         });

TEST(MalformedFiles, AreManyInBothFormats) {
  const auto names = testing::refused_in(scenarios());
  EXPECT_EQ(names.size(), scenarios().size());
  const auto count = [&](const char* extension) {
    return std::ranges::count_if(names, [&](const auto& name) { return name.ends_with(extension); });
  };
  EXPECT_GE(count(".toml"), 120);
  EXPECT_GE(count(".json"), 43);
}

}  // namespace
}  // namespace allot
