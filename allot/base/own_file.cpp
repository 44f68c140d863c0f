#include "allot/base/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace allot {
namespace {

constexpr std::string_view kPart = ".part";
constexpr std::size_t kPartDigits = 16;

std::error_code last_error() { return {errno != 0 ? errno : EIO, std::generic_category()}; }

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string random_digits(std::size_t count) {
  std::array<unsigned char, 64> bytes{};
  if (count > bytes.size()) throw std::system_error(std::make_error_code(std::errc::invalid_argument));
  if (::getentropy(bytes.data(), count) != 0) throw std::system_error(last_error(), "getentropy");
  std::string digits;
  for (std::size_t at = 0; at < count; ++at) digits += "0123456789abcdef"[bytes[at] & 15U];
  return digits;
}

std::error_code replace_file(const std::string& path, std::string_view content, Readers readers) {
  const std::string part = path + "." + random_digits(kPartDigits) + std::string(kPart);
  errno = 0;
  const int file = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          readers == Readers::kOwner ? 0600 : 0666);
  if (file < 0) return last_error();
  bool good = write_all(file, content);
  std::error_code error = good ? std::error_code() : last_error();
  if (::close(file) != 0 && good) {
    good = false;
    error = last_error();
  }
  if (good && std::rename(part.c_str(), path.c_str()) != 0) error = last_error();
  if (error) ::unlink(part.c_str());
  return error;
}

bool is_unfinished(std::string_view name) noexcept {
  if (!name.ends_with(kPart)) return false;
  name.remove_suffix(kPart.size());
  const std::size_t dot = name.rfind('.');
  return dot != name.npos && name.size() - dot - 1 == kPartDigits &&
         name.find_first_not_of("0123456789abcdef", dot + 1) == name.npos;
}

std::error_code make_private_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return last_error();
  const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return last_error();
  struct stat found {};
  std::error_code error;
  if (::fstat(folder, &found) != 0) {
    error = last_error();
  } else if (found.st_uid != ::geteuid()) {
    error = std::make_error_code(std::errc::operation_not_permitted);
  } else if ((found.st_mode & 077U) != 0 && ::fchmod(folder, 0700) != 0) {
    error = last_error();
  }
  ::close(folder);
  return error;
}

}  // namespace allot
