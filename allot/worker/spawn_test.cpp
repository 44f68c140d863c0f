#include "allot/worker/detail/spawn.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {
namespace {

using ::testing::HasSubstr;

struct Ended {
  Spawned spawned;
  int status = -1;
  std::string out;
};

/// Runs it to its end, with its standard output in a pipe.
Ended run(Program program) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  program.output = to.get();
  Ended ended;
  ended.spawned = spawn(program);
  to.close();
  std::array<char, 4096> part{};
  for (ssize_t size = 1; size > 0;) {
    size = ::read(from.get(), part.data(), part.size());
    if (size > 0) ended.out.append(part.data(), static_cast<std::size_t>(size));
  }
  if (ended.spawned.process > 0) ::waitpid(ended.spawned.process, &ended.status, 0);
  return ended;
}

Ended run_shell(const std::string& script) {
  Program program;
  program.argv = {"sh", "-c", script};
  return run(program);
}

class Spawn : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text, mode_t mode) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  Spawned failed(std::vector<std::string> argv) {
    Program program;
    program.argv = std::move(argv);
    return run(program).spawned;
  }
  const std::string folder_ = ::testing::TempDir() + "allot-spawn-" + std::to_string(::getpid());
};

TEST_F(Spawn, SaysWhyAProgramCannotBeExecuted) {
  const Spawned absent = failed({"allot-no-such-program", "x"});
  EXPECT_EQ(absent.process, -1);
  EXPECT_TRUE(absent.not_found);
  EXPECT_THAT(absent.error, HasSubstr("allot-no-such-program: No such file or directory"));
  EXPECT_TRUE(failed({folder_ + "/absent"}).not_found);
  EXPECT_TRUE(failed({""}).not_found);

  const Spawned not_executable = failed({file("plain", "#!/bin/sh\n", 0644)});
  EXPECT_TRUE(not_executable.not_found);
  EXPECT_THAT(not_executable.error, HasSubstr("Permission denied"));

  // A shell would be tried by execvp.
  const Spawned no_format = failed({file("script", "echo no first line\n", 0755)});
  EXPECT_TRUE(no_format.not_found);
  EXPECT_THAT(no_format.error, HasSubstr("Exec format error"));

  EXPECT_TRUE(failed({folder_}).not_found) << "a folder";
}

TEST_F(Spawn, DoesNotBlameTheProgramForOtherTroubles) {
  Program program;
  program.argv = {"true"};
  program.directory = folder_ + "/absent";
  EXPECT_THAT(run(program).spawned.error, HasSubstr("cannot enter the folder"));
  EXPECT_FALSE(run(program).spawned.not_found);

  program.directory.clear();
  program.error_path = folder_ + "/absent/err";
  EXPECT_THAT(run(program).spawned.error, HasSubstr("absent/err"));
  EXPECT_FALSE(run(program).spawned.not_found);

  EXPECT_FALSE(failed({}).not_found);
  EXPECT_FALSE(failed({}).error.empty());
  EXPECT_THAT(failed({"true", std::string("a\0b", 3)}).error, HasSubstr("zero byte"));
  EXPECT_THAT(failed({"true", std::string(std::size_t{3} << 20, 'x')}).error,
              HasSubstr("Argument list too long"));
}

TEST_F(Spawn, LooksInThePathOfTheProgramItself) {
  file("tool", "#!/bin/sh\necho found\n", 0755);
  file("plain", "not a program", 0644);
  Program program;
  program.argv = {"tool"};
  EXPECT_TRUE(run(program).spawned.not_found);
  program.environment = {"PATH=/nowhere::" + folder_};
  EXPECT_EQ(run(program).out, "found\n");
  program.argv = {"plain"};
  EXPECT_THAT(run(program).spawned.error, HasSubstr("Permission denied"));
}

TEST_F(Spawn, GivesThreeDescriptorsAndNoMore) {
  // Not close-on-exec, as a careless library may leave it.
  const Descriptor leaked(::open("/dev/null", O_RDONLY));
  EXPECT_EQ(run_shell("cd /proc/self/fd && echo *").out.substr(0, 5), "0 1 2");
  EXPECT_EQ(run_shell("[ -e /proc/self/fd/" + std::to_string(leaked.get()) + " ] || echo closed").out,
            "closed\n");
  EXPECT_EQ(run_shell("readlink /proc/self/fd/0").out, "/dev/null\n");
}

TEST_F(Spawn, ResetsSignals) {
  sigset_t set;
  sigset_t before;
  ::sigfillset(&set);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  const auto pipe = ::signal(SIGPIPE, SIG_IGN);
  const auto interrupt = ::signal(SIGINT, SIG_IGN);
  Program program;
  program.argv = {"cat", "/proc/self/status"};
  const Ended ended = run(program);
  ::signal(SIGPIPE, pipe);
  ::signal(SIGINT, interrupt);
  EXPECT_THAT(ended.out, HasSubstr("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
  sigset_t after;
  ::sigprocmask(SIG_SETMASK, &before, &after);
  EXPECT_EQ(::sigismember(&after, SIGUSR1), 1) << "the caller's own mask is as it was";
}

TEST_F(Spawn, StartsASession) {
  const Ended ended = run_shell("cut -d' ' -f1,5,6 /proc/$$/stat");
  const std::string pid = std::to_string(ended.spawned.process);
  EXPECT_EQ(ended.out, pid + " " + pid + " " + pid + "\n");
}

TEST_F(Spawn, AddsToTheEnvironment) {
  ::setenv("ALLOT_TEST_OWN", "kept", 1);
  ::setenv("ALLOT_TEST_REPLACED", "old", 1);
  Program program;
  program.argv = {"sh", "-c",
                  "echo $ALLOT_TEST_OWN $ALLOT_TEST_REPLACED $ALLOT_TEST_NEW; env | grep -c ALLOT_TEST_"};
  program.environment = {"ALLOT_TEST_REPLACED=new", "ALLOT_TEST_NEW=first", "ALLOT_TEST_NEW=last"};
  EXPECT_EQ(run(program).out, "kept new last\n3\n");
  ::unsetenv("ALLOT_TEST_OWN");
  ::unsetenv("ALLOT_TEST_REPLACED");
}

TEST_F(Spawn, WritesOneFileForBothOutputs) {
  Program program;
  program.argv = {"sh", "-c", "echo one; echo two >&2; echo three"};
  program.directory = folder_;
  program.output_path = program.error_path = "both";
  const Spawned spawned = spawn(program);
  ASSERT_GT(spawned.process, 0) << spawned.error;
  ::waitpid(spawned.process, nullptr, 0);
  std::ifstream stream(folder_ + "/both");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(stream), {}), "one\ntwo\nthree\n");
}

}  // namespace
}  // namespace allot::detail
