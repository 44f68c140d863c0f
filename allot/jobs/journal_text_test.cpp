#include "allot/jobs/journal_text.hpp"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "allot/jobs/inputs.hpp"

namespace allot {
namespace {

AttemptRow example() {
  AttemptRow row;
  row.sequence = 7;
  row.run = 2;
  row.task = "decode:images/a.jpg";
  row.type = "decode";
  row.resource = "gpu";
  row.attempt = 1;
  row.status = AttemptStatus::kOk;
  row.exit = 0;
  row.start_unix = 1.7e9;
  row.queue_s = 0.1;
  row.wall_s = 0.8;
  row.user_s = 0.7;
  row.sys_s = 0.05;
  row.maxrss_kb = 12000;
  row.counted = true;
  row.is_final = true;
  row.command = "nvdec --in images/a.jpg";
  return row;
}

TEST(JournalText, IsTheJsonThatIsPromised) {
  const std::string line = attempt_json(example());
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto object = nlohmann::json::parse(line);
  EXPECT_EQ(object["task"], "decode:images/a.jpg");
  EXPECT_EQ(object["type"], "decode");
  EXPECT_EQ(object["resource"], "gpu");
  EXPECT_EQ(object["slot"], 0);
  EXPECT_EQ(object["attempt"], 1);
  EXPECT_EQ(object["status"], "ok");
  EXPECT_EQ(object["exit"], 0);
  EXPECT_TRUE(object["signal"].is_null());
  EXPECT_EQ(object["start_unix"], 1.7e9);
  EXPECT_EQ(object["queue_s"], 0.1);
  EXPECT_EQ(object["wall_s"], 0.8);
  EXPECT_EQ(object["user_s"], 0.7);
  EXPECT_EQ(object["sys_s"], 0.05);
  EXPECT_EQ(object["maxrss_kb"], 12000);
  EXPECT_EQ(object["counted"], true);
  EXPECT_EQ(object["sequence"], 7);
}

TEST(JournalText, IsValidJsonWhateverTheBytes) {
  AttemptRow row = example();
  row.command = "cat \xff\xfe '\n\"'";
  row.status = AttemptStatus::kKilled;
  row.exit.reset();
  row.signal = 9;
  const auto object = nlohmann::json::parse(attempt_json(row));
  EXPECT_EQ(object["signal"], 9);
  EXPECT_TRUE(object["exit"].is_null());
}

TEST(JournalText, IsCsvThatCanBeReadBack) {
  AttemptRow row = example();
  row.command = "echo \"a, b\"\nc";
  std::vector<InputProblem> problems;
  const InputTable table =
      inputs_from_csv(std::string(attempt_csv_header()) + "\n" + attempt_csv(row) + "\n", 10, problems);
  EXPECT_THAT(problems, ::testing::IsEmpty());
  ASSERT_EQ(table.rows(), 1U);
  EXPECT_EQ(table.columns[19], "command");
  EXPECT_EQ(table.row(0)[19], row.command);
  EXPECT_EQ(table.columns.back(), "stderr");
  EXPECT_EQ(table.row(0)[2], row.task);
  EXPECT_EQ(table.row(0)[9], "");
  EXPECT_EQ(table.row(0)[16], "true");
}

}  // namespace
}  // namespace allot
