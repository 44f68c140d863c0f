// A CSV file that is written row by row.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace real_machine {

class Table {
 public:
  Table(const std::filesystem::path& folder, const char* name, const char* columns) : file_(folder / name) {
    if (!file_) throw std::runtime_error("cannot write " + (folder / name).string());
    file_.precision(9);
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
