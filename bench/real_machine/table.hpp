// A CSV file that is written row by row.
#pragma once

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace real_machine {

/// To four digits, which is more than a measurement has.
inline std::string rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

class Table {
 public:
  Table(const std::filesystem::path& folder, const char* name, const char* columns) : file_(folder / name) {
    if (!file_) throw std::runtime_error("cannot write " + (folder / name).string());
    file_.precision(7);
    file_ << columns << '\n';
  }

  template <typename First, typename... Rest>
  void row(const First& first, const Rest&... rest) {
    file_ << first;
    ((file_ << ',' << rest), ...);
    file_ << std::endl;  // what was measured is on the disk, whatever happens next
  }

 private:
  std::ofstream file_;
};

}  // namespace real_machine
