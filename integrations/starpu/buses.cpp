#include "integrations/starpu/buses.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/base/numbers.hpp"

namespace allot::starpu {
namespace {

constexpr std::size_t kMainMemory = 0;
/// Maximum use of a bus by a task: its time is at least that of its transfers.
constexpr double kMostOfBus = 1;
/// Smaller parts of a bus are ignored.
constexpr double kLeastOfBus = 1e-4;

/// The numbers of a line, with 0 for NaN; absent if a word is not a number.
std::optional<std::vector<double>> numbers(std::string_view line) {
  std::vector<double> out;
  for (std::size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    const std::string_view word = line.substr(at, end - at);
    const auto value = number_in<double>(word);
    if (!value && word != "nan" && word != "-nan") return std::nullopt;
    out.push_back(value && std::isfinite(*value) && *value > 0 ? *value : 0.0);
    at = line.find_first_not_of(" \t\r", end);
  }
  return out;
}

}  // namespace

Buses::Buses(std::size_t nodes, std::vector<double> megabytes_per_second)
    : nodes_(nodes), speeds_(std::move(megabytes_per_second)) {
  speeds_.resize(nodes * nodes, 0.0);
}

std::optional<Buses> Buses::read(std::string_view text) {
  std::vector<std::vector<double>> rows;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.starts_with('#')) continue;
    auto row = numbers(line);
    if (!row) return std::nullopt;
    if (!row->empty()) rows.push_back(*std::move(row));
  }
  if (rows.empty()) return std::nullopt;
  std::vector<double> speeds;
  for (const std::vector<double>& row : rows) {
    if (row.size() != rows.size()) return std::nullopt;
    speeds.insert(speeds.end(), row.begin(), row.end());
  }
  return Buses(rows.size(), std::move(speeds));
}

double Buses::megabytes_per_second(std::size_t from, std::size_t to) const noexcept {
  if (from >= nodes_ || to >= nodes_ || from == to) return 0;
  return speeds_[from * nodes_ + to];
}

std::vector<Capacity> capacities_of(std::span<const Device> devices) {
  std::vector<Capacity> out;
  for (const Device& device : devices) {
    out.push_back({.name = "bus " + device.name, .amount = 1, .shared = true});
    if (device.megabytes) out.push_back({.name = "memory " + device.name, .amount = *device.megabytes});
  }
  return out;
}

std::vector<Need> needs_of(const TaskData& data, std::span<const Device> devices, std::size_t resources,
                           std::span<const double> rates, const Buses& buses) {
  std::vector<Need> out;
  std::size_t next = resources;
  for (const Device& device : devices) {
    const CapacityId bus = capacity_id(next++);
    const double in = buses.megabytes_per_second(kMainMemory, device.node);
    const double back = buses.megabytes_per_second(device.node, kMainMemory);
    const double seconds =
        (in > 0 ? data.read_megabytes / in : 0) + (back > 0 ? data.written_megabytes / back : 0);
    const double part = std::min(kMostOfBus, seconds * rates[index(device.resource)]);
    if (part >= kLeastOfBus) out.push_back({device.resource, bus, part});
    if (!device.megabytes) continue;
    const CapacityId memory = capacity_id(next++);
    if (data.megabytes > 0)
      out.push_back({device.resource, memory, std::min(data.megabytes, *device.megabytes)});
  }
  return out;
}

}  // namespace allot::starpu
