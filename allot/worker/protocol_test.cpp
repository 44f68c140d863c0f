#include "allot/worker/protocol.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <vector>

#include "allot/base/random.hpp"

namespace allot::protocol {
namespace {

using Kind = Decoded::Kind;

std::string all_bytes() {
  std::string bytes;
  for (int byte = 0; byte < 256; ++byte) bytes.push_back(static_cast<char>(byte));
  return bytes;
}

/// One of each, with every field set to something.
std::vector<Message> samples() {
  TaskRequest request;
  request.id = 0x0123456789abcdef;
  request.argv = {"printf", "", all_bytes()};
  request.environment = {"NAME=value", "EMPTY="};
  request.directory = "/some/where";
  request.stdout_path = "out";
  request.stderr_path = "err";
  request.temporary_output = "result.part";
  request.final_output = "result";
  request.timeout_s = 30;
  request.grace_s = 0.25;
  TaskRecord record;
  record.id = std::numeric_limits<std::uint64_t>::max();
  record.status = TaskStatus::kTimeout;
  record.exit = -1;
  record.signal = 9;
  record.not_found = true;
  record.error = "gone";
  record.start_unix = 1.7e9;
  record.wall_s = 0.1;
  record.user_s = 0.2;
  record.sys_s = 0.3;
  record.maxrss_kb = -5;
  record.was_stopped = true;
  record.out = all_bytes();
  record.err = "complaint";
  record.err_cut = true;
  TaskRecord plain;
  plain.exit = 0;
  plain.status = TaskStatus::kOk;
  return {Hello{7, "allot 9"}, Setup{0.5, 300}, request,  TaskRequest{}, TaskStarted{3, 4711}, record, plain,
          KillTask{4, 15},     Pause{},         Resume{}, Finish{},      Heartbeat{}};
}

std::string frame(std::uint32_t length, char kind, const std::string& rest) {
  std::string bytes;
  for (int at = 0; at < 4; ++at) bytes.push_back(static_cast<char>(length >> (8 * at) & 0xff));
  return bytes + kind + rest;
}

TEST(Protocol, GivesBackEveryMessageAndLeavesWhatFollows) {
  for (const Message& message : samples()) {
    const std::string bytes = encode(message);
    const Decoded decoded = decode(bytes + "the next");
    ASSERT_EQ(decoded.kind, Kind::kMessage) << message.index();
    EXPECT_EQ(decoded.size, bytes.size());
    EXPECT_EQ(decoded.message, message);
  }
}

TEST(Protocol, WaitsForTheRestOfEveryTruncatedFrame) {
  for (const Message& message : samples()) {
    const std::string bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(decode(std::string_view(bytes).substr(0, size)).kind, Kind::kIncomplete) << size;
    }
  }
}

TEST(Protocol, TakesNoDamagedFrameForSomethingThatWasNotSent) {
  // Every byte of every sample, changed to every other value: refused, unfinished, or a message of these very
  // bytes.
  for (const Message& message : samples()) {
    const std::string bytes = encode(message);
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      for (int change = 1; change < 256; ++change) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ change);
        const Decoded decoded = decode(damaged);
        if (decoded.kind != Kind::kMessage) continue;
        ASSERT_EQ(encode(decoded.message), damaged.substr(0, decoded.size));
      }
    }
  }
}

TEST(Protocol, SurvivesRandomBytes) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed=" << seed);
    RandomStream random(seed);
    std::string bytes;
    const std::size_t size = random.below(80);
    for (std::size_t at = 0; at < size; ++at) bytes.push_back(static_cast<char>(random.below(256)));
    if (size > 5)
      bytes.replace(0, 5, frame(static_cast<std::uint32_t>(size - 4), static_cast<char>(seed % 10), ""));
    const Decoded decoded = decode(bytes);
    if (decoded.kind == Kind::kMessage) {
      ASSERT_EQ(encode(decoded.message), bytes.substr(0, decoded.size));
    }
  }
}

TEST(Protocol, RefusesFramesThatCannotBe) {
  const auto heartbeat = static_cast<char>(Message(Heartbeat{}).index());
  const auto request = static_cast<char>(Message(TaskRequest{}).index());
  EXPECT_EQ(decode(frame(2, heartbeat, "\n")).kind, Kind::kMessage);
  EXPECT_EQ(decode(frame(0, heartbeat, "")).kind, Kind::kGarbage);
  EXPECT_EQ(decode(frame(1, heartbeat, "")).kind, Kind::kGarbage);
  EXPECT_EQ(decode(frame(2, heartbeat, "x")).kind, Kind::kGarbage) << "not a line";
  EXPECT_EQ(decode(frame(kMostFrame + 1, request, "")).kind, Kind::kGarbage);
  EXPECT_EQ(decode(frame(kMostFrame, request, "")).kind, Kind::kIncomplete);
  EXPECT_EQ(decode(frame(2, static_cast<char>(std::variant_size_v<Message>), "\n")).kind, Kind::kGarbage);
  EXPECT_EQ(decode(frame(3, heartbeat, "x\n")).kind, Kind::kGarbage) << "more than its fields";
  EXPECT_EQ(decode(frame(14, request, std::string(8, '\0') + "\xff\xff\xff\xff\n")).kind, Kind::kGarbage)
      << "a list of four billion arguments in no bytes";
}

TEST(Protocol, FindsTheMagicWordBehindABanner) {
  const std::string hello = encode(Hello{});
  const std::string bytes = "Welcome to node 7\nallot\n\x01" + std::string(kFarMagic) + hello;
  const auto start = after_magic(bytes, kFarMagic);
  ASSERT_TRUE(start);
  EXPECT_EQ(bytes.substr(*start), hello);
  EXPECT_FALSE(after_magic(bytes, kNearMagic)) << "an echo of one end is not the other";
  EXPECT_FALSE(after_magic(bytes.substr(0, bytes.size() - hello.size() - 1), kFarMagic));
}

TEST(TaskStatus, IsCalledAsInTheLog) {
  EXPECT_EQ(to_string(TaskStatus::kOk), "ok");
  EXPECT_EQ(to_string(TaskStatus::kFailed), "failed");
  EXPECT_EQ(to_string(TaskStatus::kTimeout), "timeout");
  EXPECT_EQ(to_string(TaskStatus::kKilled), "killed");
  EXPECT_EQ(to_string(TaskStatus::kLost), "lost");
}

}  // namespace
}  // namespace allot::protocol
