#include "apps/allot/terminal/live_block.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace allot::app {
namespace {

winsize error_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80;
  if (size.ws_row == 0) size.ws_row = 24;
  return size;
}

}  // namespace

std::size_t LiveBlock::columns() { return error_size().ws_col - 1U; }

void LiveBlock::show(std::string_view text) {
  const winsize size = error_size();
  lines_ = console_.redraw(lines_, text, size.ws_col - 1U, std::max<std::size_t>(size.ws_row, 2) - 1);
}

void LiveBlock::clear() {
  if (lines_ > 0) lines_ = console_.redraw(lines_, "", 0, 0);
}

}  // namespace allot::app
