// A lock that dies with the process that holds it.
#pragma once

#include <string>

namespace allot::detail {

/// Holds PATH.lock, an empty file but for the holder's process id; gone again once it is released. Of the
/// open file, not of the process: other threads are kept out, too, and processes started meanwhile do not
/// inherit it.
class FileLock {
 public:
  /// Throws JournalError: kLocked, naming the process that holds it, or kIo.
  explicit FileLock(const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace allot::detail
