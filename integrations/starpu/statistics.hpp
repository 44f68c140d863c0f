// ALLOT_STATS: what a scheduling context has seen, as a JSON file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allot/dispatch/plan.hpp"
#include "integrations/starpu/settings.hpp"

namespace allot::starpu {

/// What a context counts as it goes.
struct Tally {
  std::uint64_t solves = 0;         ///< plans made
  std::uint64_t failed_solves = 0;  ///< that kept the plan before
  double planning_seconds = 0;      ///< of the planner: solving and what goes with it
  std::uint64_t greedy = 0;         ///< tasks placed where they end first, since no plan fitted
  std::uint64_t bound = 0;          ///< tasks that the program had bound to a worker
  std::uint64_t closed = 0;         ///< tasks whose end StarPU did not report, as those of reductions
  std::uint64_t parked = 0;         ///< tasks that had to wait for a worker that can run them
};

/// All of it at the end of a context. Matrices are row-major: type by resource.
struct Report : Tally {
  std::string policy;
  unsigned context = 0;
  std::vector<std::string> types;
  std::vector<std::string> resources;
  std::vector<Count> workers;  ///< by resource
  std::shared_ptr<const Plan> plan;
  std::vector<std::pair<double, std::shared_ptr<const Plan>>> plans;  ///< the latest, and when they were made
  DispatchStatistics seen;
  std::vector<std::uint64_t> placements;  ///< where tasks were placed first
  std::vector<RateEstimate> rates;
  std::vector<double> shares;    ///< wanted, by type; empty without
  std::uint64_t moved = 0;       ///< tasks that ran elsewhere than first placed
  std::uint64_t unfinished = 0;  ///< tasks that never ran
  Count left_open = 0;           ///< tasks that had been taken and not closed when the context ended
};

std::string report_json(const Report& report);

/// The file for one context of one process: nobody else writes it. In the name given, %p is the process id.
/// Before its extension comes .rankR in an MPI job of several ranks, .ctxN for every context but the first,
/// and .K for the K-th time (from 2) that the process has the context.
std::string report_path(const std::string& name, const Environment& environment, int process,
                        unsigned context, unsigned time);

/// Writes beside and renames, so that nobody reads half a file. False: it could not be written.
bool write_file(const std::string& path, const std::string& text);

}  // namespace allot::starpu
