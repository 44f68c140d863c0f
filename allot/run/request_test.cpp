#include "allot/run/request.hpp"

#include <gmock/gmock.h>

#include <filesystem>

namespace allot::request_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsSupersetOf;

constexpr ResourceId kCpu = resource_id(0);
constexpr ResourceId kGpu = resource_id(1);

/// Two resources and one type, whose inputs have two columns.
class RequestTest : public ::testing::Test {
 protected:
  RequestTest() {
    job_.path = "job.toml";
    job_.folder = "some/folder";
    job_.resources.resize(2);
    job_.resources[0].name = "cpu";
    job_.resources[1].name = "gpu";
    job_.resources[1].env.emplace_back("DEVICE", parse("{%}"));
    JobTask& task = job_.tasks.emplace_back();
    task.name = "decode";
    task.inputs.columns = {"path", "size"};
    task.inputs.values = {"in/a b.jpg", "3", "in/c.d.jpg", "4"};
    task.commands = {words({"djpeg", "{path}", "--size={size}", "{#}"}), words({"nvdec", "{/.}", "{%}"})};
    task.rates.resize(2);
  }

  Template parse(const std::string& text) {
    std::vector<std::string> problems;
    Template parsed = Template::parse(text, scope_, problems);
    EXPECT_THAT(problems, ElementsAre());
    return parsed;
  }
  CommandTemplate words(const std::vector<std::string>& words) {
    std::vector<std::string> problems;
    CommandTemplate parsed = CommandTemplate::from_words(words, scope_, problems);
    EXPECT_THAT(problems, ElementsAre());
    return parsed;
  }
  TaskRequest request(std::size_t row, ResourceId where, Count slot = 0, int attempt = 1) const {
    const std::vector<JobItem> items = list_items(job_);
    return make_request(job_, {&items[row], row + 1, where, slot, attempt}, "run-1");
  }
  static std::string folder(const std::string& below) {
    return (std::filesystem::current_path() / "some/folder" / below).lexically_normal().string();
  }

  TemplateScope scope_{{"path", "size"}, true, true};
  Job job_;
};

TEST_F(RequestTest, TellsATaskAllSlotsThatItHolds) {
  scope_.resources = {"cpu", "gpu"};
  job_.tasks.front().commands[1] = words({"taskset", "-c", "{%cpu}", "{%%}", "{%}"});
  job_.resources[1].env = {{"DEVICES", parse("{%%}")}};
  const std::vector<JobItem> items = list_items(job_);
  const Holding holding{TaskType{0}, kGpu, {{kGpu, 2, 1}, {kGpu, 0, 1}, {kCpu, 5, 1}, {kCpu, 3, 0.5}}};
  const TaskRequest request = make_request(job_, {&items[0], 1, kGpu, 2, 1, &holding}, "run-1");
  EXPECT_THAT(request.argv, ElementsAre("taskset", "-c", "3,5", "0,2", "2"));
  EXPECT_THAT(request.environment,
              ::testing::IsSupersetOf({"ALLOT_SLOT=2", "ALLOT_SLOTS=0,2", "DEVICES=0,2"}));
  EXPECT_THAT(this->request(0, kGpu, 1).environment, ::testing::Contains("ALLOT_SLOTS=1"));
}

TEST_F(RequestTest, FillsInTheCommandOfItsResource) {
  EXPECT_THAT(request(0, kCpu).argv, ElementsAre("djpeg", "in/a b.jpg", "--size=3", "1"));
  EXPECT_THAT(request(1, kGpu, 5).argv, ElementsAre("nvdec", "c.d", "5"));
}

TEST_F(RequestTest, TellsTheTaskWhatItIsByItsEnvironment) {
  const TaskRequest made = request(1, kGpu, 5, 2);
  EXPECT_THAT(made.environment, IsSupersetOf(std::vector<std::string>{
                                    "ALLOT_RUN_ID=run-1", "ALLOT_TASK=" + list_items(job_)[1].identity,
                                    "ALLOT_ATTEMPT=2", "ALLOT_RESOURCE=gpu", "ALLOT_SLOT=5", "DEVICE=5"}));
  EXPECT_THAT(request(1, kCpu).environment, Not(Contains(::testing::StartsWith("DEVICE="))));
}

TEST_F(RequestTest, LetsTheTaskOverrideItsResource) {
  job_.tasks[0].env.emplace_back("DEVICE", parse("none of {size}"));
  // The last of a name counts.
  EXPECT_EQ(request(0, kGpu).environment.back(), "DEVICE=none of 3");
}

TEST_F(RequestTest, StartsInTheFolderOfTheJobFile) {
  EXPECT_EQ(request(0, kCpu).directory, (std::filesystem::current_path() / "some/folder").string());
  job_.tasks[0].directory = "deeper/down";
  EXPECT_EQ(request(0, kCpu).directory, folder("deeper/down"));
  job_.tasks[0].directory = "/somewhere/else";
  EXPECT_EQ(request(0, kCpu).directory, "/somewhere/else");
}

TEST_F(RequestTest, WritesBesideTheOutputFirst) {
  job_.tasks[0].output = parse("out/{/.}.ppm");
  job_.tasks[0].commands[0] = words({"djpeg", "-outfile", "{out}", "{path}"});
  const TaskRequest made = request(0, kCpu, 0, 3);
  EXPECT_EQ(made.final_output, folder("out/a b.ppm"));
  EXPECT_EQ(made.temporary_output, folder("out/.allot-run-1-3-a b.ppm"));
  EXPECT_THAT(made.argv, ElementsAre("djpeg", "-outfile", made.temporary_output, "in/a b.jpg"));
  EXPECT_EQ(made.stdout_path, "");
}

TEST_F(RequestTest, TakesStandardOutputForTheOutputOfATaskThatIsNotToldWhereToWrite) {
  job_.tasks[0].output = parse("out/{/.}.ppm");
  EXPECT_EQ(request(0, kCpu).stdout_path, request(0, kCpu).temporary_output);
  job_.tasks[0].env.emplace_back("TARGET", parse("{out}"));
  EXPECT_EQ(request(0, kCpu).stdout_path, "") << "it is told by its environment";
  EXPECT_THAT(request(0, kCpu).environment, Contains("TARGET=" + request(0, kCpu).temporary_output));
}

TEST_F(RequestTest, HasATimeoutOnlyIfItsTypeHasOne) {
  EXPECT_EQ(request(0, kCpu).timeout_s, 0);
  job_.tasks[0].timeout_s = 1.5;
  EXPECT_EQ(request(0, kCpu).timeout_s, 1.5);
}

TEST(TemporaryOutput, KeepsFolderAndEnding) {
  EXPECT_EQ(temporary_output("a/b/c.tar.gz", "r", 1), "a/b/.allot-r-1-c.tar.gz");
  EXPECT_EQ(temporary_output("c", "r", 12), ".allot-r-12-c");
  EXPECT_EQ(temporary_output("/c", "r", 1), "/.allot-r-1-c");
}

TEST(TemporaryOutput, TellsRunsApart) {
  EXPECT_NE(temporary_output("c", "one", 1), temporary_output("c", "two", 1));
}

TEST(TemporaryOutput, IsNoLongerThanANameMayBe) {
  const std::string name = std::string(245, 'n') + ".jpg";
  const std::string made = temporary_output("a/" + name, "20261115-094500-4711-5f3c09ab", 1);
  EXPECT_EQ(made.size(), 2 + 255u);
  EXPECT_TRUE(made.ends_with("nnn.jpg"));
}

}  // namespace
}  // namespace allot::request_test
