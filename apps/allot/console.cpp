#include "apps/allot/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "apps/allot/exit.hpp"
#include "apps/allot/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kNarrowest = 40;

std::string_view code(Style style) noexcept {
  switch (style) {
    case Style::kPlain:
      return "";
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kGood:
      return "\x1b[32m";
    case Style::kBad:
      return "\x1b[31m";
    case Style::kAccent:
      return "\x1b[1;36m";
  }
  return "";
}

std::string wrapped(std::string_view text, Style style, bool colour) {
  if (!colour || style == Style::kPlain || text.empty()) return std::string(text);
  return std::string(code(style)).append(text).append("\x1b[0m");
}

bool colours_wanted() noexcept {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

/// Returns 0, or the error number.
int write_all(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

}  // namespace

Console::Console() {
  const bool terminal = ::isatty(STDOUT_FILENO) == 1;
  error_is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  const bool colours = colours_wanted();
  colour_ = terminal && colours;
  error_colour_ = error_is_terminal_ && colours;
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width_ = std::max<std::size_t>(size.ws_col, kNarrowest);
  }
}

std::string Console::styled(Style style, std::string_view text) const {
  return wrapped(text, style, colour_);
}

void Console::note(std::string_view text) const noexcept {
  if (!said_.emplace(text).second) return;
  complain(
      wrapped("note: ", Style::kAccent, error_colour_).append(for_locale(std::string(text))).append("\n"));
}

void Console::error(std::string_view text) const noexcept {
  complain(wrapped("error: ", Style::kBad, error_colour_).append(for_locale(std::string(text))).append("\n"));
}

void Console::complain(std::string_view text) const noexcept {
  if (is_muted_) {
    unsaid_ += text;
    return;
  }
  write_all(STDERR_FILENO, text);  // nobody is left to hear of a failure
}

void Console::deliver() {
  if (is_muted_) buffer_.clear();
  while (buffer_.ends_with("\n\n")) buffer_.pop_back();
  const int error = write_all(STDOUT_FILENO, buffer_);
  buffer_.clear();
  if (error == EPIPE) throw Failure(Exit::kFailed, "");
  if (error != 0) {
    throw Failure(Exit::kFailed, std::string("cannot write to standard output: ") + std::strerror(error));
  }
}

}  // namespace allot::app
