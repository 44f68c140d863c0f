// A run for observers: plain numbers at one moment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allot/base/per.hpp"

namespace allot {

/// What the run knows about a pair.
struct PairView {
  bool possible = false;  ///< the job has a command for it
  bool allowed = false;   ///< and nothing prevents it now
  Count running = 0;
  std::uint64_t done = 0;      ///< successful attempts
  std::optional<double> rate;  ///< tasks per second on one slot, with its 95% interval
  double low = 0;
  double high = 0;
};

struct TypeView {
  std::string name;
  std::uint64_t total = 0;
  std::uint64_t done = 0;    ///< including earlier runs
  std::uint64_t failed = 0;  ///< finally
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;  ///< for tasks that come before, or for room for their outputs
  std::string from;           ///< the type whose outputs it takes; empty: none
  double throughput = 0;      ///< recent completions per second
  double predicted = 0;       ///< by the plan

  /// Without a final record and not running.
  std::uint64_t pending() const noexcept {
    const std::uint64_t others = done + failed + running;
    return total > others ? total - others : 0;
  }
};

struct ResourceView {
  std::string name;
  Count slots = 0;
  Count busy = 0;
  Count open = 0;       ///< slots with a connected worker
  double busy_s = 0;    ///< slot seconds with a task, since the run began
  double energy_j = 0;  ///< since the run began, by the powers of the job file
};

enum class RunPhase {
  kRunning,
  kDraining,     ///< nothing more is started
  kTerminating,  ///< running tasks were sent TERM
  kKilling,      ///< running tasks were sent KILL
  kAbandoning,   ///< tasks that cannot be killed are not waited for
};

struct RunView {
  double elapsed_s = 0;
  RunPhase phase = RunPhase::kRunning;
  std::uint64_t total = 0;
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t running = 0;
  std::uint64_t retried = 0;  ///< attempts after the first, in this run
  bool has_stages = false;    ///< types depend on each other
  std::vector<TypeView> types;
  std::vector<ResourceView> resources;
  PerPair<PairView> pairs;
  double throughput = 0;            ///< recent completions per second
  std::optional<double> predicted;  ///< by the plan
  /// Seconds from now: the estimate from the rates, the same at the ends of their intervals, and the linear
  /// program's bound, which no schedule can beat. Absent while rates are unknown.
  std::optional<double> left_s;
  std::optional<double> left_low_s;
  std::optional<double> left_high_s;
  std::optional<double> bound_s;
  std::string plan_note;
};

}  // namespace allot
