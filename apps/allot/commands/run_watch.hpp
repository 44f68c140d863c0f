// The observer of a run: handles signals, writes the log, shows the live view, remembers failures.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allot/run/runner.hpp"
#include "apps/allot/commands/run_arguments.hpp"
#include "apps/allot/commands/run_metrics.hpp"
#include "apps/allot/commands/run_signals.hpp"
#include "apps/allot/terminal/console.hpp"
#include "apps/allot/terminal/live_view.hpp"

namespace allot::app {

/// `--log PATH`: one line per attempt.
class AttemptLog {
 public:
  /// Opens the file for appending; an empty path means no log. Throws Failure.
  explicit AttemptLog(const std::string& path);
  void add(const AttemptRow& row);
  /// Whether something could not be written.
  bool failed() { return file_.is_open() && !file_; }

 private:
  std::ofstream file_;
  bool is_csv_ = false;
  std::int64_t count_ = 0;
};

class RunWatch final : public RunObserver {
 public:
  /// `run_number`: the number in the journal. All arguments must outlive this object.
  RunWatch(const RunArguments& arguments, const Job& job, Console& console, const RunSignals& signals,
           AttemptLog& log, MetricsFile& metrics, std::string title, std::int64_t run_number);

  int wake_file() override { return signals_.file(); }
  void woken(RunControl& control) override;
  void ended(const AttemptEnd& end, const JobItem& item, bool is_final, const AttemptOutput& output) override;
  bool watches() const override { return view_.is_due() || metrics_.is_due(); }
  void tick(const RunView& view) override {
    view_.show(view);
    metrics_.show(view);
  }
  void note(std::string_view text) override { view_.note(text); }
  void clear() { view_.clear(); }

  /// The signal that ended the run; 0: none.
  int signal() const noexcept { return signal_; }
  /// The first tasks that failed finally, one per line.
  const std::vector<std::string>& failures() const noexcept { return failures_; }

 private:
  void answer(int number, RunControl& control);
  void print(const AttemptOutput& output);

  const RunArguments& arguments_;
  Console& console_;
  std::int64_t run_number_;
  const Job& job_;
  const RunSignals& signals_;
  AttemptLog& log_;
  MetricsFile& metrics_;
  LiveView view_;
  std::optional<Clock::time_point> deadline_;
  std::vector<std::string> failures_;
  int signal_ = 0;
  int interrupts_ = 0;
};

}  // namespace allot::app
