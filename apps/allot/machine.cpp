#include "apps/allot/machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"

namespace allot::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = std::size_t{1} << 20;
constexpr std::uint64_t kMostCpus = 65'536;
/// Cores are of one kind if the slower has at least this part of the capacity of the faster.
constexpr double kSameKind = 0.95;

std::string text_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostText, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

std::string trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t\n\r"), text.size());
  text.remove_prefix(first);
  return std::string(text.substr(0, text.find_last_not_of(" \t\n\r") + 1));
}

/// "0-3,8" as {0, 1, 2, 3, 8}.
std::set<int> cpu_list(const std::string& text) {
  std::set<int> out;
  std::istringstream parts(trimmed(text));
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = number_in<std::uint64_t>(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number_in<std::uint64_t>(part.substr(dash + 1));
    if (!first || !last || *last >= kMostCpus) continue;
    for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) out.insert(static_cast<int>(cpu));
  }
  return out;
}

std::string list_text(const std::set<int>& cpus) {
  std::string text;
  for (auto at = cpus.begin(); at != cpus.end();) {
    const int first = *at;
    int last = first;
    for (++at; at != cpus.end() && *at == last + 1; ++at) ++last;
    text +=
        (text.empty() ? "" : ",") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  }
  return text;
}

/// The output of a program on the search path, or below the root; empty if it does not exist or fails.
std::string output_of(const std::string& root, const std::string& program, const std::string& arguments) {
  const std::string path = root.empty() ? program : root + "/usr/bin/" + program;
  const std::string line = "timeout 10 " + quote::shell(path) + " " + arguments + " 2>/dev/null </dev/null";
  std::FILE* const pipe = ::popen(line.c_str(), "re");
  if (pipe == nullptr) return "";
  std::string text;
  char buffer[4096];
  for (std::size_t count = 0;
       text.size() < kMostText && (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    text.append(buffer, count);
  return ::pclose(pipe) == 0 ? text : "";
}

// ---- cores

std::set<int> usable_cpus(const std::string& root) {
  std::set<int> cpus = cpu_list(text_of(root + "/sys/devices/system/cpu/online"));
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (root.empty() && ::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed) == 0) cpus.erase(cpu);
    }
  }
  if (cpus.empty()) cpus.insert(0);
  return cpus;
}

/// Counts the hardware threads of a core once.
Count cores_among(const std::string& root, const std::set<int>& cpus) {
  std::set<int> first_threads;
  for (const int cpu : cpus) {
    const std::set<int> siblings = cpu_list(text_of(root + "/sys/devices/system/cpu/cpu" +
                                                    std::to_string(cpu) + "/topology/thread_siblings_list"));
    first_threads.insert(siblings.empty() ? cpu : *siblings.begin());
  }
  return static_cast<Count>(first_threads.size());
}

/// The folders of this process's control group and of those around it, in which a limit may be. `controller`:
/// that of version 1 of control groups; version 2 has them all in one.
std::vector<std::string> control_groups(const std::string& root, std::string_view controller) {
  const std::string top = root + "/sys/fs/cgroup";
  // In a container, the group around it is the top.
  std::vector<std::string> out = {top, top + "/" + std::string(controller)};
  std::istringstream lines(text_of(root + "/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {  // NUMBER:CONTROLLERS:/PATH
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() &&
        ("," + controllers + ",").find("," + std::string(controller) + ",") == std::string::npos)
      continue;
    std::string folder = controllers.empty() ? top : top + "/" + std::string(controller);
    for (const fs::path& part : fs::path(line.substr(second + 1)).relative_path()) {
      if (part == "..") break;  // outside of what this process sees
      folder += "/" + part.string();
      out.push_back(folder);
    }
  }
  return out;
}

/// CPUs that this process may use at once, by the quotas of its groups; absent: all.
std::optional<Count> quota(const std::string& root) {
  std::optional<double> least;
  for (const std::string& folder : control_groups(root, "cpu")) {
    for (const bool is_second : {true, false}) {
      std::istringstream words(is_second ? text_of(folder + "/cpu.max")
                                         : text_of(folder + "/cpu.cfs_quota_us") + " " +
                                               text_of(folder + "/cpu.cfs_period_us"));
      double microseconds = 0;
      double period = 0;
      if (words >> microseconds >> period && microseconds > 0 && period > 0)
        least = std::min(least.value_or(kMostCpus), microseconds / period);
    }
  }
  if (!least) return std::nullopt;
  return std::max<Count>(1, static_cast<Count>(std::ceil(*least)));
}

std::set<int> both(const std::set<int>& a, const std::set<int>& b) {
  std::set<int> out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(out, out.end()));
  return out;
}

std::vector<CoreKind> core_kinds(const std::string& root) {
  const std::set<int> cpus = usable_cpus(root);
  std::vector<std::pair<std::string, std::set<int>>> kinds;
  // Hybrid Intel processors have a counting unit for each kind.
  const std::set<int> fast = both(cpus, cpu_list(text_of(root + "/sys/devices/cpu_core/cpus")));
  const std::set<int> small = both(cpus, cpu_list(text_of(root + "/sys/devices/cpu_atom/cpus")));
  if (!fast.empty() && !small.empty()) {
    kinds = {{"p-core", fast}, {"e-core", small}};
  } else {
    // On other processors the scheduler knows the capacity of a core; 0 if it does not.
    std::map<std::uint64_t, std::set<int>, std::greater<>> by_capacity;
    for (const int cpu : cpus) {
      const std::string place = root + "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cpu_capacity";
      by_capacity[number_in<std::uint64_t>(trimmed(text_of(place))).value_or(0)].insert(cpu);
    }
    double fastest = 0;  // of the kind
    for (const auto& [capacity, members] : by_capacity) {
      if (kinds.empty() || static_cast<double>(capacity) < kSameKind * fastest) {
        kinds.emplace_back();
        fastest = static_cast<double>(capacity);
      }
      kinds.back().second.insert(members.begin(), members.end());
    }
    for (std::size_t at = 0; at < kinds.size(); ++at) {
      const std::string middle = kinds.size() > 3 ? "middle-" + std::to_string(at) : "middle";
      kinds[at].first = at == 0 ? "big" : at + 1 == kinds.size() ? "little" : middle;
    }
    if (kinds.size() == 1) kinds.front().first = "cpu";
  }
  std::vector<CoreKind> out;
  for (const auto& [name, members] : kinds)
    out.push_back({name, cores_among(root, members), list_text(members)});
  if (auto left = quota(root)) {  // of all kinds together: the fastest first
    for (CoreKind& kind : out) *left -= kind.cores = std::min(kind.cores, *left);
    std::erase_if(out, [](const CoreKind& kind) { return kind.cores == 0; });
  }
  return out;
}

std::string processor_model(const std::string& root) {
  std::istringstream lines(text_of(root + "/proc/cpuinfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name") && line.find(':') != std::string::npos)
      return quote::terminal(trimmed(line.substr(line.find(':') + 1)), 100);
  }
  return quote::terminal(trimmed(text_of(root + "/sys/firmware/devicetree/base/model").c_str()), 100);
}

// ---- graphics processors

class GpuList {
 public:
  /// Adds a card, in the order of the system's numbers. A task finds its card by the number of its slot, so
  /// only cards that are numbered from 0 can be one resource.
  void add(const std::string& model, std::uint64_t memory, const std::string& visible_by) {
    const std::string line = quote::terminal(trimmed(model), 100);
    const Count number = counted_[visible_by]++;
    for (GpuKind& kind : kinds) {
      const bool follows = kind.first == 0 && kind.count == number && kind.visible_by == visible_by;
      if (kind.model == line && kind.memory == memory && follows) {
        ++kind.count;
        return;
      }
    }
    const std::string name = kinds.empty() ? "gpu" : "gpu-" + std::to_string(kinds.size() + 1);
    kinds.push_back({name, line, visible_by, number, 1, memory});
  }
  std::vector<GpuKind> kinds;

 private:
  std::map<std::string, Count> counted_;  // by variable
};

constexpr std::uint64_t kMebibyte = std::uint64_t{1} << 20;
constexpr const char* kNvidiaSees = "CUDA_VISIBLE_DEVICES";

/// False: the NVIDIA driver lists no card.
bool add_nvidia(const std::string& root, GpuList& gpus) {
  std::istringstream lines(
      output_of(root, "nvidia-smi", "--query-gpu=name,memory.total --format=csv,noheader,nounits"));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos) continue;
    gpus.add(line.substr(0, comma),
             number_in<std::uint64_t>(trimmed(line.substr(comma + 1))).value_or(0) * kMebibyte, kNvidiaSees);
  }
  if (!gpus.kinds.empty()) return true;
  std::error_code error;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root + "/proc/driver/nvidia/gpus", error))
    folders.insert(entry.path());
  for (const fs::path& folder : folders) {
    std::istringstream information(text_of(folder / "information"));
    for (std::string line; std::getline(information, line);) {
      if (line.starts_with("Model:")) gpus.add(line.substr(6), 0, kNvidiaSees);
    }
  }
  return !gpus.kinds.empty();
}

void add_drm(const std::string& root, bool has_nvidia, GpuList& gpus) {
  std::error_code error;
  std::set<fs::path> cards;
  for (const auto& entry : fs::directory_iterator(root + "/sys/class/drm", error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("card") && number_in<std::uint64_t>(name.substr(4))) cards.insert(entry.path());
  }
  for (const fs::path& card : cards) {
    const std::string vendor = trimmed(text_of(card / "device/vendor"));
    const auto memory =
        number_in<std::uint64_t>(trimmed(text_of(card / "device/mem_info_vram_total"))).value_or(0);
    const std::string product = trimmed(text_of(card / "device/product_name"));
    // Other vendors' cards are only for display: consoles of servers, and virtual machines.
    if (vendor == "0x1002") gpus.add(product.empty() ? "AMD GPU" : product, memory, "ROCR_VISIBLE_DEVICES");
    if (vendor == "0x8086") gpus.add(product.empty() ? "Intel GPU" : product, memory, "");
    if (vendor == "0x10de" && !has_nvidia) gpus.add("NVIDIA GPU", memory, kNvidiaSees);
  }
}

// ---- memory

/// The memory of the machine, or less if a group of this process has a limit.
std::uint64_t memory_of(const std::string& root) {
  std::uint64_t bytes = 0;
  std::istringstream lines(text_of(root + "/proc/meminfo"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("MemTotal:") && line.ends_with(" kB"))
      bytes = number_in<std::uint64_t>(trimmed(line.substr(9, line.size() - 12))).value_or(0) * 1024;
  }
  for (const std::string& folder : control_groups(root, "memory")) {
    for (const char* const name : {"/memory.max", "/memory.limit_in_bytes"}) {
      if (const auto most = number_in<std::uint64_t>(trimmed(text_of(folder + name))))
        bytes = std::min(bytes, *most);
    }
  }
  return bytes;
}

// ---- Slurm

bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-.:,()").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::vector<Partition> partitions_of(const std::string& root) {
  std::vector<Partition> out;
  std::istringstream lines(output_of(root, "sinfo", "-h -o '%R|%D|%G'"));
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> parts;
    std::istringstream words(line);
    for (std::string word; std::getline(words, word, '|');) parts.push_back(trimmed(word));
    if (parts.size() != 3 || !is_plain(parts[0])) continue;
    const std::string gres = is_plain(parts[2]) && parts[2] != "(null)" ? parts[2] : "";
    const auto nodes =
        static_cast<Count>(std::min<std::uint64_t>(number_in<std::uint64_t>(parts[1]).value_or(1), 100'000));
    const auto known =
        std::find_if(out.begin(), out.end(), [&](const Partition& one) { return one.name == parts[0]; });
    if (known == out.end()) {
      out.push_back({parts[0], nodes, gres});
    } else {  // there is a line for each kind of node
      known->nodes += nodes;
      if (known->gres.empty()) known->gres = gres;
    }
  }
  return out;
}

}  // namespace

Machine look_at_machine(const std::string& root) {
  Machine machine;
  machine.processor = processor_model(root);
  machine.cores = core_kinds(root);
  GpuList gpus;
  add_drm(root, add_nvidia(root, gpus), gpus);
  machine.gpus = std::move(gpus.kinds);
  machine.memory = memory_of(root);
  machine.partitions = partitions_of(root);
  return machine;
}

}  // namespace allot::app
