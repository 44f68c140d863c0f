// A lock that ends with the process that holds it.
#pragma once

#include <string>

namespace allot::detail {

/// Holds PATH.allot-lock, a file that names the holder's process; it is removed on release. The lock belongs
/// to the open file, not to the process: it also keeps out other threads, and child processes do not inherit
/// it. A file of that name that is not such a lock is never changed.
class FileLock {
 public:
  /// Throws JournalError: kLocked, naming the process that holds it, or kIo, also if the path is something
  /// else.
  explicit FileLock(const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  /// Whether a process holds the lock; true if that is unknown. Changes nothing on disk.
  static bool is_held(const std::string& path);

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace allot::detail
