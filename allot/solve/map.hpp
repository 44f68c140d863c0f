// MAP for programs that solve often: no allocation after the first solve.
#pragma once

#include <memory>

#include "allot/solve/options.hpp"
#include "allot/solve/solution.hpp"

namespace allot {

/// The paper's MAP (Algorithms 1-3) on a workspace that is kept between calls, for runtimes that solve again
/// whenever their population changes. Not thread-safe: one per thread.
class MapSolver {
 public:
  MapSolver();
  ~MapSolver();
  MapSolver(MapSolver&&) noexcept;
  MapSolver& operator=(MapSolver&&) noexcept;

  struct Result {
    double throughput = 0;
    Outcome outcome = Outcome::kConverged;
  };

  /// Writes the answer into `assignment`, whose storage is reused, and returns its throughput. About 1 us for
  /// 3 resources and 18 threads. Allocates nothing once it has seen a system of this size, except for systems
  /// with minimum depths, fcfs resources or needs. kInfeasible: no placement keeps the minimum depths.
  Result solve(const System& system, Assignment& assignment, const SolveOptions& options = {});

 private:
  struct Workspace;
  double climb_shared(const System& system, Assignment& assignment, StopPoll& poll);
  void climb_any(const System& system, Assignment& assignment, const SolveOptions& options, StopPoll& poll);
  std::unique_ptr<Workspace> workspace_;
};

}  // namespace allot
