// The closed loop of the model on a real machine: so many tasks of each type are always in flight, each that
// ends is followed by another of its type, and an executor says where it goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allot/execute/executor.hpp"
#include "bench/real_machine/machine.hpp"

namespace real_machine {

/// How a server chooses among the tasks that wait before its resource.
enum class Order {
  /// The type that has had the least service for its number of tasks there (in the plan, or at present for
  /// policies without one; its time share under `weighted`): processor sharing.
  kService,
  kArrival,  ///< first come, first served
};

inline const char* to_string(Order order) { return order == Order::kService ? "service" : "arrival"; }

struct LoopOptions {
  std::vector<allot::Count> counts;  ///< tasks in flight, by type
  std::vector<double> priorities;    ///< by type, or none
  std::string policy = "map";
  allot::PolicyOptions policy_options;
  allot::FeedRule rule = {};  ///< decides in place of the policy
  Order order = Order::kService;
  std::optional<allot::System> model;  ///< whose capacities and needs the policy knows
  std::vector<std::size_t> servers;    ///< in use, by station; empty: all
  double warm_up_s = 1;                ///< in which rates are learned
  double measure_s = 2;                ///< at the least
  double stretch = 3;                  ///< up to so many times that where few tasks end
  std::uint64_t seed = 1;
};

/// A placement that is held fixed: its tasks and nothing else.
LoopOptions held(const allot::Assignment& placement);

/// A task that ran; times in seconds since the measurement began.
struct Run {
  std::size_t type = 0;
  std::size_t station = 0;
  std::size_t server = 0;
  double placed = 0;
  double start = 0;
  double end = 0;
};

struct LoopResult {
  double seconds = 0;
  std::size_t types = 0;
  std::size_t stations = 0;
  allot::Count in_flight = 0;
  std::vector<Run> runs;  ///< that ended within the measurement, by their end
  std::shared_ptr<const allot::Plan> plan;

  double throughput() const { return static_cast<double>(runs.size()) / seconds; }
  double throughput(std::size_t type) const;
  double throughput(std::size_t type, std::size_t station) const;
  double throughput_of_station(std::size_t station) const;
  /// Mean time of the tasks of a pair in service; none: no such task ended.
  std::optional<double> mean_seconds(std::size_t type, std::size_t station) const;
  /// The same with what passes between two tasks of a server.
  std::optional<double> mean_cycle(std::size_t type, std::size_t station) const;
  double mean_response() const;
  /// Little's law, measured: X E[T] / tasks in flight.
  double little() const { return throughput() * mean_response() / static_cast<double>(in_flight); }
};

/// Throws what a kernel throws. A policy other than `fixed` starts without any knowledge of the rates.
LoopResult run_closed_loop(const Machine& machine, const LoopOptions& options);

}  // namespace real_machine
