// What the two ends of a lane say to each other, as bytes.
//
// Each end begins with a magic word, different for the two, and a Hello. What comes before the word is
// ignored by the near end: launchers and login shells like to print something first. Then frames: the length
// of the rest (4 bytes), the kind (1 byte), the fields. Numbers are little-endian, strings and lists begin
// with their length (4 bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "allot/worker/task.hpp"

namespace allot::protocol {

/// Changes with every change of a message. Ends of different versions do not talk to each other.
inline constexpr std::uint32_t kVersion = 2;
/// The most bytes of a frame. Larger than any command line that the kernel would execute.
inline constexpr std::size_t kMostFrame = std::size_t{16} << 20;

inline constexpr std::string_view kNearMagic{
    "\x01"
    "allot-near\n",
    12};
inline constexpr std::string_view kFarMagic{
    "\x01"
    "allot-work\n",
    12};

/// First from both ends. This message alone keeps its form in all versions.
struct Hello {
  std::uint32_t version = kVersion;
  std::string program;  ///< who is speaking, for messages: "allot 0.2.0"
  friend bool operator==(const Hello&, const Hello&) = default;
};
/// Second from the near end.
struct Setup {
  double heartbeat_s = 1;  ///< say something at least this often
  double silence_s = 0;    ///< end after so long without a word; 0: never
  friend bool operator==(const Setup&, const Setup&) = default;
};
struct TaskStarted {
  std::uint64_t id = 0;
  std::int64_t process = 0;  ///< its main process, where the worker is
  friend bool operator==(const TaskStarted&, const TaskStarted&) = default;
};
struct KillTask {
  std::uint64_t id = 0;
  std::int32_t signal = 0;
  friend bool operator==(const KillTask&, const KillTask&) = default;
};
struct Pause {
  friend bool operator==(const Pause&, const Pause&) = default;
};
struct Resume {
  friend bool operator==(const Resume&, const Resume&) = default;
};
struct Finish {
  friend bool operator==(const Finish&, const Finish&) = default;
};
struct Heartbeat {
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

/// The kind in a frame is the position in this list.
using Message = std::variant<Hello, Setup, TaskRequest, TaskStarted, TaskRecord, KillTask, Pause, Resume,
                             Finish, Heartbeat>;

/// The frame of a message. May be larger than kMostFrame, which the other end would refuse.
std::string encode(const Message& message);

/// What the bytes begin with.
struct Decoded {
  enum class Kind : std::uint8_t {
    kMessage,     ///< `message`, in the first `size` bytes
    kIncomplete,  ///< the beginning of a frame
    kGarbage,     ///< no frame begins like this
  };
  Kind kind = Kind::kIncomplete;
  std::size_t size = 0;
  Message message = Heartbeat{};
};

/// Pure; looks at one frame, and never allocates more than a small multiple of the bytes given. Every byte of
/// a frame counts: what decodes encodes to the same bytes.
Decoded decode(std::string_view bytes);

/// Where the bytes after the first `magic` begin.
std::optional<std::size_t> after_magic(std::string_view bytes, std::string_view magic) noexcept;

}  // namespace allot::protocol
