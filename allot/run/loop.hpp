// The loop of a run: handles events and their consequences, and starts tasks. The world, the crew of lanes,
// the journal and the files are passed in, so that tests can replace them.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "allot/jobs/run_journal.hpp"
#include "allot/run/attempt_files.hpp"
#include "allot/run/attempts.hpp"
#include "allot/run/backlog.hpp"
#include "allot/run/crew.hpp"
#include "allot/run/gates.hpp"
#include "allot/run/halting.hpp"
#include "allot/run/holdings.hpp"
#include "allot/run/overdue.hpp"
#include "allot/run/pairs.hpp"
#include "allot/run/placer.hpp"
#include "allot/run/presence.hpp"
#include "allot/run/progress.hpp"
#include "allot/run/reporter.hpp"
#include "allot/run/retry_rule.hpp"
#include "allot/run/runner.hpp"
#include "allot/run/starts.hpp"
#include "allot/run/world.hpp"

namespace allot {

/// One run, from the first turn to the summary. Not thread-safe; everything passed in must outlive it.
class RunLoop final : public RunControl {
 public:
  RunLoop(const Job& job, RunJournal& journal, const RunOptions& options, RunObserver& observer, World& world,
          AttemptFiles& files);

  RunSummary run();

  void drain() override;
  void time_is_up() override;
  void terminate() override;
  void kill() override;
  void pause() override;
  void resume() override;

  // ---- for observers, between two turns

  const Crew* crew() const noexcept { return crew_ ? &*crew_ : nullptr; }
  const Attempts& attempts() const noexcept { return attempts_; }
  const Backlog& backlog() const noexcept { return backlog_; }
  const Gates& gates() const noexcept { return gates_; }
  const Placer& placer() const noexcept { return placer_; }
  const Pairs& pairs() const noexcept { return pairs_; }
  const Holdings& holdings() const noexcept { return holdings_; }
  const Starts* starts() const noexcept { return starts_ ? &*starts_ : nullptr; }
  RunPhase phase() const noexcept { return halting_.phase(); }
  const std::vector<JobItem>& items() const noexcept { return items_; }

  void files_to_watch(std::vector<std::pair<int, bool>>& out) const {
    if (crew_) crew_->files(out);
  }

 private:
  bool load_states();
  bool turn();
  bool over();
  bool stranded() const;
  Clock::time_point next_turn(Clock::time_point now) const;
  void slept(Clock::duration time);
  void push_out();

  void handle(const CrewEvent& event);
  void on_record(const CrewEvent& event);
  void conclude(const RunningAttempt& attempt, const TaskRecord& record, AttemptOutcome outcome);
  void disable_pair(const RunningAttempt& attempt, const TaskRecord& record);
  void release(const RunningAttempt& attempt, bool lost_with_worker, bool stuck);
  void look_at_stuck(Clock::time_point now);
  void abandon(std::uint64_t id);
  void abandon_all();
  void signal_all(int number);
  void mind_the_time(Clock::time_point now);
  void halt_if_reached();
  void fail_what_nothing_can_run();
  void look_at_presence(Clock::time_point now);
  void look_at_journal();
  bool waits_for_launchers();
  void start_what_can_be(Clock::time_point now);
  void start(std::size_t slot, std::uint64_t task, const Placed& placed, bool alone);
  void refuse(const RunningAttempt& attempt, const std::string& problem);

  void keep_record(const AttemptEnd& end, bool is_final);
  void fail_unstarted(std::size_t task, int attempt, std::string why);
  void follow(const Gates::News& news);
  void remove_outputs();

  std::span<const Slot> slots() const noexcept { return crew_ ? crew_->slots() : std::span<const Slot>(); }
  RunSummary summary();

  const Job& job_;
  RunJournal& journal_;
  const RunOptions& options_;
  RunObserver& observer_;
  World& world_;
  AttemptFiles& files_;

  std::vector<JobItem> items_;
  std::vector<TaskTally> tallies_;
  std::vector<Clock::time_point> ready_;  // by task: when it became ready to start
  Backlog backlog_;
  Gates gates_;
  Attempts attempts_;
  Pairs pairs_;
  Holdings holdings_;
  Placer placer_;
  Progress progress_;
  Presence presence_;
  Halting halting_;
  Overdue overdue_;
  Reporter reporter_;
  std::optional<Crew> crew_;
  std::optional<Starts> starts_;

  std::vector<CrewEvent> events_;
  std::uint64_t next_id_ = 1;
  std::uint64_t refused_ = 0;
  std::uint64_t records_ = 0;  // passed to the journal
  /// Outputs to remove once this many records are durable.
  std::deque<std::pair<std::uint64_t, std::size_t>> removals_;
  bool halted_ = false;
  bool told_of_launchers_ = false;
  bool is_stranded_ = false;
  bool out_of_time_ = false;  // and no request came since
  std::optional<std::string> io_problem_;
  Clock::time_point woken_by_ = Clock::time_point::max();  // the planned end of the last sleep
  Clock::time_point paused_at_{};
  double overhead_s_ = 0;
};

}  // namespace allot
