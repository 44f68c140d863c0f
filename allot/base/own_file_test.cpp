#include "allot/base/own_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace allot {
namespace {

namespace fs = std::filesystem;

class OwnFile : public ::testing::Test {
 protected:
  OwnFile() {
    std::string pattern = (fs::temp_directory_path() / "allot-own-file-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~OwnFile() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static unsigned mode(const fs::path& path) {
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0 ? found.st_mode & 0777U : 0;
  }

  fs::path folder_;
};

TEST_F(OwnFile, IsReplacedAndNotFollowed) {
  std::ofstream(folder_ / "precious") << "mine";
  fs::create_symlink("precious", folder_ / "page.html");
  EXPECT_FALSE(replace_file((folder_ / "page.html").string(), "new", Readers::kOwner));
  EXPECT_EQ(read(folder_ / "precious"), "mine");
  EXPECT_FALSE(fs::is_symlink(folder_ / "page.html"));
  EXPECT_EQ(read(folder_ / "page.html"), "new");
  EXPECT_EQ(mode(folder_ / "page.html"), 0600U);
}

TEST_F(OwnFile, LeavesNothingBehindWhenItFails) {
  fs::create_directories(folder_ / "page.html" / "full");
  EXPECT_TRUE(replace_file((folder_ / "page.html").string(), "new", Readers::kOwner));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(OwnFile, WhatIsUnfinishedIsKnownByItsName) {
  EXPECT_TRUE(is_unfinished("runs.csv.0123456789abcdef.part"));
  EXPECT_FALSE(is_unfinished("runs.csv"));
  EXPECT_FALSE(is_unfinished("novel.part"));
  EXPECT_FALSE(is_unfinished("runs.csv.0123456789abcdeg.part"));
  EXPECT_FALSE(is_unfinished("0123456789abcdef.part"));
}

TEST_F(OwnFile, PrivateFoldersAreNoLinksAndForOneUser) {
  EXPECT_FALSE(make_private_folder((folder_ / "out").string()));
  EXPECT_EQ(mode(folder_ / "out"), 0700U);
  fs::permissions(folder_ / "out", fs::perms(0755));
  EXPECT_FALSE(make_private_folder((folder_ / "out").string()));
  EXPECT_EQ(mode(folder_ / "out"), 0700U);
  fs::create_directory_symlink("out", folder_ / "link");
  EXPECT_TRUE(make_private_folder((folder_ / "link").string()));
  std::ofstream(folder_ / "file") << "";
  EXPECT_TRUE(make_private_folder((folder_ / "file").string()));
  if (::geteuid() != 0) {
    EXPECT_TRUE(make_private_folder("/"));
  }
}

TEST_F(OwnFile, DigitsAreRandom) {
  EXPECT_EQ(random_digits(16).size(), 16u);
  EXPECT_NE(random_digits(16), random_digits(16));
}

}  // namespace
}  // namespace allot
