#include "allot/worker/process.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "allot/worker/detail/process_table.hpp"
#include "allot/worker/detail/spawn.hpp"
#include "tests/support/lane_driver.hpp"

namespace allot {
namespace {

using ::testing::Contains;
using testing::eventually;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::processes_with;

pid_t start(const std::string& script, const std::string& marker) {
  detail::Program program;
  program.argv = {"sh", "-c", script, "sh", marker};
  program.environment = {"ALLOT_TEST_MARKER=" + marker};
  return detail::spawn(program).process;
}

/// A session of its own whose parents are gone, a group in the session, and a chain.
constexpr const char* kFamily =
    "(setsid sh -c 'sleep 1000 & sleep 1001' </dev/null &) ; sh -c 'sh -c \"sleep 1002; :\"; :' & sleep 1003";

TEST(KillDescendants, LeavesNoneOfAFamily) {
  adopt_orphans();
  const std::string marker = testing::fresh_marker();
  const pid_t child = start(kFamily, marker);
  ASSERT_GT(child, 0);
  ASSERT_TRUE(eventually([&] { return processes_with(marker).size() >= 7; }))
      << processes_with(marker).size();
  EXPECT_TRUE(kill_descendants());
  EXPECT_THAT(processes_with(marker), IsEmpty());
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD) << "all are reaped";
}

TEST(KillDescendants, SparesWhoIsNamedAndTheirs) {
  adopt_orphans();
  const std::string spared_marker = testing::fresh_marker();
  const std::string marker = testing::fresh_marker();
  const std::array<int, 1> spare{start("sleep 1000 & sleep 1001", spared_marker)};
  start(kFamily, marker);
  ASSERT_TRUE(eventually([&] { return processes_with(marker).size() >= 7; }));
  ASSERT_TRUE(eventually([&] { return processes_with(spared_marker).size() == 3; }));
  EXPECT_TRUE(kill_descendants(spare));
  EXPECT_THAT(processes_with(marker), IsEmpty());
  EXPECT_EQ(processes_with(spared_marker).size(), 3U);
  EXPECT_TRUE(kill_descendants());
  EXPECT_THAT(processes_with(spared_marker), IsEmpty());
}

TEST(KillDescendants, OutrunsProcessesThatKeepForking) {
  adopt_orphans();
  const std::string marker = testing::fresh_marker();
  // Each makes its successor, in a session of its own, and ends.
  start("export n=0 s='n=$((n+1)); [ $n -gt 3000 ] || setsid sh -c \"$s\" & sleep 0.005'; sh -c \"$s\"",
        marker);
  ASSERT_TRUE(eventually([&] { return !processes_with(marker).empty(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(kill_descendants());
  EXPECT_THAT(processes_with(marker), IsEmpty());
}

TEST(ProcessTable, KnowsThisProcessAndItsChildren) {
  const std::string marker = testing::fresh_marker();
  const pid_t child = start("sleep 1000", marker);
  EXPECT_THAT(detail::own_children(), Contains(child));
  // It has none for a moment while it is being executed.
  EXPECT_TRUE(eventually([&] { return detail::environment_of(child, "ALLOT_TEST_MARKER") == marker; }));
  EXPECT_EQ(detail::environment_of(child, "ALLOT_TEST"), "");
  const auto table = detail::process_table();
  const std::array<pid_t, 1> self{::getpid()};
  std::vector<pid_t> family;
  for (const auto& entry : detail::with_descendants(table, self)) {
    family.push_back(entry.process);
    if (entry.process == child) {
      EXPECT_EQ(entry.parent, ::getpid());
      EXPECT_EQ(entry.session, child);
      EXPECT_EQ(entry.group, child);
      EXPECT_FALSE(entry.zombie);
    }
  }
  EXPECT_THAT(family, Contains(child));
  EXPECT_THAT(family, Contains(::getpid()));
  EXPECT_THAT(family, Not(Contains(::getppid())));
  kill_descendants();
}

}  // namespace
}  // namespace allot
