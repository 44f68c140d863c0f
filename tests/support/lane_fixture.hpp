// The fixture of all tests that open lanes to real workers.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "allot/worker/lane.hpp"
#include "tests/support/lane_driver.hpp"

namespace allot::testing {

inline std::string contents(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline TaskRequest shell_task(std::uint64_t id, const std::string& script) {
  TaskRequest task;
  task.id = id;
  task.argv = {"sh", "-c", script};
  return task;
}

/// Everything that a test starts carries its marker, and nothing of it is alive afterwards.
class LaneTest : public ::testing::Test {
 protected:
  LaneTest() {
    options_.worker = {ALLOT_COMMAND, "worker"};
    options_.environment = {"ALLOT_TEST_MARKER=" + marker_};
    std::filesystem::create_directories(folder_);
  }
  ~LaneTest() override {
    EXPECT_TRUE(eventually([this] { return processes_with(marker_).empty(); }, std::chrono::seconds(20)))
        << "processes are left";
    std::filesystem::remove_all(folder_);
  }
  LaneDriver local() { return LaneDriver({}, options_); }

  const std::string marker_ = fresh_marker();
  const std::string folder_ = ::testing::TempDir() + marker_;
  LaneOptions options_;
};

}  // namespace allot::testing
