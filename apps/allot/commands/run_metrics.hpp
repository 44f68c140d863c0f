// `--metrics FILE`: the metrics of a run, in a file for other programs.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "allot/base/clock.hpp"
#include "allot/run/metrics.hpp"

namespace allot::app {

/// A file that is replaced in one step, so that a reader always sees a consistent state.
class MetricsFile {
 public:
  /// Writes the file for the first time; an empty path means no file. Throws Failure. `job` must outlive this
  /// object.
  MetricsFile(const std::string& path, const Job& job, RunInfo info);

  void ended(const AttemptEnd& end, TaskType type) {
    if (metrics_) metrics_->ended(end, type);
  }
  /// Whether `show` would write now.
  bool is_due() const { return metrics_ && Clock::now() >= next_; }
  void show(const RunView& view) {
    if (is_due()) write(view, false);
  }
  void finish(const RunView& view) {
    if (metrics_) write(view, true);
  }
  /// Whether the last write failed.
  bool failed() const noexcept { return static_cast<bool>(error_); }

 private:
  void write(const RunView& view, bool is_over);

  std::string path_;
  std::optional<RunMetrics> metrics_;
  Clock::time_point next_{};
  std::error_code error_;
};

}  // namespace allot::app
