// Captures the beginning of a task's output through a pipe. The rest is read and dropped, so that large
// output does no harm.
#pragma once

#include <string>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {

class Collector {
 public:
  /// Opens the pipe; false if no descriptors are left.
  bool open();
  /// For the task; close it here once the task has it.
  int write_end() const noexcept { return write_end_.get(); }
  void close_write_end() noexcept { write_end_.close(); }
  /// -1 if not open, or at the end of the pipe.
  int read_end() const noexcept { return read_end_.get(); }

  /// Reads what is available now, without waiting.
  void read();
  void close() noexcept { read_end_.close(); }

  std::string text;
  bool cut = false;

 private:
  Descriptor read_end_;
  Descriptor write_end_;
};

}  // namespace allot::detail
