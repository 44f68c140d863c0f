// `allot run` and `allot profile` from the outside: work without a file, redoing, dry runs, what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/process.hpp"

namespace allot::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kCopyJob = R"toml(
[[resources]]
name = "cpu"
servers = 2
[[tasks]]
name = "copy"
inputs = "in/*.txt"
command = ["cp", "{}", "{out}"]
output = "out/{/}"
)toml";

class Run : public ::testing::Test {
 protected:
  Run() {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "in");
  }
  ~Run() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// A line for the shell, in the test's folder; `allot` is the command.
  Finished shell(const std::string& line, const std::string& input = "") const {
    const std::string script =
        "cd '" + folder_.string() + "' && allot() { '" + ALLOT_COMMAND + "' \"$@\"; }; " + line;
    return Process({"/bin/sh", "-c", script}).input(input).run();
  }
  void three_inputs() const {
    for (const char* const name : {"a", "b", "c"}) write(std::string("in/") + name + ".txt", name);
    write("job.toml", kCopyJob);
  }
  /// What a dry run would do, by the names of the tasks.
  std::set<std::string> to_do(const std::string& options) const {
    const Finished finished = shell("allot run job.toml --dry-run --json " + options);
    EXPECT_EQ(finished.status, 0) << finished.err;
    std::set<std::string> tasks;
    const Json json = Json::parse(finished.out);
    for (const Json& command : json["commands"]) tasks.insert(command["task"]);
    return tasks;
  }
  std::vector<Json> log(const std::string& journal) const {
    std::vector<Json> rows;
    std::istringstream in(shell("allot log " + journal + " --json").out);
    for (std::string line; std::getline(in, line);) rows.push_back(Json::parse(line));
    return rows;
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-cli-run-" + std::to_string(::getpid()));
};

// ---- work without a job file

TEST_F(Run, TakesACommandAndItsInputsWithoutAFile) {
  write("a b.txt", "one");
  write("-x.txt", "two");
  write("it's $HOME.txt", "three");
  const Finished finished = shell(
      "allot run -j2 'cat {} > {out}' --output 'out/{/.}.copy' ::: 'a b.txt' ./-x.txt \"it's \\$HOME.txt\"");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_EQ(read("out/a b.copy"), "one");
  EXPECT_EQ(read("out/-x.copy"), "two");
  EXPECT_EQ(read("out/it's $HOME.copy"), "three");
  EXPECT_THAT(finished.out, AllOf(HasSubstr("3 of 3 tasks done"), HasSubstr("The journal is allot-cat-")));
}

TEST_F(Run, TheSummaryOfAResumedRunSaysWhatIsOfAllRuns) {
  three_inputs();
  EXPECT_THAT(shell("allot run job.toml").out, AllOf(HasSubstr("done  failed"), Not(HasSubstr("all runs"))));
  write("in/d.txt", "d");
  EXPECT_THAT(shell("allot run job.toml").out, AllOf(HasSubstr("4 of 4 tasks done; this run: 1 in"),
                                                     HasSubstr("done (all runs)  failed"), HasSubstr("4/4")));
}

TEST_F(Run, TheSameCommandAgainGoesOnAndAnotherHasAJournalOfItsOwn) {
  const std::string line = "allot run 'echo {} >> done.txt' ::: 1 2";
  EXPECT_EQ(shell(line).status, 0);
  EXPECT_EQ(shell(line + " 3").status, 0);
  std::multiset<std::string> done;
  std::istringstream in(read("done.txt"));
  for (std::string word; in >> word;) done.insert(word);
  EXPECT_THAT(done, ElementsAre("1", "2", "3"));
  EXPECT_EQ(shell("allot run 'true {}' ::: 1").status, 0);
  std::size_t journals = 0;
  for (const auto& entry : fs::directory_iterator(folder_))
    journals += entry.path().extension() == ".journal" ? 1 : 0;
  EXPECT_EQ(journals, 2U);
}

TEST_F(Run, TakesACommandForEachResource) {
  const Finished finished = shell(
      "allot run --resource a=2 --resource b --command a='echo on-a {}' --command b='echo on-b {}' --json "
      "::: 1 2 3");
  ASSERT_EQ(finished.status, 0) << finished.err;
  const Json json = Json::parse(finished.out);
  EXPECT_EQ(json["done"], 3);
  EXPECT_EQ(json["types"][0]["resources"].size(), 2U);
}

TEST_F(Run, ReadsInputsFromStandardInputByLineOrByZeroByte) {
  EXPECT_THAT(shell("allot run 'echo got {}'", "x y\n\nz\n").out,
              AllOf(HasSubstr("got x y\n"), HasSubstr("got z\n")));
  const std::string zeros("p\nq\0r\0", 6);
  const Finished finished = shell("allot run -0 'printf %s, {}'", zeros);
  EXPECT_THAT(finished.out, AllOf(HasSubstr("p\nq,"), HasSubstr("r,"))) << finished.err;
  EXPECT_EQ(shell("allot run 'echo {}'", "").status, 0);
  EXPECT_THAT(shell("allot run 'echo {}'", "").err, HasSubstr("no inputs"));
}

TEST_F(Run, AJobFileTakesInputsFromStandardInputToo) {
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\ninputs_from = \"-\"\ncommand = [\"echo\", "
        "\"{}\"]\n"
        "output = \"out/{}\"\n");
  EXPECT_EQ(shell("allot run job.toml", "u\nv\n").status, 0);
  EXPECT_EQ(read("out/u"), "u\n");
  EXPECT_EQ(read("out/v"), "v\n");
}

TEST_F(Run, TakesAListOrATableAfterFourColons) {
  write("rows.csv", "path,size\na,10\nb,20\n");
  EXPECT_THAT(shell("allot run 'echo {path}={size}' :::: rows.csv").out,
              AllOf(HasSubstr("a=10\n"), HasSubstr("b=20\n")));
}

TEST_F(Run, WhatTasksPrintIsAllThatIsOnStandardOutput) {
  const Finished finished = shell("allot run 'echo line {}' ::: 1");
  EXPECT_EQ(finished.out, "line 1\n");
  EXPECT_THAT(finished.err, HasSubstr("1 of 1 tasks done"));
}

TEST_F(Run, ACommandThatNamesNoInputGetsItAsItsLastWord) {
  EXPECT_EQ(shell("allot run 'echo last:' ::: it").out, "last: it\n");
}

TEST_F(Run, JobsSetTheServers) {
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\nrepeat = 2\ncommand = \"true\"\nrates = { "
        "cpu = 1 }\n");
  const Json json = Json::parse(shell("allot run job.toml -n --json -j 7").out);
  EXPECT_EQ(json["predicted_throughput"], 2);
  EXPECT_THAT(shell("allot run job.toml -n -j 0").err, HasSubstr("whole number from 1"));
  EXPECT_THAT(shell("allot run --resource a --resource b 'true {}' -j 2 ::: 1").err, HasSubstr("-j a=2"));
  EXPECT_THAT(shell("allot run -j c=2 'true {}' ::: 1").err, HasSubstr("no resource 'c'"));
}

TEST_F(Run, SaysWhatIsWrongWithALineWithoutAFile) {
  three_inputs();
  const auto refused = [&](const std::string& line, const std::string& why) {
    const Finished finished = shell(line);
    EXPECT_EQ(finished.status, 2) << line;
    EXPECT_THAT(finished.err, HasSubstr(why)) << line;
    EXPECT_THAT(finished.out, IsEmpty());
  };
  refused("allot run", "needs a job file, or a command");
  refused("allot run ::: 1 2", "needs a command");
  refused("allot run job.toml ::: 1", "is a job file");
  refused("allot run job.toml --output x", "is a job file");
  refused("allot run gzip {} ::: 1", "in quotes");
  refused("allot run --resource gpu --command gpy='true {}' ::: 1", "Did you mean 'gpu'?");
  refused("allot run --resource a --resource b --command a=true --command a=false ::: 1", "'a' has two");
  refused("allot run 'true {}' ::: 1 ::: 2", "only one ':::'");
  const Finished finished = shell("allot run 'cat {nothing}' ::: 1");
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, HasSubstr("unknown placeholder '{nothing}'"));
}

// ---- doing again

TEST_F(Run, RedoesOutputsThatAreMissing) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  fs::remove(folder_ / "out/b.txt");
  EXPECT_THAT(to_do(""), IsEmpty());
  EXPECT_THAT(to_do("--redo missing"), ElementsAre("copy:in/b.txt"));
  EXPECT_EQ(shell("allot run job.toml --redo missing").status, 0);
  EXPECT_EQ(read("out/b.txt"), "b");
  const std::vector<Json> rows = log("job.toml.journal");
  ASSERT_EQ(rows.size(), 4U);  // the history is kept
  EXPECT_EQ(rows[3]["attempt"], 2);
  EXPECT_EQ(rows[3]["final"], true);
  EXPECT_THAT(to_do("--redo missing"), IsEmpty());
}

TEST_F(Run, RedoesWhatHasNewerInputs) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  EXPECT_THAT(to_do("--redo changed"), IsEmpty());
  write("in/c.txt", "new");
  EXPECT_THAT(to_do("--redo changed"), ElementsAre("copy:in/c.txt"));
  EXPECT_EQ(shell("allot run job.toml --redo changed").status, 0);
  EXPECT_EQ(read("out/c.txt"), "new");
  EXPECT_THAT(to_do("--redo changed"), IsEmpty());
}

TEST_F(Run, RedoesWhatMatchesAPattern) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  EXPECT_THAT(to_do("--redo 'copy:in/[ab]*'"), ElementsAre("copy:in/a.txt", "copy:in/b.txt"));
  EXPECT_EQ(to_do("--redo copy").size(), 3U);
  const Finished finished = shell("allot run job.toml --redo 'nothing*'");
  EXPECT_EQ(finished.status, 3);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("no task matches 'nothing*'"), HasSubstr("copy:in/a.txt")));
}

// ---- what is not overwritten

TEST_F(Run, AnOutputThatNoRecordKnowsIsNotOverwritten) {
  three_inputs();
  write("out/b.txt", "mine");
  for (const std::string option : {"", "--dry-run", "--fresh"}) {
    const Finished finished = shell("allot run job.toml " + option);
    EXPECT_EQ(finished.status, 3) << option;
    EXPECT_THAT(finished.err,
                AllOf(HasSubstr("out/b.txt"), HasSubstr("--overwrite"), Not(HasSubstr("out/a.txt"))));
  }
  EXPECT_EQ(read("out/b.txt"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "out/a.txt"));
  EXPECT_FALSE(fs::exists(folder_ / "job.toml.journal"));
  EXPECT_EQ(shell("allot run job.toml --overwrite").status, 0);
  EXPECT_EQ(read("out/b.txt"), "b");
  EXPECT_EQ(shell("allot run job.toml --fresh").status, 0);  // the old journal knows them
}

TEST_F(Run, WhatAKilledRunMadeAndDidNotRecordIsItsOwn) {
  three_inputs();
  // The task kills the run before the record of its own start can have reached the disk.
  write("kill.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\ninputs = \"in/*.txt\"\nshell = true\n"
        "command = \"cp {} out/{/}; kill -9 $(cat pid)\"\noutput = \"out/{/}\"\n");
  fs::create_directories(folder_ / "out");
  shell("(sh -c 'echo $$ > pid; exec \"$0\" run kill.toml' '" ALLOT_COMMAND "')");
  for (int round = 0; round < 8; ++round) {
    const Finished finished =
        shell("(sh -c 'echo $$ > pid; exec \"$0\" run kill.toml --requeues 100' '" ALLOT_COMMAND "')");
    EXPECT_NE(finished.status, 3) << finished.err;
  }
}

TEST_F(Run, AnOutputThatNoFileCanBeCalledIsRefusedAtOnce) {
  std::string row;
  for (int part = 0; part < 60'000; ++part) row += "a/";
  write("rows.txt", row + "x\n");
  write("long.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\ninputs_from = \"rows.txt\"\n"
        "command = [\"true\"]\noutput = \"{.}.out\"\n");
  const Finished finished = shell("timeout 20 '" ALLOT_COMMAND "' run long.toml");
  EXPECT_EQ(finished.status, 3) << finished.err;
  EXPECT_THAT(finished.err, HasSubstr("bytes; the system allows at most 4095"));
}

// ---- dry runs tell the truth

TEST_F(Run, ADryRunKnowsWhatIsDoneAndWhatFreshMeans) {
  three_inputs();
  const std::string before = shell("allot run job.toml -n").out;
  EXPECT_THAT(before, AllOf(HasSubstr("3 tasks, 0 already done, 3 to do"), HasSubstr("a new one")));
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  const std::string after = shell("allot run job.toml -n").out;
  EXPECT_THAT(after, AllOf(HasSubstr("3 already done, 0 to do"), HasSubstr("Nothing is left to do"),
                           Not(HasSubstr(" ns")), Not(HasSubstr("cp "))));
  write("in/d.txt", "d");
  EXPECT_THAT(to_do(""), ElementsAre("copy:in/d.txt"));
  fs::remove(folder_ / "in/a.txt");  // done, and no longer part of the job
  EXPECT_THAT(shell("allot run job.toml -n").out, HasSubstr("3 tasks, 2 already done, 1 to do"));
  const std::string fresh = shell("allot run job.toml -n --fresh").out;
  EXPECT_THAT(fresh, AllOf(HasSubstr("3 tasks, 0 already done, 3 to do"), HasSubstr("moved aside")));
  EXPECT_FALSE(fs::exists(folder_ / "job.toml.journal.1"));
}

TEST_F(Run, ADryRunRefusesADamagedJournalAsTheRunDoes) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  std::string bytes = read("job.toml.journal");
  const std::size_t at = bytes.find("copy:in/b.txt");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'X';
  write("job.toml.journal", bytes);
  fs::remove(folder_ / "job.toml.journal-wal");
  const Finished dry = shell("allot run job.toml -n");
  const Finished real = shell("allot run job.toml");
  EXPECT_EQ(dry.status, 4) << dry.out << dry.err;
  EXPECT_EQ(real.status, 4);
  EXPECT_EQ(dry.err, real.err);
}

TEST_F(Run, ADryRunTellsOfChangedCommands) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  std::string text = kCopyJob;
  write("job.toml", text.replace(text.find("\"cp\""), 4, "\"ln\""));
  const Finished dry = shell("allot run job.toml -n");
  EXPECT_EQ(dry.status, 4);
  EXPECT_THAT(dry.err, HasSubstr("--accept-changed"));
}

TEST_F(Run, NothingIsMovedAsideBeforeAllPathsAreKnownToBeWritable) {
  three_inputs();
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  for (const std::string option : {"--log no/such/folder/log.csv", "--log in"}) {
    const Finished finished = shell("allot run job.toml --fresh " + option);
    EXPECT_EQ(finished.status, 5) << finished.err;
    EXPECT_FALSE(fs::exists(folder_ / "job.toml.journal.1"));
  }
  fs::remove_all(folder_ / "out");
  write("out", "a file where a folder should be");
  const Finished finished = shell("allot run job.toml --fresh");
  EXPECT_EQ(finished.status, 5);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("is not a folder"), HasSubstr("Nothing was started")));
  EXPECT_FALSE(fs::exists(folder_ / "job.toml.journal.1"));
}

// ---- how it ends

TEST_F(Run, TheTimeLimitEndsWithSevenAndTheRestCanBeDoneLater) {
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\nrepeat = 300\ncommand = [\"sleep\", "
        "\"0.1\"]\n");
  const Finished finished = shell("allot run job.toml --time-limit 300ms --json");
  EXPECT_EQ(finished.status, 7) << finished.err;
  EXPECT_EQ(Json::parse(finished.out)["outcome"], "time-limit");
  EXPECT_LT(Json::parse(finished.out)["done"], 300);
  EXPECT_EQ(shell("allot plot job.toml.journal").status, 0);
  EXPECT_THAT(read("job.toml.journal.html"), HasSubstr(">time-limit</td>"));
  EXPECT_EQ(shell("allot run job.toml --time-limit 10x").status, 2);
}

TEST_F(Run, LogSaysWhyAttemptsFailedAndWhichFilesAreTheirs) {
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"bad\"\nrepeat = 1\nshell = true\nretries = 0\n"
        "command = \"echo said; echo broken >&2; exit 9\"\n[[tasks]]\nname = \"slow\"\nrepeat = 1\nretries = "
        "0\n"
        "timeout = \"100ms\"\ncommand = [\"sleep\", \"20\"]\n");
  EXPECT_EQ(shell("allot run job.toml").status, 1);
  const std::string text = shell("allot log job.toml.journal --status failed").out;
  EXPECT_THAT(text, AllOf(HasSubstr("exit 9"), HasSubstr("its last line: broken"), HasSubstr("timeout"),
                          HasSubstr("job.toml.journal.out/1.1.err")));
  for (const Json& row : log("job.toml.journal")) {
    if (row["type"] != "bad") continue;
    EXPECT_EQ(read(row["stdout"]), "said\n");
    EXPECT_EQ(read(row["stderr"]), "broken\n");
  }
}

TEST_F(Run, FilesOfAnAttemptStayItsOwnWhenInputsAreAddedInFront) {
  write("list.txt", "b\n");
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\ninputs_from = \"list.txt\"\ncommand = "
        "[\"echo\", \"{}\"]\n");
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  write("list.txt", "a\nb\n");
  ASSERT_EQ(shell("allot run job.toml").status, 0);
  for (const Json& row : log("job.toml.journal")) {
    EXPECT_EQ("t:" + read(row["stdout"]), row["task"].get<std::string>() + "\n");
  }
}

// ---- profile

TEST_F(Run, ProfileSaysThatItRunsTasksAgainAndAgainAndTriesItsFileFirst) {
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\nrepeat = 3\nshell = true\ncommand = \"echo "
        "x >> count\"\n");
  const Finished refused = shell("allot profile job.toml --out no/such/folder/rates.toml");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("Nothing was started"));
  EXPECT_FALSE(fs::exists(folder_ / "count"));
  const Finished finished =
      shell("allot profile job.toml --min-runs 3 --min-time 0 --max-time 50ms --mixed-time 0");
  EXPECT_EQ(finished.status, 0) << finished.err;
  EXPECT_THAT(finished.err, AllOf(HasSubstr("will run many times"), HasSubstr("at least 4 times")));
  EXPECT_GE(read("count").size() / 2, 4U);
  EXPECT_FALSE(fs::exists(folder_ / "job.rates.toml.part"));
}

TEST_F(Run, ProfileThatCannotWriteInTheEndPrintsItsRates) {
  // The task itself makes the place of the rates a folder.
  write("job.toml",
        "[[resources]]\nname = \"cpu\"\n[[tasks]]\nname = \"t\"\nrepeat = 3\nshell = true\ncommand = \"mkdir "
        "-p job.rates.toml/x\"\n");
  const Finished finished =
      shell("allot profile job.toml --min-runs 3 --min-time 0 --max-time 50ms --mixed-time 0");
  EXPECT_EQ(finished.status, 1);
  EXPECT_THAT(finished.out, HasSubstr("[[measured]]"));
  EXPECT_THAT(finished.err, HasSubstr("standard output"));
}

// ---- words and widths

TEST_F(Run, FitsNarrowTerminals) {
  write("job.toml",
        "[[resources]]\nname = \"processor\"\nservers = 2\n[[resources]]\nname = "
        "\"accelerator\"\n[[resources]]\nname = "
        "\"another accelerator\"\n[[tasks]]\nname = \"a task with a rather long name\"\nrepeat = 9\ncommand "
        "= \"sleep 0.05\"\n");
  for (const std::string arguments :
       {"run job.toml --fresh", "log job.toml.journal", "run job.toml --fresh -n", "run --help", "--help"}) {
    Process process(
        {"/bin/sh", "-c", "cd '" + folder_.string() + "' && exec '" ALLOT_COMMAND "' " + arguments});
    const std::string out = process.on_terminal(60).environment("NO_COLOR", "1").run().out;
    std::istringstream in(out);
    for (std::string line; std::getline(in, line);) {
      std::string plain;
      for (std::size_t at = 0; at < line.size();
           ++at) {  // without escapes and bytes that continue a character
        if (line[at] == '\x1b') {
          while (at < line.size() && std::isalpha(static_cast<unsigned char>(line[at])) == 0) ++at;
        } else if (line[at] != '\r' && (static_cast<unsigned char>(line[at]) & 0xC0U) != 0x80U) {
          plain += line[at];
        }
      }
      // Command lines and notes are not laid out.
      const bool is_prose = plain.starts_with("  $ ") || plain.starts_with("      --") ||
                            plain.starts_with("note: ") || plain.starts_with("  on ");
      if (is_prose) continue;
      EXPECT_LE(plain.size(), 60U) << arguments << "\n" << plain;
    }
  }
}

TEST_F(Run, PrintsAsciiInTheCLocale) {
  write("in/ü.txt", "x");
  write("job.toml", kCopyJob);
  const auto is_ascii = [](const std::string& text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  };
  const std::string examples = ALLOT_SOURCE_DIR "/examples";
  for (const std::string& line :
       {std::string("allot run job.toml"), std::string("allot log job.toml.journal"),
        "allot solve " + examples + "/workstation.toml",
        "allot compare " + examples +
            "/workstation.toml --policies map,jsq --completions 500 --replications 3"}) {
    const Finished finished = shell("export LC_ALL=C; " + line);
    EXPECT_EQ(finished.status, 0) << finished.err;
    EXPECT_TRUE(is_ascii(finished.out)) << finished.out;
    EXPECT_TRUE(is_ascii(finished.err)) << finished.err;
  }
  EXPECT_FALSE(is_ascii(shell("export LC_ALL=C.UTF-8; allot solve " + examples + "/workstation.toml").out));
}

}  // namespace
}  // namespace allot::testing
