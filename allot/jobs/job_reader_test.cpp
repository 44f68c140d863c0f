#include "allot/jobs/job_reader.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "allot/format/duration.hpp"

namespace allot {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class JobReaderTest : public ::testing::Test {
 protected:
  JobReaderTest() { fs::create_directories(folder_ / "images"); }
  ~JobReaderTest() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text = {}) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  static Job read(const std::string& path) {
    ReadResult<Job> job = read_job(path);
    if (job) return std::move(job).value();
    for (const Diagnostic& diagnostic : job.diagnostics()) ADD_FAILURE() << to_string(diagnostic);
    return {};
  }

  fs::path folder_ = fs::temp_directory_path() / ("allot-job-reader-" + std::to_string(::getpid()));
};

TEST_F(JobReaderTest, ReadsAJob) {
  file("images/b.jpg");
  file("images/a.jpg");
  const std::string path = file("job.toml", R"(
name = "pictures"
[[resources]]
name = "cpu"
servers = 2
[[resources]]
name = "gpu"
min_depth = 2
power = 200
env = { CUDA_VISIBLE_DEVICES = "{%}", THREADS = 4 }
launch = ["srun", "-p", "gpu", "-n1"]
[[tasks]]
name = "decode"
count = 6
inputs = "images/*.jpg"
command = { cpu = ["djpeg", "{}"], gpu = "nvdec --in '{}' -o {out}" }
output = "out/{/.}.ppm"
timeout = "30s"
priority = 0.7
retries = 2
home = "gpu"
rates = { cpu = 3.5 }
env = { MODE = "fast {/}" }
directory = "work"
[[tasks]]
name = "sum"
priority = 0.3
repeat = 3
shell = true
command = "echo {#} {} | md5sum"
)");
  const Job job = read(path);
  EXPECT_EQ(job.name, "pictures");
  EXPECT_EQ(job.path, path);
  EXPECT_EQ(job.folder, folder_.string());
  ASSERT_EQ(job.resources.size(), 2U);
  EXPECT_EQ(job.resources[0].servers, 2);
  EXPECT_EQ(job.resources[1].min_depth, 2);
  EXPECT_THAT(job.resources[1].launch, ElementsAre("srun", "-p", "gpu", "-n1"));
  ASSERT_EQ(job.resources[1].env.size(), 2U);
  EXPECT_EQ(job.resources[1].env[1].second.expand({}), "4");

  ASSERT_EQ(job.tasks.size(), 2U);
  const JobTask& decode = job.tasks[0];
  EXPECT_EQ(decode.count, 6);
  EXPECT_EQ(decode.retries, 2);
  EXPECT_EQ(decode.home, ResourceId{1});
  EXPECT_EQ(decode.rates[0], 3.5);
  EXPECT_EQ(decode.rates[1], std::nullopt);
  EXPECT_EQ(decode.timeout_s, 30);
  EXPECT_EQ(decode.directory, "work");
  EXPECT_THAT(decode.inputs.values, ElementsAre("images/a.jpg", "images/b.jpg"));
  const TemplateValues values{decode.inputs.row(0), 1, 0, "tmp"};
  EXPECT_THAT(decode.commands[0]->expand(values), ElementsAre("djpeg", "images/a.jpg"));
  EXPECT_THAT(decode.commands[1]->expand(values), ElementsAre("nvdec", "--in", "images/a.jpg", "-o", "tmp"));
  EXPECT_EQ(decode.output->expand(values), "out/a.ppm");
  EXPECT_EQ(decode.env[0].second.expand(values), "fast a.jpg");
  EXPECT_FALSE(decode.commands[0]->uses(Placeholder::kOutput));
  EXPECT_TRUE(decode.commands[1]->uses(Placeholder::kOutput));
  // One command for all resources.
  EXPECT_TRUE(job.tasks[1].commands[0] && job.tasks[1].commands[1]);
  EXPECT_EQ(job.task_count(), 5U);
}

TEST_F(JobReaderTest, ReadsListsAndTables) {
  file("list.txt", "one\ntwo words\n");
  file("table.csv", "file,size\na.png,10\nb.png,20\n");
  const Job job = read(file("job.toml", R"(
resources = [{ name = "cpu" }]
tasks = [
  { name = "list", inputs_from = "list.txt", command = ["echo", "{}"] },
  { name = "table", inputs_from = "table.csv", command = ["echo", "{}", "{size}"], output = "{/.}-{size}.out" },
  { name = "words", inputs = ["alpha", "beta"], command = "echo {}" },
]
)"));
  ASSERT_EQ(job.tasks.size(), 3U);
  EXPECT_THAT(job.tasks[0].inputs.values, ElementsAre("one", "two words"));
  EXPECT_THAT(job.tasks[1].commands[0]->expand({job.tasks[1].inputs.row(1), 1, 0, {}}),
              ElementsAre("echo", "b.png", "20"));
  EXPECT_THAT(job.tasks[2].inputs.values, ElementsAre("alpha", "beta"));
}

TEST_F(JobReaderTest, ReadsJsonAsWell) {
  const Job job = read(file("job.json", R"({"resources": [{"name": "cpu"}],
    "tasks": [{"name": "a", "repeat": 2, "command": ["true"], "timeout": 1.5}]})"));
  ASSERT_EQ(job.tasks.size(), 1U);
  EXPECT_EQ(job.tasks[0].timeout_s, 1.5);
}

TEST(JobReader, CountsTheTasksOfAllTypesTogether) {
  const ReadResult<Job> job = read_job_text(R"(
resources = [{ name = "cpu" }]
tasks = [{ name = "a", repeat = 2, command = "true" }, { name = "b", repeat = 2, command = "true" }]
)",
                                            FileFormat::kToml, "job.toml", ".", 3);
  ASSERT_FALSE(job);
  EXPECT_THAT(to_string(job.diagnostics().front()),
              HasSubstr("job.toml:3: 'repeat': gives more than 1 tasks"));
}

TEST(JobReader, ReadsEveryExample) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(ALLOT_SOURCE_DIR "/examples/jobs")) {
    if (entry.path().extension() != ".toml") continue;
    ++count;
    const ReadResult<Job> job = read_job(entry.path().string());
    EXPECT_TRUE(job) << to_string(job.diagnostics().front());
  }
  EXPECT_GE(count, 3U);
}

TEST(Duration, IsANumberWithAUnit) {
  EXPECT_EQ(parse_duration("30s"), 30);
  EXPECT_EQ(parse_duration("5m"), 300);
  EXPECT_EQ(parse_duration("1.5h"), 5400);
  EXPECT_EQ(parse_duration("2d"), 172800);
  EXPECT_DOUBLE_EQ(*parse_duration("500ms"), 0.5);
  EXPECT_EQ(parse_duration("7"), 7);
  for (const char* const text : {"", "s", "-1s", "0", "5 m", "5min", "nan", "inf", "1h30m"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

TEST(JobCommand, MakesTheJobThatAFileWouldMake) {
  JobCommand command;
  command.resources = {{"cpu", 2}, {"gpu", 1}};
  command.commands = {{"cpu", "djpeg {} > {out}"}, {"gpu", "nvdec {} {out}"}};
  command.output = "out/{/.}.ppm";
  command.timeout_s = 30;
  command.inputs.values = {"a[1].jpg", "*.jpg"};  // no patterns here
  const ReadResult<Job> job = make_job(command);
  ASSERT_TRUE(job) << to_string(job.diagnostics().front());
  EXPECT_EQ(job->task_count(), 2U);
  EXPECT_EQ(job->folder, ".");
  EXPECT_EQ(job->resources[0].servers, 2);
  EXPECT_EQ(job->tasks[0].commands[0]->source(), "sh -c 'djpeg {} > {out}'");
  EXPECT_EQ(job->tasks[0].timeout_s, 30);
}

TEST(JobCommand, IsHeldToTheRulesOfFiles) {
  JobCommand command;
  command.resources = {{"cpu", 1}};
  command.commands = {{"", "cat '{}' {none}"}};
  command.inputs.values = {"a"};
  const ReadResult<Job> job = make_job(command);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.diagnostics().size(), 2U);
  EXPECT_TRUE(to_string(job.diagnostics().front()).starts_with("command line: "))
      << to_string(job.diagnostics().front());
  command.commands = {{"", "gzip -c {} > {out}"}};
  const ReadResult<Job> unnamed = make_job(command);
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(to_string(unnamed.diagnostics().front()),
            "command line: '{out}' needs --output PATH, the file to write");
}

}  // namespace
}  // namespace allot
