#include "allot/jobs/output_claim.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "allot/jobs/journal.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

class Claims : public ::testing::Test {
 protected:
  Claims() {
    std::string pattern = (fs::temp_directory_path() / "allot-claims-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder_ / "claims");
    fs::create_directories(folder_ / "out");
    fs::create_directory_symlink("out", folder_ / "link");
  }
  ~Claims() override { fs::remove_all(folder_); }

  std::string output(const std::string& name) const { return (folder_ / name).string(); }
  std::string claims() const { return (folder_ / "claims").string(); }
  std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(folder_ / "claims"), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(Claims, TwoRunsDoNotWriteOneOutput) {
  std::optional<OutputClaim> first;
  first.emplace(std::vector{output("out/a"), output("out/b")}, claims());
  const OutputClaim other(std::vector{output("out/c")}, claims());
  for (const char* const same : {"out/b", "link/b", "link/../out/b"}) {
    try {
      const OutputClaim second(std::vector{output("out/d"), output(same)}, claims());
      FAIL() << same;
    } catch (const JournalError& error) {
      EXPECT_EQ(error.kind(), JournalProblem::kLocked);
      EXPECT_THAT(error.what(), ::testing::HasSubstr(same));
      EXPECT_THAT(error.what(), ::testing::HasSubstr(std::to_string(::getpid())));
    }
  }
  first.reset();
  const OutputClaim second(std::vector{output("out/b")}, claims());
}

TEST_F(Claims, DieWithTheirProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    const OutputClaim claim(std::vector{output("out/a")}, claims());
    ::_exit(count() == 1 ? 0 : 1);  // without a destructor, as when killed
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(count(), 1);
  { const OutputClaim claim(std::vector{output("out/a")}, claims()); }
  EXPECT_EQ(count(), 0);
}

TEST_F(Claims, StrangeFilesInTheirFolderDoNoHarm) {
  std::ofstream(folder_ / "claims/outputs-odd") << "three bytes and more";
  fs::create_symlink("/dev/zero", folder_ / "claims/outputs-link");
  fs::create_directories(folder_ / "claims/outputs-folder");
  std::ofstream(folder_ / "claims/letter") << "not ours";
  { const OutputClaim claim(std::vector{output("out/a")}, claims()); }
  EXPECT_TRUE(fs::exists(folder_ / "claims/letter"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "claims/outputs-link"));
  const OutputClaim none(std::vector{output("out/a")}, (folder_ / "no/such/folder").string());
}

}  // namespace
}  // namespace allot
