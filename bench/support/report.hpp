// What the benchmarks share: tables, what machine this is, and how to run a rival.
#pragma once

#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Of this process, all threads together.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// 1,234,567
inline std::string whole_text(double value) {
  std::string digits = std::to_string(static_cast<long long>(std::llround(value)));
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// A table as Markdown has it, aligned for reading. The first row holds the headings.
inline void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows[0].size(), 2);
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::printf("|");
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      std::printf(" %*s |", static_cast<int>(width[c]), rows[r][c].c_str());
    }
    std::printf("\n");
    if (r != 0) continue;
    std::printf("|");
    for (const std::size_t w : width) std::printf(" %s: |", std::string(w - 1, '-').c_str());
    std::printf("\n");
  }
}

inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

/// Runs a command and gives each line of its output to `take`. False when it fails.
inline bool run_lines(const std::string& command, const std::function<void(const std::string&)>& take) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return false;
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    take(line);
    line.clear();
  }
  const int status = pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

inline std::string quoted(const std::string& path) { return "'" + path + "'"; }

/// The first Python that has the module; empty when there is none.
inline std::string find_python(const std::string& module) {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (std::system((std::string(candidate) + " -c 'import " + module + "' 2>/dev/null").c_str()) == 0)
      return candidate;
  }
  return {};
}

}  // namespace bench
