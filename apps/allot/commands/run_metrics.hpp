// `--metrics FILE`: the numbers of a run, in a file that others read.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "allot/base/clock.hpp"
#include "allot/run/metrics.hpp"

namespace allot::app {

/// A file that is replaced in one step, so that who reads it sees all of one moment.
class MetricsFile {
 public:
  /// Writes it for the first time; an empty path is no file. Throws Failure. `job` must outlive this.
  MetricsFile(const std::string& path, const Job& job, RunInfo info);

  void ended(const AttemptEnd& end, TaskType type) {
    if (metrics_) metrics_->ended(end, type);
  }
  /// Whether it is time for `show` to write.
  bool is_due() const { return metrics_ && Clock::now() >= next_; }
  void show(const RunView& view) {
    if (is_due()) write(view, false);
  }
  void finish(const RunView& view) {
    if (metrics_) write(view, true);
  }
  /// What was written last could not be.
  bool failed() const noexcept { return static_cast<bool>(error_); }

 private:
  void write(const RunView& view, bool is_over);

  std::string path_;
  std::optional<RunMetrics> metrics_;
  Clock::time_point next_{};
  std::error_code error_;
};

}  // namespace allot::app
