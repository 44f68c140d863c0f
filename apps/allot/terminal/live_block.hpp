// A block of lines on standard error that is drawn again and again in the same place; on a terminal only.
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

  /// Takes the place of what stands there. Lines are cut at the terminal's width.
  void show(std::string_view text);
  /// Columns that a line may take now.
  static std::size_t columns();
  /// Takes the block off the screen, so that something else can be written.
  void clear();

 private:
  const Console& console_;
  std::size_t lines_ = 0;  // that stand on the screen
};

}  // namespace allot::app
