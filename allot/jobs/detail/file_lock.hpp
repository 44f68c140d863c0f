// A lock that dies with the process that holds it.
#pragma once

#include <string>

namespace allot::detail {

/// Holds PATH.allot-lock, a file that says so and names the holder's process; gone again once it is released.
/// Of the open file, not of the process: other threads are kept out, too, and processes started meanwhile do
/// not inherit it. A file of that name that is not such a lock is never touched.
class FileLock {
 public:
  /// Throws JournalError: kLocked, naming the process that holds it, or kIo, also where something else lies
  /// there.
  explicit FileLock(const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

  /// Whether somebody holds the lock; true where that cannot be found out. Changes nothing on disk.
  static bool is_held(const std::string& path);

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace allot::detail
