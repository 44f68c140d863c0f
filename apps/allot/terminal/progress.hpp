// The progress of long work: one line on standard error, on a terminal only, removed at the end.
#pragma once

#include <functional>
#include <string>

#include "allot/base/stop.hpp"
#include "allot/solve/options.hpp"
#include "apps/allot/terminal/console.hpp"

namespace allot::app {

class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : console_(console) {}
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() { clear(); }

  /// For SimulateOptions::progress; empty without a terminal.
  std::function<void(double)> of_simulation();
  /// For SolveOptions::progress: the best so far, the bound, and the gap between them.
  std::function<void(const SolveProgress&)> of_proof();
  /// Shows the text, but not more often than a person can follow.
  void show(const std::string& text);
  void clear();

 private:
  const Console& console_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_at_{};
  int shown_percent_ = -1;
  bool is_shown_ = false;
};

}  // namespace allot::app
