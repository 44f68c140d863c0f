// Capacities that tasks share besides workers: the buses to the memory of devices, and that memory.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::starpu {

/// Megabytes per second between memory nodes, as measured by StarPU. Node 0 is the main memory.
class Buses {
 public:
  Buses(std::size_t nodes, std::vector<double> megabytes_per_second);
  /// Parses a file bus/*.bandwidth: one row per source node. Missing nodes have no numbers in it. Absent: it
  /// is not such a file.
  static std::optional<Buses> read(std::string_view text);

  std::size_t nodes() const noexcept { return nodes_; }
  /// 0: there is no connection, or it takes no time.
  double megabytes_per_second(std::size_t from, std::size_t to) const noexcept;

 private:
  std::size_t nodes_;
  std::vector<double> speeds_;
};

/// A resource with its own memory.
struct Device {
  ResourceId resource{};
  std::string name;
  std::size_t node = 0;
  std::optional<double> megabytes;  ///< of memory, if it is limited
};

/// The data of a task of a type.
struct TaskData {
  double read_megabytes = 0;
  double written_megabytes = 0;
  double megabytes = 0;  ///< in memory while it runs: data that are read and written count once
  friend bool operator==(const TaskData&, const TaskData&) = default;
};

/// For each device, the bus to the main memory (shared, amount 1: all of its time), and its memory (held, in
/// megabytes, if it is limited).
std::vector<Capacity> capacities_of(std::span<const Device> devices);

/// The needs of a task of a type for these: the part of its time in which it keeps the bus busy at full
/// speed, as if all its data were moved each time, and its data in memory. `rates`: of the type, by resource;
/// 0: unknown, and then its need for the bus is unknown, too. Data larger than the memory count as all of it.
std::vector<Need> needs_of(const TaskData& data, std::span<const Device> devices, std::size_t resources,
                           std::span<const double> rates, const Buses& buses);

}  // namespace allot::starpu
