// What people see, pinned: transcripts in this folder and in the documentation are run again and compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include "tests/cli/process.hpp"

namespace allot::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kRoot = ALLOT_SOURCE_DIR;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// Running times differ from run to run, and places from build to build; everything else must not.
std::string masked(const std::string& line) {
  static const std::regex kSchema("^#:schema .*/share/");
  static const std::regex kTook(R"(\bin [0-9.,]+ (s|ms|us|ns)$)");
  static const std::regex kSeconds(R"("seconds": [-+0-9.e]+)");
  const std::string placed = std::regex_replace(line, kSchema, "#:schema /usr/share/");
  return std::regex_replace(std::regex_replace(placed, kTook, "in <time>"), kSeconds, R"("seconds": <time>)");
}

std::vector<std::string> masked(std::vector<std::string> lines) {
  for (std::string& line : lines) line = masked(line);
  return lines;
}

/// Runs a line of a transcript with `sh`, `allot` being the command just built, in the project's root.
std::vector<std::string> replay(const std::string& command) {
  Process shell({"/bin/sh", "-c",
                 "cd '" + kRoot.string() + "' && allot() { '" ALLOT_COMMAND "' \"$@\"; } && " + command});
  const Finished finished = shell.run();
  EXPECT_LT(finished.status, 126) << command << "\n" << finished.err;
  return lines_of(finished.out);
}

/// The file with every transcript in it replayed; files that it shows are read again. Output that differs in
/// running times only is left as it is.
std::string replayed(const fs::path& path) {
  const std::vector<std::string> lines = lines_of(read_file(path));
  const bool is_markdown = path.extension() == ".md";
  std::string result;
  bool inside = !is_markdown;
  for (std::size_t at = 0; at < lines.size();) {
    const std::string& line = lines[at++];
    result += line + "\n";
    if (is_markdown && line.starts_with("```")) inside = line == "```console";
    if (!inside || !(line.starts_with("$ allot") || line.starts_with("$ cat "))) continue;
    std::vector<std::string> expected;
    while (at < lines.size() && !lines[at].starts_with("$ ") &&
           !(is_markdown && lines[at].starts_with("```"))) {
      expected.push_back(lines[at++]);
    }
    // Blank lines at the end only set a transcript apart from the next.
    std::size_t blank = 0;
    while (!expected.empty() && expected.back().empty()) {
      expected.pop_back();
      ++blank;
    }
    std::vector<std::string> actual = replay(line.substr(2));
    while (!actual.empty() && actual.back().empty()) actual.pop_back();
    const bool same = masked(actual) == masked(expected);
    for (const std::string& text : same ? expected : actual) result += text + "\n";
    result.append(blank, '\n');
  }
  return result;
}

std::vector<fs::path> transcripts() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(kRoot / "tests/golden")) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path());
  }
  const auto add_page = [&](const fs::path& path) {
    if (read_file(path).find("```console\n$ allot") != std::string::npos) paths.push_back(path);
  };
  add_page(kRoot / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.path().extension() == ".md") add_page(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Transcript : public ::testing::TestWithParam<fs::path> {};

/// slsqp needs a library that a build may do without.
bool everything_is_built() { return run_allot({"list"}).out.find("  slsqp ") != std::string::npos; }

TEST_P(Transcript, ReplaysAsWritten) {
  if (!everything_is_built()) GTEST_SKIP() << "this build is without slsqp";
  const std::string actual = replayed(GetParam());
  const std::string expected = read_file(GetParam());
  if (std::getenv("ALLOT_UPDATE_GOLDEN") != nullptr && actual != expected) {
    std::ofstream(GetParam(), std::ios::binary) << actual;
    GTEST_SKIP() << "rewritten";
  }
  EXPECT_EQ(actual, expected) << "If the change is wanted: see tests/golden/README.md";
}

INSTANTIATE_TEST_SUITE_P(Golden, Transcript, ::testing::ValuesIn(transcripts()), [](const auto& transcript) {
  std::string name = fs::relative(transcript.param, kRoot).string();
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(Transcript, ThereIsOneForEveryExample) {
  std::string all;
  for (const fs::path& path : transcripts()) all += read_file(path);
  for (const char* const folder : {"examples", "examples/plans"}) {
    for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
      if (entry.path().extension() != ".toml") continue;
      const std::string name = fs::relative(entry.path(), kRoot).string();
      EXPECT_NE(all.find("$ allot solve " + name), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace allot::testing
