// The area where tasks may write: inside the folder of their job, after following links.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

namespace allot {

class OutputFence {
 public:
  explicit OutputFence(const std::string& folder);

  /// Whether the file, relative to the folder or absolute, is inside it: neither `..` nor a link in the place
  /// of a folder leads out. `path` is normal (std::filesystem::path::lexically_normal).
  bool holds(const std::string& path);

 private:
  std::string folder_;                          // as given
  std::string real_;                            // with links resolved
  std::unordered_map<std::string, bool> seen_;  // by parent
};

/// The first output that is one of these files, or is inside one of these folders; empty: none.
std::string first_output_over(const std::vector<std::string>& outputs, const std::vector<std::string>& files);

/// The path with the links of its folder resolved, as far as the folder exists.
std::string real_output(const std::string& path);

}  // namespace allot
