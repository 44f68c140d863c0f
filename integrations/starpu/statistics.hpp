// ALLOT_STATS: the statistics of a scheduling context, as a JSON file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "allot/dispatch/plan.hpp"
#include "integrations/starpu/settings.hpp"

namespace allot::starpu {

/// The running counts of a context.
struct Tally {
  std::uint64_t solves = 0;         ///< plans made
  std::uint64_t failed_solves = 0;  ///< plans that failed; the previous one was kept
  double planning_seconds = 0;      ///< of the planner: solving and related work
  std::uint64_t greedy = 0;         ///< tasks placed where they end first, because no plan fitted
  std::uint64_t bound = 0;          ///< tasks that the program had bound to a worker
  std::uint64_t closed = 0;         ///< tasks whose end StarPU did not report, such as those of reductions
  std::uint64_t parked = 0;         ///< tasks that waited for a worker that can run them
};

/// All statistics at the end of a context. Matrices are row-major: type by resource.
struct Report : Tally {
  std::string policy;
  unsigned context = 0;
  std::vector<std::string> types;
  std::vector<std::string> resources;
  std::vector<Count> workers;  ///< by resource
  std::shared_ptr<const Plan> plan;
  std::vector<std::pair<double, std::shared_ptr<const Plan>>> plans;  ///< the latest plans and their times
  DispatchStatistics seen;
  std::vector<std::uint64_t> placements;  ///< where tasks were first placed
  std::vector<RateEstimate> rates;
  std::vector<double> shares;    ///< requested, by type; empty without shares
  std::uint64_t moved = 0;       ///< tasks that ran elsewhere than first placed
  std::uint64_t unfinished = 0;  ///< tasks that never ran
  Count left_open = 0;           ///< tasks taken but not closed when the context ended
};

std::string report_json(const Report& report);

/// The file for one context of one process; no other process writes it. In the given name, %p is replaced by
/// the process id. Before the extension, .rankR is added in an MPI job of several ranks, .ctxN for every
/// context but the first, and .K for the K-th context of that number in the process, from 2.
std::string report_path(const std::string& name, const Environment& environment, int process,
                        unsigned context, unsigned time);

/// Writes a temporary file and renames it, so that readers never see an incomplete file. False: it could not
/// be written.
bool write_file(const std::string& path, const std::string& text);

}  // namespace allot::starpu
