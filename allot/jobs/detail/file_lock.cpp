#include "allot/jobs/detail/file_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "allot/jobs/journal.hpp"

namespace allot::detail {
namespace {

std::string read_holder(int file) {
  std::array<char, 32> text{};
  const ssize_t size = ::pread(file, text.data(), text.size(), 0);
  std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!pid.empty() && pid.back() == '\n') pid.pop_back();
  return pid;
}

}  // namespace

FileLock::FileLock(const std::string& path) : path_(path + ".lock") {
  const auto fail = [&](int code) {
    if (file_ >= 0) ::close(file_);
    throw JournalError(JournalProblem::kIo, path_ + ": " + std::generic_category().message(code));
  };
  while (true) {
    file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0) fail(errno);
    struct flock lock {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(file_, F_OFD_SETLK, &lock) != 0) {
      const int code = errno;
      if (code != EAGAIN && code != EACCES) fail(code);
      const std::string pid = read_holder(file_);
      ::close(file_);
      throw JournalError(JournalProblem::kLocked,
                         path + ": in use by another run" + (pid.empty() ? "" : ", process " + pid));
    }
    // The one who held it before may have removed the file between our opening and locking it.
    struct stat held {};
    struct stat named {};
    if (::fstat(file_, &held) == 0 && ::stat(path_.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
        held.st_dev == named.st_dev) {
      break;
    }
    ::close(file_);
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // For the message above only: on a full disk it stays without.
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, pid.data(), pid.size(), 0) < 0) errno = 0;
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

}  // namespace allot::detail
