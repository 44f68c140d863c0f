#include "apps/allot/live_block.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace allot::app {
namespace {

/// Cut to so many columns, escape sequences not counted.
std::string cut(std::string_view line, std::size_t columns) {
  std::string text;
  std::size_t used = 0;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b') {
      const std::size_t end = line.find('m', at);
      if (end == std::string_view::npos) break;
      text.append(line.substr(at, end + 1 - at));
      at = end + 1;
      continue;
    }
    std::size_t size = 1;
    while (at + size < line.size() && (static_cast<unsigned char>(line[at + size]) & 0xC0U) == 0x80U) ++size;
    if (used < columns) text.append(line.substr(at, size));
    ++used;
    at += size;
  }
  return text;
}

winsize error_size() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) size.ws_col = 80;
  if (size.ws_row == 0) size.ws_row = 24;
  return size;
}

}  // namespace

std::size_t LiveBlock::columns() { return error_size().ws_col - 1U; }

void LiveBlock::show(std::string_view text) {
  if (!console_.shows_progress()) return;
  const winsize size = error_size();
  std::string drawn = lines_ > 0 ? fmt::format("\x1b[{}A", lines_) : "";
  lines_ = 0;
  for (std::size_t at = 0; at < text.size() && lines_ + 1 < size.ws_row; ++lines_) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    drawn += "\r" + cut(text.substr(at, end - at), size.ws_col - 1U) + "\x1b[K\n";
    at = end + 1;
  }
  drawn += "\x1b[J";  // what was longer before
  console_.complain(drawn);
}

void LiveBlock::clear() {
  if (lines_ > 0) console_.complain(fmt::format("\x1b[{}A\r\x1b[J", lines_));
  lines_ = 0;
}

}  // namespace allot::app
