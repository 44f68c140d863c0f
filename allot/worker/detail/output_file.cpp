#include "allot/worker/detail/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "allot/worker/detail/descriptor.hpp"

namespace allot::detail {
namespace {

std::string because(int error) { return ": " + std::generic_category().message(error); }

/// 0, or the error. A file system that cannot synchronise such a file would lose nothing.
int synchronise(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return errno;
  if (::fsync(file.get()) == 0 || errno == EINVAL) return 0;
  return errno;
}

}  // namespace

std::string keep_output(const std::string& temporary, const std::string& final_path) {
  if (const int error = synchronise(temporary); error == ENOENT) {
    return "it succeeded, but wrote no output to " + temporary;
  } else if (error != 0) {
    return "cannot save the output " + temporary + because(error);
  }
  if (std::rename(temporary.c_str(), final_path.c_str()) != 0) {
    return "cannot put the output in place at " + final_path + because(errno);
  }
  const std::string folder = std::filesystem::path(final_path).parent_path().string();
  if (const int error = synchronise(folder.empty() ? "." : folder); error != 0) {
    return "cannot save the folder of " + final_path + because(error);
  }
  return {};
}

void discard_output(const std::string& temporary) {
  std::error_code ignored;
  std::filesystem::remove_all(temporary, ignored);
}

void discard_if_empty(const std::string& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
    ::unlink(file.c_str());
}

}  // namespace allot::detail
