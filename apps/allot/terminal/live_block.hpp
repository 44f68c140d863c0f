// A block of lines on standard error that is redrawn in the same place; on a terminal only.
#pragma once

#include <cstddef>
#include <string_view>

#include "apps/allot/terminal/console.hpp"

namespace allot::app {

class LiveBlock {
 public:
  explicit LiveBlock(const Console& console) : console_(console) {}
  LiveBlock(const LiveBlock&) = delete;
  LiveBlock& operator=(const LiveBlock&) = delete;
  ~LiveBlock() { clear(); }

  /// Replaces the present block. Lines are cut at the terminal's width.
  void show(std::string_view text);
  /// Maximum columns of a line now.
  static std::size_t columns();
  /// Removes the block from the screen, so that other text can be written.
  void clear();

 private:
  const Console& console_;
  std::size_t lines_ = 0;  // on the screen now
};

}  // namespace allot::app
