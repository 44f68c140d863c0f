// The beginning of what a task writes, through a pipe: the rest is read and dropped, so that no amount of it
// hurts.
#pragma once

#include <string>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {

class Collector {
 public:
  /// Opens the pipe; false when there are no descriptors left.
  bool open();
  /// For the task; to be closed here once the task has it.
  int write_end() const noexcept { return write_end_.get(); }
  void close_write_end() noexcept { write_end_.close(); }
  /// -1 when not open, or at its end.
  int read_end() const noexcept { return read_end_.get(); }

  /// Reads what is there now, without waiting.
  void read();
  void close() noexcept { read_end_.close(); }

  std::string text;
  bool cut = false;

 private:
  Descriptor read_end_;
  Descriptor write_end_;
};

}  // namespace allot::detail
