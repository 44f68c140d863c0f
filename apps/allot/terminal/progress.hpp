// How far long work has come: one line on standard error, on a terminal only, gone when the work is done.
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

  /// For SimulateOptions::progress; empty where there is no terminal.
  std::function<void(double)> of_simulation();
  /// For SolveOptions::progress: the best so far, the bound, and what is between them.
  std::function<void(const SolveProgress&)> of_proof();
  /// Not more often than the eye can follow.
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
