#include "allot/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allot/base/error.hpp"

namespace allot {
namespace {

TEST(Memory, WhatFitsIsGranted) {
  EXPECT_GT(memory_available(), 0u);
  EXPECT_NO_THROW(require_memory(1000, "replications", "a little"));
}

TEST(Memory, WhatDoesNotFitIsRefusedWithTheEstimate) {
  try {
    require_memory(1e30, "replications", "1000 replications");
    FAIL();
  } catch (const InvalidModel& error) {
    EXPECT_EQ(error.field(), "replications");
    EXPECT_NE(std::string(error.what()).find("1000 replications would take about"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("are there"), std::string::npos) << error.what();
  }
}

TEST(Memory, ALimitOfTheProcessIsSeen) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{std::uint64_t{1} << 40, std::uint64_t{1} << 40};
    ::setrlimit(RLIMIT_AS, &limit);
    ::_exit(memory_available() <= std::uint64_t{1} << 40 ? 0 : 1);
  }
  int status = 1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Memory, IsReadable) {
  EXPECT_EQ(memory_text(512), "0.5 KiB");
  EXPECT_EQ(memory_text(3.2 * 1024 * 1024 * 1024), "3.2 GiB");
  EXPECT_EQ(memory_text(200.0 * 1024 * 1024), "200 MiB");
}

}  // namespace
}  // namespace allot
