#include "allot/base/memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

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
    EXPECT_NE(std::string(error.what()).find("are available"), std::string::npos) << error.what();
  }
}

/// What the process has mapped; a sanitizer maps terabytes.
std::uint64_t mapped() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST(Memory, ALimitOfTheProcessIsSeen) {
  constexpr std::uint64_t kLeft = 64 << 20;
  ASSERT_GT(memory_available(), kLeft);
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit limit{mapped() + kLeft, RLIM_INFINITY};
    ::setrlimit(RLIMIT_AS, &limit);
    ::_exit(memory_available() <= kLeft ? 0 : 1);
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
