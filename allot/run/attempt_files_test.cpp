#include "allot/run/attempt_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "allot/run/request.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;

class AttemptFilesTest : public ::testing::Test {
 protected:
  AttemptFilesTest() { fs::create_directories(folder_ / "kept"); }
  ~AttemptFilesTest() override { fs::remove_all(folder_); }
  void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("attempt-files-" + std::to_string(::getpid()));
  FolderOfAttempts files_{(folder_ / "kept").string(), "run-1"};
};

TEST_F(AttemptFilesTest, LocalAttemptsPrintToFilesOfTheirOwn) {
  TaskRequest request;
  files_.prepare(request, 7, 2, true, "");
  EXPECT_EQ(request.stdout_path, (folder_ / "kept/7.2.out").string());
  EXPECT_EQ(request.stderr_path, (folder_ / "kept/7.2.err").string());
  write(request.stdout_path, "said");
  write(request.stderr_path, "");
  const AttemptOutput output = files_.keep(request, {}, 7, 2);
  EXPECT_EQ(output.out, request.stdout_path);
  EXPECT_EQ(output.err, "");
  EXPECT_FALSE(fs::exists(request.stderr_path)) << "who said nothing leaves no file";
}

TEST_F(AttemptFilesTest, WhatCameBackOverALaneIsWritten) {
  TaskRequest request;
  files_.prepare(request, 1, 1, false, "");
  EXPECT_EQ(request.stdout_path + request.stderr_path, "");
  TaskRecord record;
  record.err = "far away";
  const AttemptOutput output = files_.keep(request, record, 1, 1);
  EXPECT_EQ(output.out, "");
  EXPECT_EQ(fs::file_size(output.err), 8U);
}

TEST_F(AttemptFilesTest, MakesTheFolderOfAnOutputAndClearsWhatALostAttemptLeft) {
  TaskRequest request;
  request.final_output = (folder_ / "a/b/c.txt").string();
  request.temporary_output = request.stdout_path = temporary_output(request.final_output, "run-1", 1);
  files_.prepare(request, 1, 1, true, "");
  EXPECT_TRUE(fs::is_directory(folder_ / "a/b"));
  write(request.temporary_output, "half of i");
  EXPECT_EQ(files_.keep(request, {}, 1, 1).out, "") << "that is the output, not what it printed beside";
  files_.prepare(request, 1, 2, true, "");
  EXPECT_FALSE(fs::exists(temporary_output(request.final_output, "run-1", 1)));
}

}  // namespace
}  // namespace allot
