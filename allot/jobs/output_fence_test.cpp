#include "allot/jobs/output_fence.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace allot {
namespace {

namespace fs = std::filesystem;

class Fence : public ::testing::Test {
 protected:
  Fence() {
    std::string pattern = (fs::temp_directory_path() / "allot-fence-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    fs::create_directories(folder_ / "job" / "out");
    fs::create_directories(folder_ / "elsewhere");
  }
  ~Fence() override { fs::remove_all(folder_); }

  bool holds(const std::string& path) {
    return OutputFence((folder_ / "job").string()).holds(fs::path(path).lexically_normal().string());
  }

  fs::path folder_;
};

TEST_F(Fence, HoldsWhatLiesWithin) {
  EXPECT_TRUE(holds("a"));
  EXPECT_TRUE(holds("out/a"));
  EXPECT_TRUE(holds("new/folder/a"));
  EXPECT_TRUE(holds("out/../a"));
  EXPECT_TRUE(holds("..a/b"));
  EXPECT_TRUE(holds((folder_ / "job/out/a").string()));
}

TEST_F(Fence, DoesNotHoldWhatLiesOutside) {
  EXPECT_FALSE(holds("../a"));
  EXPECT_FALSE(holds("out/../../a"));
  EXPECT_FALSE(holds("new/../../elsewhere/a"));
  EXPECT_FALSE(holds("../jobs/a"));
  EXPECT_FALSE(holds("../job2/a"));
  EXPECT_FALSE(holds("/etc/passwd"));
  EXPECT_FALSE(holds("/a"));
}

TEST_F(Fence, LooksThroughLinks) {
  fs::create_directory_symlink(folder_ / "elsewhere", folder_ / "job/link");
  fs::create_directory_symlink(folder_ / "job/out", folder_ / "job/inside");
  EXPECT_FALSE(holds("link/a"));
  EXPECT_FALSE(holds("link/new/a"));
  EXPECT_TRUE(holds("inside/a"));
  EXPECT_EQ(real_output((folder_ / "job/link/a").string()), fs::canonical(folder_ / "elsewhere") / "a");
}

TEST_F(Fence, SparesWhatTheRunNeeds) {
  const auto at = [&](const char* name) { return (folder_ / "job" / name).string(); };
  fs::create_directory_symlink("out", folder_ / "job/link");
  const std::vector<std::string> files = {at("job.toml"), at("job.toml.journal"), at("out/held")};
  EXPECT_EQ(first_output_over({at("a"), at("out/b")}, files), "");
  EXPECT_EQ(first_output_over({at("a"), at("job.toml")}, files), at("job.toml"));
  EXPECT_EQ(first_output_over({at("out/../job.toml.journal")}, files), at("out/../job.toml.journal"));
  EXPECT_EQ(first_output_over({at("link/held/1.out")}, files), at("link/held/1.out"));
}

}  // namespace
}  // namespace allot
