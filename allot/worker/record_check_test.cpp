#include "allot/worker/record_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace allot::record_check_test {
namespace {

constexpr double kSentUnix = 1.7e9;

struct Confined {
  TaskRecord record;
  Confined(TaskRecord given, SentTask task = {}, double elapsed = 2) : record(std::move(given)) {
    task.sent = Clock::now();
    task.sent_unix = kSentUnix;
    confine_record(
        record, task,
        task.sent + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(elapsed)));
  }
};

TaskRecord record(TaskStatus status) {
  TaskRecord record;
  record.id = 7;
  record.status = status;
  if (status == TaskStatus::kOk) record.exit = 0;
  record.start_unix = kSentUnix + 0.5;
  record.wall_s = 1;
  record.user_s = 0.5;
  return record;
}

TEST(RecordCheck, LeavesAnHonestRecordAlone) {
  for (const TaskStatus status : {TaskStatus::kOk, TaskStatus::kFailed}) {
    TaskRecord honest = record(status);
    honest.error = "cannot execute x: No such file or directory";
    EXPECT_EQ(Confined(honest).record, honest);
  }
  const TaskRecord killed = record(TaskStatus::kKilled);
  EXPECT_EQ(Confined(killed, {.was_killed = true}).record, killed);
  const TaskRecord late = record(TaskStatus::kTimeout);
  EXPECT_EQ(Confined(late, {.timeout_s = 1}).record, late);
}

TEST(RecordCheck, TimesLieWithinWhatWasSeen) {
  for (const double odd :
       std::vector<double>{1e300, -1e300, std::nan(""), INFINITY, -INFINITY, 0.0, -1.0, 4e9}) {
    TaskRecord lying = record(TaskStatus::kOk);
    lying.start_unix = lying.wall_s = lying.user_s = lying.sys_s = odd;
    const TaskRecord confined = Confined(lying).record;
    EXPECT_GE(confined.start_unix, kSentUnix);
    EXPECT_GE(confined.wall_s, 0);
    EXPECT_LE(confined.start_unix + confined.wall_s, kSentUnix + 2.001);
    EXPECT_TRUE(confined.user_s >= 0 && confined.user_s <= 3e5);
    EXPECT_TRUE(confined.sys_s >= 0 && confined.sys_s <= 3e5);
  }
}

TEST(RecordCheck, SaysKilledOnlyIfAskedFor) {
  const TaskRecord confined = Confined(record(TaskStatus::kKilled)).record;
  EXPECT_EQ(confined.status, TaskStatus::kFailed);
  EXPECT_NE(confined.error.find("did not ask"), std::string::npos);
  EXPECT_EQ(Confined(record(TaskStatus::kLost)).record.status, TaskStatus::kFailed);
  EXPECT_EQ(Confined(record(TaskStatus::kTimeout)).record.status, TaskStatus::kFailed);
  EXPECT_EQ(Confined(record(TaskStatus::kTimeout), {.timeout_s = 60}).record.status, TaskStatus::kFailed);
  TaskRecord odd = record(TaskStatus::kOk);
  odd.exit = 3;
  EXPECT_EQ(Confined(odd).record.status, TaskStatus::kFailed);
  odd.exit.reset();
  EXPECT_EQ(Confined(odd).record.status, TaskStatus::kFailed);
}

TEST(RecordCheck, TextIsShortAndPrintable) {
  TaskRecord lying = record(TaskStatus::kFailed);
  lying.error = "\r\x1b[2K5 of 5 tasks done\n\xe2\x80\xae" + std::string(15'000'000, 'e');
  const std::string error = Confined(lying).record.error;
  EXPECT_LE(error.size(), kMostRecordError);
  EXPECT_EQ(error.find_first_of("\r\n\x1b"), std::string::npos);
  EXPECT_EQ(error.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_LE(confined_name(std::string(3'000'000, '\x1b')).size(), 100u);
}

TEST(RecordCheck, AnyRecordBecomesOneThatCanBe) {
  std::mt19937_64 random(1);
  const std::vector<double> odd = {0, -0.0, 1, -1, 1e9, 1.7e9, 1e300, -1e300, std::nan(""), INFINITY, 5e-324};
  const auto any = [&] { return odd[random() % odd.size()]; };
  for (int round = 0; round < 20'000; ++round) {
    TaskRecord lying;
    lying.status = static_cast<TaskStatus>(random() % 5);
    if (random() % 2 == 0) lying.exit = static_cast<int>(random());
    if (random() % 2 == 0) lying.signal = static_cast<int>(random());
    lying.not_found = random() % 2 == 0;
    lying.start_unix = any();
    lying.wall_s = any();
    lying.user_s = any();
    lying.sys_s = any();
    lying.maxrss_kb = static_cast<std::int64_t>(random());
    for (std::uint64_t k = random() % 40; k > 0; --k) lying.error += static_cast<char>(random());
    const SentTask task{.timeout_s = any(), .was_killed = random() % 2 == 0};
    const TaskRecord confined = Confined(lying, task).record;
    SCOPED_TRACE(::testing::Message() << "round " << round);
    ASSERT_NE(confined.status, TaskStatus::kLost);
    ASSERT_TRUE(confined.status != TaskStatus::kKilled || task.was_killed);
    ASSERT_TRUE(confined.status != TaskStatus::kOk || confined.exit == 0);
    ASSERT_GE(confined.start_unix, kSentUnix);
    ASSERT_LE(confined.start_unix + confined.wall_s, kSentUnix + 2.001);
    for (const unsigned char c : confined.error) ASSERT_GE(c, 0x20);
    ASSERT_EQ(Confined(confined, task).record, confined);
  }
}

}  // namespace
}  // namespace allot::record_check_test
