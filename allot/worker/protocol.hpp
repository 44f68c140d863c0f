// The messages between the two ends of a lane, as bytes.
//
// Each end begins with a magic word, different for the two, and a Hello. The near end ignores everything
// before the word: launchers and login shells often print something first. Then come frames: the length of
// the rest (4 bytes), the kind (1 byte), the fields. Numbers are little-endian; strings and lists begin with
// their length (4 bytes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "allot/worker/task.hpp"

namespace allot::protocol {

/// Changes with every change of a message. Ends with different versions do not work together.
inline constexpr std::uint32_t kVersion = 2;
/// Maximum bytes of a frame. Larger than any command line that the kernel would execute.
inline constexpr std::size_t kMostFrame = std::size_t{16} << 20;

inline constexpr std::string_view kNearMagic{
    "\x01"
    "allot-near\n",
    12};
inline constexpr std::string_view kFarMagic{
    "\x01"
    "allot-work\n",
    12};

/// First message from both ends. Only this message has the same format in all versions.
struct Hello {
  std::uint32_t version = kVersion;
  std::string program;  ///< the sender, for messages: "allot 0.2.0"
  friend bool operator==(const Hello&, const Hello&) = default;
};
/// Second message from the near end.
struct Setup {
  double heartbeat_s = 1;  ///< send something at least this often
  double silence_s = 0;    ///< end after this time without a message; 0: never
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

/// The frame of a message. May be larger than kMostFrame; the other end would refuse it.
std::string encode(const Message& message);

/// The message at the beginning of some bytes.
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

/// A pure function. It looks at one frame and allocates at most a small multiple of the size of its input.
/// Every byte of a frame counts: encoding a decoded message gives the same bytes.
Decoded decode(std::string_view bytes);

/// The position after the first `magic`.
std::optional<std::size_t> after_magic(std::string_view bytes, std::string_view magic) noexcept;

}  // namespace allot::protocol
