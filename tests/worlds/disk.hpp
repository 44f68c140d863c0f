// A journal in memory that keeps the same promises as the one on disk, and can be cut off at any write.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allot/jobs/run_journal.hpp"

namespace allot::worlds {

/// What survives a run: everything that was committed.
struct Disk {
  struct Attempt {
    AttemptStatus status = AttemptStatus::kStarted;
    bool forgiven = false;
    std::string resource;
    std::string error;
  };
  struct Task {
    std::map<int, Attempt> attempts;
    std::optional<int> final_attempt;
    bool done() const { return final_attempt && attempts.at(*final_attempt).status == AttemptStatus::kOk; }
  };
  std::vector<Task> tasks;
  std::vector<std::string> runs;        ///< the outcome of each, as it was noted
  std::vector<std::string> violations;  ///< what no journal would take
  std::set<std::size_t> outputs;        ///< files that are there, by the tasks that made them
};

/// One run's journal. What is queued reaches the disk by commit(), as a whole.
class MemoryJournal final : public RunJournal {
 public:
  /// Opens it: what was started and never ended is lost.
  MemoryJournal(Disk& disk, int most_requeues);

  std::optional<std::vector<TaskState>> register_tasks(const Job& job, std::span<const JobItem> items,
                                                       const std::function<bool()>& go_on) override;
  std::int64_t task_id(std::size_t task) const override { return static_cast<std::int64_t>(task) + 1; }
  const std::string& last_run(std::size_t) const override { return no_run_; }
  void start(AttemptStart start) override;
  void finish(AttemptEnd end, bool is_final) override;
  std::uint64_t committed() const override { return committed_; }
  void note_event(double, std::string, std::string) override {}
  void note_rates(std::vector<LearntRate>) override {}
  void note_prediction(std::vector<Prediction>) override {}
  void end_run(std::string outcome, double) override { outcome_ = std::move(outcome); }
  void flush() override;
  std::optional<std::string> failure() const override { return failure_; }

  bool has_queued() const noexcept { return !queue_.empty(); }
  /// Writes all that is queued, or nothing, when the disk is full.
  void commit();
  void set_full(bool full) { full_ = full; }

 private:
  struct Record {
    AttemptEnd end;
    bool is_final = false;
  };

  Disk& disk_;
  std::string no_run_;
  int most_requeues_;
  std::vector<Record> queue_;
  std::string outcome_;
  std::uint64_t committed_ = 0;
  bool full_ = false;
  std::optional<std::string> failure_;
};

}  // namespace allot::worlds
