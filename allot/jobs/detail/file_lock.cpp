#include "allot/jobs/detail/file_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>
#include <system_error>

#include "allot/jobs/journal.hpp"

namespace allot::detail {
namespace {

/// The beginning of a lock file; the process number follows. A process that was killed while creating it
/// leaves it empty.
constexpr std::string_view kMark = "allot lock, held by process ";

/// The first line of the file; nothing if it is not a lock file.
std::optional<std::string> read_mark(int file) {
  std::array<char, 64> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  if (size < 0) return std::nullopt;
  const std::string_view line(text.data(), static_cast<std::size_t>(size));
  if (!line.empty() && !line.starts_with(kMark)) return std::nullopt;
  return std::string(line);
}

std::string holder(std::string_view mark) {
  if (!mark.starts_with(kMark)) return "";
  mark.remove_prefix(kMark.size());
  const std::size_t digits = std::min(mark.find_first_not_of("0123456789"), mark.size());
  return digits > 0 ? ", process " + std::string(mark.substr(0, digits)) : "";
}

}  // namespace

FileLock::FileLock(const std::string& path) : path_(path + ".allot-lock") {
  const auto fail = [&](const std::string& why) {
    if (file_ >= 0) ::close(file_);
    throw JournalError(JournalProblem::kIo, path_ + ": " + why);
  };
  const auto because = [](int code) { return std::generic_category().message(code); };
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (file_ < 0) fail(errno == ELOOP ? "is a link, which is not followed; remove it" : because(errno));
    struct stat held {};
    if (::fstat(file_, &held) != 0) fail(because(errno));
    const std::optional<std::string> mark = S_ISREG(held.st_mode) ? read_mark(file_) : std::nullopt;
    if (!mark) fail("is not a lock of allot; move it away, or choose another journal");
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file_, F_OFD_SETLK, &lock) != 0) {
      const int code = errno;
      if (code != EAGAIN && code != EACCES) fail(because(code));
      ::close(file_);
      throw JournalError(JournalProblem::kLocked, path + ": in use by another run" + holder(*mark));
    }
    // The previous holder may have removed the file after we opened it and before we locked it.
    struct stat named {};
    if (::lstat(path_.c_str(), &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev)
      break;
    ::close(file_);
  }
  const std::string line = std::string(kMark) + std::to_string(::getpid()) + "\n";
  // Only for the message above: on a full disk it is missing.
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, line.data(), line.size(), 0) < 0) errno = 0;
}

bool FileLock::is_held(const std::string& path) {
  const int file =
      ::open((path + ".allot-lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return errno != ENOENT;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  const bool is_known = ::fcntl(file, F_OFD_GETLK, &lock) == 0;
  ::close(file);
  return !is_known || lock.l_type != F_UNLCK;
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace allot::detail
