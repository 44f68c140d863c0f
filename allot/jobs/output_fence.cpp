#include "allot/jobs/output_fence.hpp"

#include <filesystem>
#include <system_error>
#include <unordered_set>
#include <utility>

namespace allot {
namespace {

namespace fs = std::filesystem;

/// Follows links as far as the path exists; the parts that cannot be read stay as written.
fs::path real_folder(const fs::path& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path.empty() ? fs::path(".") : path, error);
  const fs::path real = fs::weakly_canonical(absolute, error);
  return (error ? absolute : real).lexically_normal();
}

}  // namespace

OutputFence::OutputFence(const std::string& folder) : folder_(folder), real_(real_folder(folder).string()) {
  if (real_.ends_with('/') && real_.size() > 1) real_.pop_back();
}

bool OutputFence::holds(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const auto [it, is_new] = seen_.try_emplace(folder.string(), false);
  if (is_new) {
    const std::string parent = real_folder(fs::path(folder_.empty() ? "." : folder_) / folder).string();
    it->second = parent == real_ || parent == real_ + "/" || real_ == "/" || parent.starts_with(real_ + "/");
  }
  return it->second;
}

std::string first_output_over(const std::vector<std::string>& outputs,
                              const std::vector<std::string>& files) {
  std::unordered_set<std::string> spared;
  for (const std::string& file : files) spared.insert(real_output(file));
  std::unordered_map<std::string, std::pair<std::string, bool>>
      folders;  // real name, and whether it is one of `files` or inside one
  for (const std::string& output : outputs) {
    const fs::path path(output);
    auto [it, is_new] = folders.try_emplace(path.parent_path().string());
    auto& [folder, is_spared] = it->second;
    if (is_new) {
      folder = real_folder(path.parent_path()).string();
      for (fs::path up = folder; !is_spared && up != up.parent_path(); up = up.parent_path())
        is_spared = spared.contains(up.string());
    }
    if (is_spared || spared.contains((fs::path(folder) / path.filename()).string())) return output;
  }
  return "";
}

std::string real_output(const std::string& path) {
  const fs::path file(path);
  return (real_folder(file.parent_path()) / file.filename()).string();
}

}  // namespace allot
