// What tasks share besides workers: the ways to the memory of devices, and that memory itself.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/model/system.hpp"

namespace allot::starpu {

/// Megabytes per second between memory nodes, as StarPU has measured them. Node 0 is the main memory.
class Buses {
 public:
  Buses(std::size_t nodes, std::vector<double> megabytes_per_second);
  /// What a file bus/*.bandwidth says: a row for each node that data come from. Nodes that are not there have
  /// no numbers in it. None: it is no such file.
  static std::optional<Buses> read(std::string_view text);

  std::size_t nodes() const noexcept { return nodes_; }
  /// 0: there is no way, or it takes no time.
  double megabytes_per_second(std::size_t from, std::size_t to) const noexcept;

 private:
  std::size_t nodes_;
  std::vector<double> speeds_;
};

/// A resource with memory of its own.
struct Device {
  ResourceId resource{};
  std::string name;
  std::size_t node = 0;
  std::optional<double> megabytes;  ///< of memory, where there is a limit
};

/// What a task of a type works on.
struct TaskData {
  double read_megabytes = 0;
  double written_megabytes = 0;
  double megabytes = 0;  ///< in memory while it runs: what is read and written counts once
  friend bool operator==(const TaskData&, const TaskData&) = default;
};

/// For each device the bus between it and the main memory, shared, of which there is 1 (all of its time), and
/// its memory, held, in megabytes where it has a limit.
std::vector<Capacity> capacities_of(std::span<const Device> devices);

/// What a task of a type needs of them: the part of its time for which it keeps the bus busy at full speed,
/// as if all its data were moved each time, and its data in memory. `rates` are of the type, by resource; 0:
/// not known, so that nothing is known of the bus. Data that are larger than the memory count as all of it.
std::vector<Need> needs_of(const TaskData& data, std::span<const Device> devices, std::size_t resources,
                           std::span<const double> rates, const Buses& buses);

}  // namespace allot::starpu
