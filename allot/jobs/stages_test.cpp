#include "allot/jobs/stages.hpp"

#include <gmock/gmock.h>

#include "allot/jobs/job_reader.hpp"

namespace allot {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTop = "[[resources]]\nname = \"cpu\"\n";

ReadResult<Job> read(const std::string& tasks) {
  return read_job_text(kTop + tasks, FileFormat::kToml, "job.toml", "/folder");
}

/// Every message, with its line.
std::string problems(const std::string& tasks) {
  const auto result = read(tasks);
  std::string text;
  if (result) return text;
  for (const Diagnostic& problem : result.diagnostics())
    text += problem.place + ": " + problem.message + "\n";
  return text;
}

std::vector<std::string> row(const Job& job, std::size_t type, std::size_t at) {
  const auto values = job.tasks[type].inputs.row(at);
  return {values.begin(), values.end()};
}

TEST(Stages, ATypeTakesTheOutputsOfAnother) {
  const auto job = read(
      "[[tasks]]\nname = \"encode\"\nfrom = \"detect\"\ncommand = [\"e\", \"{}\", \"{from}\", "
      "\"{from.from}\", "
      "\"{from.from/.}\"]\noutput = \"out/{from.from/.}.png\"\n"
      "[[tasks]]\nname = \"decode\"\ninputs = [\"in/a.jpg\", \"in/b.jpg\"]\ncommand = [\"d\"]\noutput = "
      "\"tmp/{#}.ppm\"\n"
      "[[tasks]]\nname = \"detect\"\nfrom = \"decode\"\ncommand = [\"t\"]\noutput = \"{.}.box\"\n");
  ASSERT_TRUE(job) << job.diagnostics().front().message;
  // {#} counts in the order of the file, in which encode stands first.
  EXPECT_THAT(row(*job, 2, 1), ElementsAre("tmp/4.ppm", "in/b.jpg"));
  EXPECT_THAT(row(*job, 0, 1), ElementsAre("tmp/4.box", "tmp/4.ppm", "in/b.jpg"));
  TemplateValues values;
  values.columns = job->tasks[0].inputs.row(0);
  EXPECT_THAT(job->tasks[0].commands[0]->expand(values),
              ElementsAre("e", "tmp/3.box", "tmp/3.ppm", "in/a.jpg", "a"));
  EXPECT_EQ(job->tasks[0].output->expand(values), "out/a.png");
}

TEST(Stages, TasksAreKnownByTheInputOfTheFirstStage) {
  const auto job = read(
      "[[tasks]]\nname = \"a\"\ninputs = [\"x\", \"x\"]\ncommand = [\"d\"]\noutput = \"{#}\"\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ncommand = [\"t\"]\n");
  ASSERT_TRUE(job);
  std::vector<std::string> names;
  for (const JobItem& item : list_items(*job)) names.push_back(item.identity);
  EXPECT_THAT(names, ElementsAre("a:x", "a:x#2", "b:x", "b:x#2"));
}

TEST(Stages, AnOutputIsNamedInFullWhereATaskRunsElsewhere) {
  const auto job = read(
      "[[tasks]]\nname = \"a\"\nrepeat = 1\ncommand = [\"d\"]\noutput = \"-o\"\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ndirectory = \"sub\"\ncommand = [\"t\"]\n"
      "[[tasks]]\nname = \"c\"\nfrom = \"a\"\ncommand = [\"t\"]\n");
  ASSERT_TRUE(job);
  EXPECT_THAT(row(*job, 1, 0), ElementsAre("/folder/-o", "1"));
  EXPECT_THAT(row(*job, 2, 0), ElementsAre("./-o", "1"));
}

TEST(Stages, EveryProblemIsNamed) {
  const std::string text = problems(
      "[[tasks]]\nname = \"a\"\nrepeat = 2\nkeep = false\nat_most = 3\ncommand = [\"d\"]\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\nrepeat = 3\ncommand = [\"t\", \"{from.size}\"]\n"
      "[[tasks]]\nname = \"c\"\nfrom = \"aa\"\nafter = [\"d\", 3, \"b\"]\ncommand = [\"t\"]\nat_most = 0\n");
  EXPECT_THAT(text, HasSubstr("'from': 'a' has no 'output' to use"));
  EXPECT_THAT(text, HasSubstr("takes only one of 'inputs', 'inputs_from', 'repeat' and 'from'"));
  EXPECT_THAT(text, HasSubstr("unknown placeholder '{from.size}'"));
  EXPECT_THAT(text, HasSubstr("unknown task 'aa'"));
  EXPECT_THAT(text, HasSubstr("each part of 'after'"));
  EXPECT_THAT(text, HasSubstr("'at_most' must be"));
}

TEST(Stages, LimitsNeedSomebodyWhoTakesTheOutputs) {
  const std::string text = problems(
      "[[tasks]]\nname = \"a\"\nrepeat = 2\nkeep = false\nat_most = 3\ncommand = [\"d\"]\noutput = \"{}\"\n");
  EXPECT_THAT(text, HasSubstr("job.toml:6: 'keep': no other task type has a 'from' that names this one"));
  EXPECT_THAT(text, HasSubstr("job.toml:7: 'at_most': no other task type has a 'from' that names this one"));
}

TEST(Stages, CirclesAreSpelledOut) {
  const std::string text = problems(
      "[[tasks]]\nname = \"a\"\nfrom = \"c\"\ncommand = [\"d\"]\noutput = \"{/}.a\"\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ncommand = [\"d\"]\noutput = \"{/}.b\"\n"
      "[[tasks]]\nname = \"c\"\nrepeat = 1\nafter = \"b\"\ncommand = [\"d\"]\noutput = \"{/}.c\"\n"
      "[[tasks]]\nname = \"d\"\nrepeat = 1\nafter = \"d\"\ncommand = [\"d\"]\n");
  EXPECT_THAT(
      text,
      HasSubstr("job.toml:5: these tasks could never start: 'a' waits for 'c' waits for 'b' waits for 'a'"));
  EXPECT_THAT(text, HasSubstr("'d' waits for 'd'"));
}

TEST(Stages, ALimitThatWouldMakeTasksWaitForEverIsRefused) {
  const std::string direct = problems(
      "[[tasks]]\nname = \"a\"\nrepeat = 9\nat_most = 2\ncommand = [\"d\"]\noutput = \"{}\"\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\nafter = \"a\"\ncommand = [\"d\"]\n");
  EXPECT_THAT(direct, HasSubstr("with 'at_most' this would wait for ever: 'b' waits for 'a' waits for 'b'"));
  // Two limits, neither of which does so alone.
  const std::string both = problems(
      "[[tasks]]\nname = \"a\"\nrepeat = 9\nat_most = 2\ncommand = [\"d\"]\noutput = \"a{}\"\n"
      "[[tasks]]\nname = \"b\"\nfrom = \"a\"\nafter = \"y\"\ncommand = [\"d\"]\n"
      "[[tasks]]\nname = \"z\"\nfrom = \"a\"\ncommand = [\"d\"]\n"
      "[[tasks]]\nname = \"c\"\nrepeat = 9\nat_most = 2\ncommand = [\"d\"]\noutput = \"c{}\"\n"
      "[[tasks]]\nname = \"d\"\nfrom = \"c\"\nafter = \"z\"\ncommand = [\"d\"]\n"
      "[[tasks]]\nname = \"y\"\nfrom = \"c\"\ncommand = [\"d\"]\n");
  EXPECT_THAT(both, HasSubstr("with 'at_most' this would wait for ever"));
  // A barrier that stands beside the limit does no harm.
  EXPECT_EQ(problems("[[tasks]]\nname = \"a\"\nrepeat = 9\nat_most = 2\ncommand = [\"d\"]\noutput = \"{}\"\n"
                     "[[tasks]]\nname = \"b\"\nfrom = \"a\"\nafter = \"x\"\ncommand = [\"d\"]\n"
                     "[[tasks]]\nname = \"x\"\nrepeat = 3\ncommand = [\"d\"]\n"),
            "");
}

TEST(Stages, TasksOfAllStagesCount) {
  const std::string text = std::string(kTop) +
                           "[[tasks]]\nname = \"a\"\nrepeat = 6\ncommand = [\"d\"]\noutput = \"{}\"\n"
                           "[[tasks]]\nname = \"b\"\nfrom = \"a\"\ncommand = [\"d\"]\n";
  EXPECT_TRUE(read_job_text(text, FileFormat::kToml, "", ".", 12));
  EXPECT_FALSE(read_job_text(text, FileFormat::kToml, "", ".", 11));
}

}  // namespace
}  // namespace allot
