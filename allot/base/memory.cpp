#include "allot/base/memory.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "allot/base/error.hpp"

namespace allot {
namespace {

#if !defined(__EMSCRIPTEN__)
constexpr std::uint64_t kWithoutEnd = std::numeric_limits<std::uint64_t>::max();

/// The number after a word at the beginning of a line, such as "MemAvailable:  1234 kB"; the first number if
/// the word is empty.
std::optional<std::uint64_t> number_in(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(word)) continue;
    const std::size_t at = line.find_first_of("0123456789", word.size());
    if (at == std::string::npos) return std::nullopt;  // "max"
    std::uint64_t value = 0;
    for (std::size_t k = at; k < line.size() && line[k] >= '0' && line[k] <= '9' && value < kWithoutEnd / 100;
         ++k)
      value = value * 10 + static_cast<std::uint64_t>(line[k] - '0');
    return value;
  }
  return std::nullopt;
}

std::uint64_t left_of(std::optional<std::uint64_t> limit, std::optional<std::uint64_t> used) {
  if (!limit || !used) return kWithoutEnd;
  return *limit > *used ? *limit - *used : 0;
}

/// The control group of this process, version 2; empty: none.
std::string control_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::/")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "";
}
#endif

}  // namespace

#if defined(__EMSCRIPTEN__)
/// A page has no files to ask; browsers grant about as much.
std::uint64_t memory_available() { return std::uint64_t{1} << 30; }
#else
std::uint64_t memory_available() {
  std::uint64_t least = kWithoutEnd;
  if (const auto free = number_in("/proc/meminfo", "MemAvailable:")) least = std::min(least, *free * 1024);
  // A group's page cache can be reclaimed, so it does not count as used.
  for (const std::string& group : {control_group(), std::string("/sys/fs/cgroup")}) {
    if (group.empty()) continue;
    auto used = number_in(group + "/memory.current", "");
    if (used) *used -= std::min(*used, number_in(group + "/memory.stat", "file ").value_or(0));
    least = std::min(least, left_of(number_in(group + "/memory.max", ""), used));
  }
  const auto of_process = [&](auto limited, const char* used) {
    rlimit limit{};
    if (::getrlimit(limited, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    const auto kilobytes = number_in("/proc/self/status", used);
    least =
        std::min(least, left_of(limit.rlim_cur, kilobytes ? std::optional(*kilobytes * 1024) : std::nullopt));
  };
  of_process(RLIMIT_AS, "VmSize:");
  of_process(RLIMIT_DATA, "VmData:");
  return least;
}
#endif

void require_memory(double bytes, const std::string& field, const std::string& what) {
  constexpr double kUnasked = 64 << 20;  // too little to be worth a check
  if (bytes < kUnasked) return;
  const auto available = static_cast<double>(memory_available());
  if (bytes <= available) return;
  throw InvalidModel(field, what + " would take about " + memory_text(bytes) + " of memory; " +
                                memory_text(available) + " are available");
}

std::string memory_text(double bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (bytes /= 1024; bytes >= 1024 && unit + 1 < kUnits.size(); bytes /= 1024) ++unit;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text.data();
}

}  // namespace allot
