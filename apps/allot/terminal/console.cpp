#include "apps/allot/terminal/console.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "allot/base/own_file.hpp"
#include "allot/base/quote.hpp"
#include "apps/allot/exit.hpp"
#include "apps/allot/terminal/text.hpp"

namespace allot::app {
namespace {

constexpr std::size_t kNarrowest = 40;

/// Plain, bold, dim, good, bad, accent.
std::string_view code(Style style) noexcept {
  constexpr std::array<std::string_view, 6> kCodes = {"",         "\x1b[1m",  "\x1b[2m",
                                                      "\x1b[32m", "\x1b[31m", "\x1b[1;36m"};
  return kCodes[static_cast<std::size_t>(style)];
}

constexpr char kEndOfMark = 'm';                  // like the end of a colour code, and not a hexadecimal
                                                  // digit
constexpr std::size_t kLongestLine = 4096;        // of a note or an error
constexpr std::size_t kLongestPrinted = 1 << 20;  // of what is printed
constexpr std::size_t kMostOfANote = 64 << 10;
constexpr std::size_t kPiece = 64 << 10;

/// Converts the text between marks with `made`; replaces marks by the code of their style, or by nothing.
template <typename Made>
std::string with_marks(std::string_view text, std::string_view mark, bool colours, const Made& made) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find(mark), text.size());
    out += made(text.substr(0, at));
    text.remove_prefix(at);
    if (text.size() < mark.size() + 2) break;
    const int style = text[mark.size()] - '0';
    if (colours) {
      out += style == static_cast<int>(Style::kPlain) ? std::string_view("\x1b[0m")
                                                      : code(static_cast<Style>(style));
    }
    text.remove_prefix(mark.size() + 2);
  }
  return out;
}

std::string marked(std::string_view mark, Style style) {
  return std::string(mark) + static_cast<char>('0' + static_cast<int>(style)) + kEndOfMark;
}

/// Whole lines of text with marks: each cut to `most` bytes of text, not counting marks.
std::string safe_lines(std::string_view text, std::string_view mark, bool colours, std::size_t most) {
  // Cut first, so that a line of three megabytes costs only as much as its visible part.
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.size() <= most) {
      out += with_marks(line, mark, colours,
                        [&](std::string_view part) { return quote::terminal_lines(part, most); });
    } else {
      std::size_t room = most;
      bool cut = false;
      out += with_marks(line, mark, colours, [&](std::string_view part) {
        if (cut) return std::string();
        std::string shown = quote::terminal_lines(part.substr(0, room + 1), room);
        cut = part.size() > room || shown.size() > room;
        room -= std::min(room, shown.size());
        return shown;
      });
    }
    if (end < text.size()) out += '\n';
    at = end + 1;
  }
  return out;
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
  is_terminal_ = ::isatty(STDOUT_FILENO) == 1;
  error_is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  const bool colours = colours_wanted();
  colour_ = is_terminal_ && colours;
  error_colour_ = error_is_terminal_ && colours;
  mark_ = "\x1b" + random_digits(16);
  winsize size{};
  if (is_terminal_ && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    width_ = std::max<std::size_t>(size.ws_col, kNarrowest);
  }
}

std::string Console::styled(Style style, std::string_view text) const {
  if ((!colour_ && !error_colour_) || style == Style::kPlain || text.empty()) return std::string(text);
  return marked(mark_, style).append(text).append(marked(mark_, Style::kPlain));
}

void Console::print(std::string_view text) { buffer_ += safe_lines(text, mark_, colour_, kLongestPrinted); }

void Console::paragraph(std::string_view text, Style style) { line(wrapped(text, width_, 0), style); }

void Console::document(std::string_view text) {
  buffer_ += is_terminal_ ? quote::terminal_document(text) : std::string(text);
}

void Console::note(std::string_view text) const noexcept {
  if (!said_.emplace(text).second) return;
  complain(styled(Style::kAccent, "note: ")
               .append(for_locale(std::string(text.substr(0, kMostOfANote))))
               .append("\n"));
}

void Console::error(std::string_view text) const noexcept {
  complain(styled(Style::kBad, "error: ")
               .append(for_locale(std::string(text.substr(0, kMostOfANote))))
               .append("\n"));
}

void Console::complain(std::string_view text) const noexcept {
  write_error(safe_lines(text, mark_, error_colour_, kLongestLine));
}

void Console::complain_document(std::string_view text) const noexcept {
  write_error(error_is_terminal_ ? quote::terminal_document(text) : std::string(text));
}

std::size_t Console::redraw(std::size_t lines, std::string_view text, std::size_t columns,
                            std::size_t most) const noexcept {
  if (!shows_progress()) return 0;
  std::string drawn = lines > 0 ? fmt::format("\x1b[{}A", lines) : "";
  if (lines > 0 && text.empty()) drawn += "\r";
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size() && count < most; ++count) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::size_t room = columns;
    drawn += "\r" +
             with_marks(text.substr(at, end - at), mark_, error_colour_,
                        [&](std::string_view part) {
                          const std::string shown = quote::terminal(part, kLongestLine);
                          std::string cut;
                          for (std::size_t k = 0; k < shown.size() && room > 0; --room) {
                            const std::size_t length = std::max<std::size_t>(quote::utf8_length(shown, k), 1);
                            cut += shown.substr(k, length);
                            k += length;
                          }
                          return cut;
                        }) +
             "\x1b[K\n";
    at = end + 1;
  }
  drawn += "\x1b[J";  // clears the rest of a longer block
  if (lines > 0 || count > 0) write_error(drawn);
  return count;
}

void Console::redraw_line(std::string_view text) const noexcept {
  if (!shows_progress()) return;
  const std::string shown = quote::terminal(text, width_ - 4);
  const std::size_t rest = line_width_ > shown.size() ? line_width_ - shown.size() : 0;
  write_error("\r" + shown + std::string(rest, ' ') + (text.empty() ? "\r" : ""));
  line_width_ = shown.size();
}

void Console::copy_file(const std::string& path, int to) const noexcept {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  const bool terminal = to == STDERR_FILENO ? error_is_terminal_ : is_terminal_;
  std::array<char, kPiece> bytes;
  std::size_t kept = 0;  // bytes of a character that was split
  for (;;) {
    const ssize_t size = ::read(file, bytes.data() + kept, bytes.size() - kept);
    if (size < 0 && errno == EINTR) continue;
    std::size_t have = kept + static_cast<std::size_t>(std::max<ssize_t>(size, 0));
    if (have == 0) break;
    kept = 0;
    if (terminal && size > 0) {
      // Up to three bytes at the end may be the start of a character.
      while (kept < 3 && kept < have && (static_cast<unsigned char>(bytes[have - 1 - kept]) & 0xC0U) == 0x80U)
        ++kept;
      kept = kept < have && static_cast<unsigned char>(bytes[have - 1 - kept]) >= 0xC0U ? kept + 1 : 0;
      have -= kept;
    }
    const std::string_view piece(bytes.data(), have);
    const int error = terminal ? write_all(to, quote::terminal_lines(piece, kPiece)) : write_all(to, piece);
    std::copy_n(bytes.data() + have, kept, bytes.data());
    if (error != 0 || size <= 0) break;
  }
  ::close(file);
}

void Console::write_error(std::string_view text) const noexcept {
  if (is_muted_) {
    unsaid_ += text;
    return;
  }
  write_all(STDERR_FILENO, text);  // there is no way to report a failure
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
