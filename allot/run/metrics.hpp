// Metrics of a run for monitoring, as OpenMetrics text, which the classic format of Prometheus also reads.
// docs/reference/metrics.md has the table of names.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "allot/base/per.hpp"
#include "allot/jobs/attempt.hpp"
#include "allot/jobs/job.hpp"
#include "allot/jobs/journal.hpp"
#include "allot/run/view.hpp"

namespace allot {

/// Counts attempts as they end, and writes the counts with a view of the run. Counters start at 0 with the
/// run and never decrease. Not thread-safe.
class RunMetrics {
 public:
  /// `job` must outlive this.
  RunMetrics(const Job& job, RunInfo info);

  void ended(const AttemptEnd& end, TaskType type);
  /// The whole text, ending in "# EOF". `is_over`: the run has ended.
  std::string text(const RunView& view, bool is_over);

 private:
  static constexpr std::size_t kStatuses = 6;
  struct PairCounts {
    std::array<std::uint64_t, kStatuses> by_status{};
    std::uint64_t ended = 0;
    double wall_s = 0;
    double queue_s = 0;
  };

  const Job& job_;
  RunInfo info_;
  PerPair<PairCounts> pairs_;
  std::vector<std::uint64_t> nowhere_;  // by type: attempts that did not begin on any resource
  std::vector<double> busy_s_;          // by resource, as last written
};

}  // namespace allot
