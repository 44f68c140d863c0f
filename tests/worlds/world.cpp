#include "tests/worlds/world.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "allot/run/loop.hpp"
#include "allot/run/request.hpp"
#include "tests/worlds/disk.hpp"
#include "tests/worlds/invariants.hpp"
#include "tests/worlds/lanes.hpp"

namespace allot::worlds {
namespace {

constexpr std::uint64_t kMostTurns = 60'000;
const Clock::time_point kBeginning{std::chrono::hours(1000)};

/// The run was killed: nothing of it is left but the disk.
struct Killed {};
/// Something does not hold, or the world does not end.
struct Violated {};

/// No files but outputs, which are known by the tasks that made them.
class WorldFiles final : public AttemptFiles {
 public:
  void prepare(TaskRequest&, std::int64_t, int, bool, const std::string&) override {}
  AttemptOutput keep(const TaskRequest&, const TaskRecord&, std::int64_t, int) override { return {}; }
  void remove_output(const std::string& path) override { removed(makers.at(path)); }

  std::map<std::string, std::size_t> makers;  ///< by path
  std::function<void(std::size_t task)> removed;
};

/// One run in the world, until it ends or is killed.
class OneRun final : public World, public RunObserver {
 public:
  OneRun(const Scene& scene, Disk& disk, Verdict& verdict, Clock::time_point now, std::size_t run, bool trace)
      : scene_(scene),
        verdict_(verdict),
        trace_(trace),
        begin_(now),
        run_(run),
        town_(scene, run),
        journal_(disk, scene.options.requeues) {
    town_.now = town_.begin = now;
    for (const LaneManner& lane : scene.lanes) town_.failures_to_open.push_back(lane.fails_to_open);
    const std::vector<JobItem> items = list_items(scene.job);
    for (std::size_t at = 0; at < items.size(); ++at) {
      town_.numbers[items[at].identity] = at;
      if (scene.job.tasks[index(items[at].type)].output)
        files_.makers[output_path(scene.job, items[at], at + 1)] = at;
    }
    if (run < scene.kills.size()) kill_at_ = now + to_duration(scene.kills[run]);
    options_ = scene.options;
    options_.crew.open_lane = [this](const std::vector<std::string>& launch, const LaneOptions&) {
      return std::make_unique<SimulatedLane>(town_, launch);
    };
    loop_ = std::make_unique<RunLoop>(scene.job, journal_, options_, *this, *this, files_);
    invariants_ = std::make_unique<Invariants>(scene, disk, *loop_);
    town_.executed = [this](std::size_t task) { note_violation(invariants_->executed(task, town_.now)); };
    town_.overdrawn = [this](const std::string& what) { fail(what); };
    town_.made = [&disk](std::size_t task) { disk.outputs.insert(task); };
    files_.removed = [this, &disk](std::size_t task) {
      note_violation(invariants_->removed(task));
      disk.outputs.erase(task);
    };
    town_.overbooked = [this] { fail("a worker has more tasks than slots"); };
    town_.lost = [this](const std::vector<std::uint64_t>& ids) { invariants_->lost(ids); };
  }

  RunSummary run() { return loop_->run(); }
  void check_end(const RunSummary& summary) { note_violation(invariants_->at_end(summary)); }
  Clock::time_point time() const { return town_.now; }

  // ---- the world

  Clock::time_point now() override { return town_.now; }
  double unix_now() override { return std::chrono::duration<double>(town_.now.time_since_epoch()).count(); }
  Planning planning() const override { return Planning::kDeferred; }
  void plan(Dispatcher& dispatcher) override {
    if (town_.now < next_plan_) return;
    dispatcher.solve(town_.now);
    next_plan_ = town_.now + to_duration(scene_.plan_delay);
  }

  void wait(Clock::time_point until) override {
    ++verdict_.turns;
    note_violation(invariants_->after_turn(town_.now));
    Clock::time_point next = until;
    for (const SimulatedLane* const lane : town_.lanes) next = std::min(next, lane->next());
    if (journal_.has_queued() && !journal_.failure()) {
      if (!commit_at_) commit_at_ = town_.now + to_duration(scene_.commit_delay);
      next = std::min(next, *commit_at_);
    }
    if (signal_ < scene_.signals.size()) next = std::min(next, at(scene_.signals[signal_].at));
    if (freeze_ < scene_.freezes.size()) next = std::min(next, at(scene_.freezes[freeze_].at));
    if (next > town_.now + std::chrono::hours(100)) fail("nothing will ever happen");
    town_.now = std::max(town_.now, next);
    const bool is_killed = kill_at_ && town_.now >= *kill_at_;
    // Every other kill meets a run whose last records have just become durable, and which does not know it.
    if (commit_at_ && (is_killed ? run_ % 2 == 0 : town_.now >= *commit_at_)) {
      commit_at_.reset();
      journal_.set_full(scene_.disk_full && town_.now >= at(*scene_.disk_full));
      journal_.commit();
    }
    if (is_killed) throw Killed();
    if (verdict_.turns > kMostTurns) fail("it does not end");
    if (freeze_ < scene_.freezes.size() && town_.now >= at(scene_.freezes[freeze_].at)) freeze();
  }

  // ---- the observer

  bool watches() const override { return scene_.watched; }
  void woken(RunControl& control) override {
    while (signal_ < scene_.signals.size() && town_.now >= at(scene_.signals[signal_].at)) {
      const Signal& signal = scene_.signals[signal_++];
      say("a signal: " + std::to_string(static_cast<int>(signal.kind)));
      invariants_->told(signal.kind);
      switch (signal.kind) {
        case Signal::Kind::kTimeIsUp:
          control.time_is_up();
          break;
        case Signal::Kind::kDrain:
          control.drain();
          break;
        case Signal::Kind::kTerminate:
          control.terminate();
          break;
        case Signal::Kind::kKill:
          control.kill();
          break;
        case Signal::Kind::kPause:
          control.pause();
          town_.now += to_duration(signal.pause_s);
          control.resume();
          invariants_->slept(to_duration(signal.pause_s));
          break;
      }
    }
  }
  void ended(const AttemptEnd& end, const JobItem& item, bool is_final, const AttemptOutput&) override {
    ++verdict_.attempts;
    if (end.status == AttemptStatus::kOk)
      verdict_.completions.emplace_back(std::chrono::duration<double>(town_.now - kBeginning).count(),
                                        item.type);
    say(item.identity + " attempt " + std::to_string(end.attempt) + " on " + end.resource + ": " +
        std::string(to_string(end.status)) + (is_final ? ", final" : "") +
        (end.forgiven ? ", forgiven" : "") + (end.error.empty() ? "" : " (" + end.error + ")"));
    note_violation(invariants_->ended(end, is_final, town_.now));
  }
  void note(std::string_view text) override {
    verdict_.notes.emplace_back(text);
    say("note: " + std::string(text));
  }

 private:
  Clock::time_point at(double time) const { return begin_ + to_duration(time); }

  void freeze() {
    const Freeze& freeze = scene_.freezes[freeze_++];
    say("everything stands still for " + std::to_string(freeze.length) + " s" +
        (freeze.whole_machine ? "" : ", but for the workers"));
    town_.now += to_duration(freeze.length);
    if (freeze.whole_machine) {
      for (SimulatedLane* const lane : town_.lanes) lane->shift(to_duration(freeze.length));
    }
    // Where the workers went on, so did their limits.
    invariants_->slept(freeze.whole_machine ? to_duration(freeze.length) : Clock::duration{});
  }

  void say(const std::string& text) const {
    if (trace_)
      std::printf("%10.3f  %s\n", std::chrono::duration<double>(town_.now - kBeginning).count(),
                  text.c_str());
  }
  void note_violation(const std::optional<std::string>& what) {
    if (what) fail(*what);
  }
  [[noreturn]] void fail(const std::string& what) {
    say("VIOLATED: " + what);
    verdict_.violations.push_back(what);
    throw Violated();
  }

  const Scene& scene_;
  Verdict& verdict_;
  bool trace_;
  Clock::time_point begin_;
  std::size_t run_;
  Town town_;
  MemoryJournal journal_;
  WorldFiles files_;
  RunOptions options_;
  std::unique_ptr<RunLoop> loop_;
  std::unique_ptr<Invariants> invariants_;
  std::optional<Clock::time_point> kill_at_;
  std::optional<Clock::time_point> commit_at_;
  Clock::time_point next_plan_{};
  std::size_t signal_ = 0;
  std::size_t freeze_ = 0;
};

}  // namespace

Verdict live_through(const Scene& given, bool trace) {
  Scene scene = given;
  if (needs_of(scene.job).any) tell_slots(scene.job);
  Verdict verdict;
  Disk disk;
  Clock::time_point now = kBeginning;
  for (std::size_t run = 0; run <= scene.kills.size(); ++run) {
    ++verdict.runs;
    OneRun one(scene, disk, verdict, now, run, trace);
    try {
      const RunSummary summary = one.run();
      verdict.outcome = to_string(summary.outcome);
      one.check_end(summary);
      now = one.time();
      break;
    } catch (const Killed&) {
      if (trace) std::printf("---- killed\n");
      now = one.time();
    } catch (const Violated&) {
      break;
    } catch (const std::exception& error) {
      verdict.violations.push_back(std::string("an exception: ") + error.what());
      break;
    }
  }
  for (const std::string& violation : disk.violations) verdict.violations.push_back(violation);
  verdict.disk = std::move(disk);
  verdict.seconds = std::chrono::duration<double>(now - kBeginning).count();
  return verdict;
}

}  // namespace allot::worlds
