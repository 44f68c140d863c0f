// Where tasks may write: inside the folder of their job, links followed.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace allot {

class OutputFence {
 public:
  explicit OutputFence(const std::string& folder);

  /// Whether the file, relative to the folder or absolute, lies within it: neither `..` nor a link in the
  /// place of a folder on the way leads out. `path` is normal (std::filesystem::path::lexically_normal).
  bool holds(const std::string& path);

 private:
  std::string folder_;                          // as it was given
  std::string real_;                            // its real name
  std::unordered_map<std::string, bool> seen_;  // by parent
};

/// The first output that is one of these files, or lies in one of these folders; empty: none is.
std::string first_output_over(const std::vector<std::string>& outputs, const std::vector<std::string>& files);

/// The file's real name: that of its folder, links followed as far as it exists, and its own.
std::string real_output(const std::string& path);

}  // namespace allot
