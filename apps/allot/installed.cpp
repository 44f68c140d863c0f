#include "apps/allot/installed.hpp"

#include <filesystem>
#include <system_error>

namespace allot::app {

std::string installed(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path beside = program.parent_path().parent_path() / "share" / file;
  if (!error && fs::exists(beside, error)) return beside.string();
  return std::string(ALLOT_SHARE) + "/" + file;
}

}  // namespace allot::app
