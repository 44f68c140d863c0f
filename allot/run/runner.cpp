#include "allot/run/runner.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "allot/base/own_file.hpp"
#include "allot/jobs/tokens.hpp"
#include "allot/run/backlog.hpp"
#include "allot/run/batch.hpp"
#include "allot/run/detail/recent.hpp"
#include "allot/run/endgame.hpp"
#include "allot/run/request.hpp"
#include "allot/worker/process.hpp"

namespace allot {
namespace {

constexpr double kLongestBackoff = 60;
/// The end of the batch begins when so few are left for each slot.
constexpr Count kEndgameTasks = 2;
/// Rates and predictions go to the journal this often.
constexpr double kNoteEvery = 1.0;
/// A resource without a worker for so long is planned without: its launcher may wait in a queue for hours.
constexpr Clock::duration kAbsence = std::chrono::seconds(2);

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

Clock::duration to_duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

double to_seconds(Clock::duration duration) { return std::chrono::duration<double>(duration).count(); }

AttemptStatus status_of(TaskStatus status) {
  switch (status) {
    case TaskStatus::kOk:
      return AttemptStatus::kOk;
    case TaskStatus::kFailed:
      return AttemptStatus::kFailed;
    case TaskStatus::kTimeout:
      return AttemptStatus::kTimeout;
    case TaskStatus::kKilled:
      return AttemptStatus::kKilled;
    case TaskStatus::kLost:
      return AttemptStatus::kLost;
  }
  return AttemptStatus::kLost;
}

/// A task as the run knows it.
struct Task {
  int attempts = 0;
  int failures = 0;  // that count against its retries
  int lost = 0;
  Clock::time_point ready{};  // when it could have been started
};

/// An attempt that is going on.
struct Running {
  std::size_t task = 0;
  Placed placed;
  AttemptStart start;
  TaskRequest request;
  Clock::time_point began{};
};

/// Whether anybody is there to run what is sent to a resource.
struct Presence {
  bool planned = true;  // the placer counts on it
  std::optional<Clock::time_point> absent_since;
};

std::vector<CrewResource> crew_resources(const Job& job) {
  std::vector<CrewResource> resources;
  for (const JobResource& resource : job.resources) {
    resources.push_back({resource.name, resource.servers, resource.launch});
  }
  return resources;
}

class Runner final : public RunControl {
 public:
  Runner(const Job& job, Journal& journal, const RunOptions& options, RunObserver& observer)
      : job_(job),
        journal_(journal),
        options_(options),
        observer_(observer),
        items_(list_items(job)),
        tasks_(items_.size()),
        backlog_(job.tasks.size()),
        begin_(Clock::now()),
        placer_(job, {options.objective, options.policy, options.shares, options.priors, options.seed},
                begin_),
        running_by_type_(job.tasks.size()),
        running_by_pair_(job.tasks.size() * job.resources.size()),
        done_by_pair_(running_by_pair_.size()),
        recent_(job.tasks.size(), begin_),
        busy_s_(job.resources.size()),
        presence_(job.resources.size()),
        why_not_(job.tasks.size()) {
    view_.total = items_.size();
    for (const JobTask& task : job.tasks) {
      TypeView& type = view_.types.emplace_back();
      type.name = task.name;
      type.total = task.inputs.rows();
    }
    for (const JobResource& resource : job.resources) {
      ResourceView& seen = view_.resources.emplace_back();
      seen.name = resource.name;
      seen.slots = resource.servers;
    }
    view_.pairs.resize(running_by_pair_.size());
    for (std::size_t i = 0; i < job.tasks.size(); ++i) {
      for (std::size_t j = 0; j < job.resources.size(); ++j) {
        view_.pairs[pair(i, j)].possible = job.tasks[i].commands[j].has_value();
        usable_.push_back(view_.pairs[pair(i, j)].possible);
      }
    }
  }

  RunSummary run();

  void drain() override { enter(RunPhase::kDraining); }
  void terminate() override {
    if (!enter(RunPhase::kTerminating)) return;
    signal_all(SIGTERM);
    kill_at_ = Clock::now() + to_duration(options_.grace_s);
  }
  void kill() override {
    if (enter(RunPhase::kKilling)) signal_all(SIGKILL);
  }
  void pause() override {
    paused_at_ = Clock::now();
    crew_->pause();
    push_out();
  }
  void resume() override {
    crew_->resume();
    push_out();
    const Clock::duration away = Clock::now() - paused_at_;
    paused_ += away;
    for (auto& [id, running] : running_) running.began += away;
    last_turn_ += away;
  }

 private:
  std::size_t pair(std::size_t i, std::size_t j) const noexcept { return i * job_.resources.size() + j; }
  std::size_t pair(TaskType i, ResourceId j) const noexcept { return pair(index(i), index(j)); }

  bool enter(RunPhase phase) {
    if (phase <= view_.phase) return false;
    view_.phase = phase;
    placer_.clear_waiting();
    return true;
  }

  void load_states();
  void wait();
  void push_out();
  void handle(const CrewEvent& event);
  void on_record(std::size_t slot, const TaskRecord& record);
  bool can_run_elsewhere(TaskType i, ResourceId j) const;
  void give_up_stranded();
  void halt_if_reached();
  void look_at_presence(Clock::time_point now);
  bool waits_for_launchers();
  void dispatch();
  bool dispatch_endgame(Clock::time_point now);
  void start(std::size_t slot, std::uint64_t task, const Placed& placed, Clock::time_point now);
  AttemptOutput keep_output(const Running& running, const TaskRecord& record) const;
  void signal_all(int number);
  void look_at_rates(Clock::time_point now);
  void refresh_view(Clock::time_point now);
  void report_running(Clock::time_point now);
  void note_to_journal();
  std::optional<System> system_at(int end) const;
  std::vector<Count> left_by_type() const;
  RunSummary summary();

  const Job& job_;
  Journal& journal_;
  const RunOptions& options_;
  RunObserver& observer_;
  std::vector<JobItem> items_;
  std::vector<Task> tasks_;
  Backlog backlog_;
  Clock::time_point begin_;
  Placer placer_;
  std::unique_ptr<Crew> crew_;
  std::unordered_map<std::uint64_t, Running> running_;
  std::vector<Count> running_by_type_;
  std::vector<Count> running_by_pair_;
  std::vector<std::uint64_t> done_by_pair_;
  detail::RecentCompletions recent_;
  std::vector<double> busy_s_;
  std::vector<Presence> presence_;
  RunView view_;
  std::vector<CrewEvent> events_;
  std::vector<pollfd> polled_;
  std::vector<std::pair<int, bool>> files_;
  std::uint64_t next_id_ = 1;
  std::uint64_t done_now_ = 0;
  std::uint64_t failed_now_ = 0;
  std::vector<std::string> why_not_;  // by type: what was wrong with the last resource it lost
  std::vector<bool> usable_;          // pairs that have a command, a worker, and a command that can be found
  bool stranded_ = false;             // some type may have nowhere left to run
  bool halted_ = false;
  bool told_of_launchers_ = false;
  bool io_failed_ = false;
  std::string problem_;
  Clock::time_point kill_at_ = Clock::time_point::max();
  Clock::time_point next_tick_{};
  Clock::time_point next_note_{};
  Clock::time_point last_turn_{};
  Clock::time_point paused_at_{};
  Clock::duration paused_{};
  double overhead_s_ = 0;
  std::uint64_t noted_plan_ = 0;
  std::string last_plan_note_;
};

// ---- the loop

RunSummary Runner::run() {
  load_states();
  crew_ = std::make_unique<Crew>(crew_resources(job_), options_.crew);
  begin_ = Clock::now();
  for (;;) {
    const Clock::time_point turn = Clock::now();
    events_.clear();
    crew_->pump(turn, events_);
    for (const CrewEvent& event : events_) handle(event);
    if (journal_.failure() && !io_failed_) {
      io_failed_ = true;
      problem_ = *journal_.failure();
      observer_.note("the journal cannot be written: nothing more is started, running tasks may finish");
      enter(RunPhase::kDraining);
    }
    observer_.woken(*this);
    if (turn >= kill_at_) {
      kill_at_ = Clock::time_point::max();
      kill();
    }
    backlog_.wake(turn);
    give_up_stranded();
    look_at_presence(turn);
    if (view_.phase == RunPhase::kRunning) dispatch();
    push_out();
    look_at_rates(Clock::now());
    const bool nothing_left = backlog_.left() == 0 || view_.phase != RunPhase::kRunning;
    if (running_.empty() && nothing_left && !waits_for_launchers()) break;
    overhead_s_ += to_seconds(Clock::now() - turn);
    wait();
  }
  crew_->finish();
  return summary();
}

void Runner::load_states() {
  const std::vector<TaskState> states = journal_.register_tasks(job_, items_);
  for (std::size_t at = 0; at < items_.size(); ++at) {
    const TaskState& state = states[at];
    Task& task = tasks_[at];
    task.attempts = state.attempts;
    task.failures = state.failures;
    task.lost = state.lost;
    task.ready = begin_;
    TypeView& type = view_.types[index(items_[at].type)];
    switch (state.kind) {
      case TaskState::Kind::kPending:
        backlog_.add(items_[at].type, at);
        break;
      case TaskState::Kind::kDone:
        ++type.done;
        ++view_.done;
        break;
      case TaskState::Kind::kFailed:
        ++type.failed;
        ++view_.failed;
        break;
    }
  }
}

/// Sleeps until something happens or must be done.
void Runner::wait() {
  Clock::time_point until = std::min({crew_->next_deadline(), kill_at_, next_tick_});
  if (const auto wake = backlog_.next_wake()) until = std::min(until, *wake);
  if (const auto look = placer_.next_look()) until = std::min(until, *look);
  files_.clear();
  crew_->files(files_);
  polled_.clear();
  for (const auto& [file, writes] : files_) {
    polled_.push_back({file, static_cast<short>(writes ? POLLOUT : POLLIN), 0});
  }
  polled_.push_back({journal_.committed_fd(), POLLIN, 0});
  const std::size_t journal_at = polled_.size() - 1;
  if (observer_.wake_file() >= 0) polled_.push_back({observer_.wake_file(), POLLIN, 0});
  const double left_ms = std::ceil(1000 * to_seconds(until - Clock::now()));
  ::poll(polled_.data(), polled_.size(), static_cast<int>(std::clamp(left_ms, 0.0, 60'000.0)));
  if ((polled_[journal_at].revents & POLLIN) != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(journal_.committed_fd(), &count, sizeof count);
  }
}

/// Requests are written at once, so that workers do not wait for the loop to come round.
void Runner::push_out() {
  const std::size_t before = events_.size();
  crew_->pump(Clock::now(), events_);
  for (std::size_t at = before; at < events_.size(); ++at) {
    const CrewEvent event = events_[at];
    handle(event);
  }
}

void Runner::signal_all(int number) {
  for (std::size_t slot = 0; slot < crew_->slots().size(); ++slot) crew_->signal(slot, number);
}

// ---- what happened

void Runner::handle(const CrewEvent& event) {
  switch (event.kind) {
    case CrewEvent::Kind::kRecord:
      on_record(event.slot, event.record);
      break;
    case CrewEvent::Kind::kGone: {
      const ResourceId where = crew_->slots()[event.slot].resource;
      const bool all_gone = std::all_of(crew_->slots().begin(), crew_->slots().end(), [&](const Slot& slot) {
        return slot.resource != where || slot.state == Slot::State::kGone;
      });
      if (all_gone) {
        observer_.note("resource '" + job_.resources[index(where)].name + "' is given up: " + event.text);
        journal_.note_event(unix_now(), "resource-lost", event.text);
        placer_.lose(where);
        presence_[index(where)].planned = false;
        for (std::size_t i = 0; i < job_.tasks.size(); ++i) usable_[pair(i, index(where))] = false;
        stranded_ = true;
      }
      break;
    }
    case CrewEvent::Kind::kNote:
      if (!event.repeated) observer_.note(event.text);
      journal_.note_event(unix_now(), "lane", event.text);
      break;
  }
}

void Runner::on_record(std::size_t slot, const TaskRecord& record) {
  const auto found = running_.find(record.id);
  if (found == running_.end()) return;
  const Running running = std::move(found->second);
  running_.erase(found);
  const std::size_t at = running.task;
  const TaskType type = items_[at].type;
  const ResourceId where = crew_->slots()[slot].resource;
  const Clock::time_point now = Clock::now();
  --running_by_type_[index(type)];
  --running_by_pair_[pair(type, where)];
  busy_s_[index(where)] += to_seconds(now - running.began);

  AttemptEnd end;
  static_cast<AttemptStart&>(end) = running.start;
  if (record.start_unix > 0) end.start_unix = record.start_unix;
  end.status = status_of(record.status);
  end.exit = record.exit;
  end.signal = record.signal;
  end.wall_s = record.wall_s;
  end.user_s = record.user_s;
  end.sys_s = record.sys_s;
  end.maxrss_kb = record.maxrss_kb;
  end.error = record.error;
  if (end.error.empty() && (record.out_cut || record.err_cut)) end.error = "what it printed was cut at 1 MiB";
  const bool tells_rate = !record.not_found && !record.was_stopped &&
                          (record.status == TaskStatus::kOk || record.status == TaskStatus::kFailed ||
                           record.status == TaskStatus::kTimeout);
  const bool ok = record.status == TaskStatus::kOk;
  if (tells_rate) {
    // The slot was taken for longer than the process lived: launching and reporting belong to the service.
    const double service = std::max(record.wall_s, to_seconds(now - running.began));
    placer_.ended(running.placed, service, ok, now);
    end.counted = true;
  } else {
    placer_.dropped(running.placed, record.wall_s);
  }
  if (ok) {
    ++done_by_pair_[pair(type, where)];
    recent_.add(type, now);
  }
  const AttemptOutput output = keep_output(running, record);
  if (record.not_found) {
    observer_.note("'" + job_.tasks[index(type)].name + "' cannot run on '" +
                   job_.resources[index(where)].name +
                   "', which is not used for it any more: " + record.error);
    placer_.disable(type, where);
    usable_[pair(type, where)] = false;
    why_not_[index(type)] = record.error;
    stranded_ = true;
  }

  // Is this its final record?
  Task& task = tasks_[at];
  const int retries = job_.tasks[index(type)].retries.value_or(options_.retries);
  bool is_final = ok;
  if (end.status == AttemptStatus::kFailed || end.status == AttemptStatus::kTimeout) {
    if (!record.not_found) is_final = ++task.failures > retries;
  } else if (end.status == AttemptStatus::kLost) {
    is_final = ++task.lost > options_.requeues;
  }
  journal_.finish(end, is_final);
  if (is_final) {
    TypeView& type_view = view_.types[index(type)];
    ++(ok ? type_view.done : type_view.failed);
    ++(ok ? view_.done : view_.failed);
    ++(ok ? done_now_ : failed_now_);
  } else {
    const double wait =
        record.not_found || end.status == AttemptStatus::kKilled
            ? 0
            : std::min(kLongestBackoff, options_.first_backoff_s *
                                            std::ldexp(1.0, std::max(0, task.failures + task.lost - 1)));
    const bool avoid = end.status == AttemptStatus::kFailed || end.status == AttemptStatus::kTimeout;
    task.ready = now + to_duration(wait);
    backlog_.retry(type, at, avoid ? std::optional(where) : std::nullopt, task.ready);
  }
  observer_.ended(end, items_[at], is_final, output);
  halt_if_reached();
}

void Runner::halt_if_reached() {
  if (!halted_ && options_.halt && options_.halt->reached(failed_now_, done_now_ + failed_now_)) {
    halted_ = true;
    journal_.note_event(unix_now(), "halted", std::to_string(failed_now_) + " tasks failed");
    observer_.note("halted: " + std::to_string(failed_now_) + " tasks failed");
    if (options_.halt->now) {
      terminate();
    } else {
      drain();
    }
  }
}

/// Files of attempts that printed nothing are removed; what came back over a lane is written here.
AttemptOutput Runner::keep_output(const Running& running, const TaskRecord& record) const {
  AttemptOutput output;
  const std::string base = options_.output_folder + "/" + std::to_string(running.task + 1) + "." +
                           std::to_string(running.start.attempt);
  const auto keep = [&](const std::string& path, const std::string& ending, const std::string& text) {
    const std::string file = path.empty() ? base + ending : path;
    if (path.empty() && !text.empty()) replace_file(file, text, Readers::kOwner);
    std::error_code error;
    const auto size = std::filesystem::file_size(file, error);
    if (error) return std::string();
    if (size > 0) return file;
    std::filesystem::remove(file, error);
    return std::string();
  };
  const bool is_output = !running.request.final_output.empty() &&
                         running.request.stdout_path == running.request.temporary_output;
  if (!is_output) output.out = keep(running.request.stdout_path, ".out", record.out);
  output.err = keep(running.request.stderr_path, ".err", record.err);
  return output;
}

bool Runner::can_run_elsewhere(TaskType i, ResourceId j) const {
  for (std::size_t other = 0; other < job_.resources.size(); ++other) {
    if (resource_id(other) != j && usable_[pair(index(i), other)] && placer_.allows(i, resource_id(other))) {
      return true;
    }
  }
  return false;
}

/// Types that no resource can run any more: their tasks get their final record, and the run can end.
void Runner::give_up_stranded() {
  if (!stranded_ || view_.phase != RunPhase::kRunning) return;
  stranded_ = false;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    if (std::any_of(usable_.begin() + static_cast<std::ptrdiff_t>(pair(i, 0)),
                    usable_.begin() + static_cast<std::ptrdiff_t>(pair(i + 1, 0)),
                    [](bool yes) { return yes; })) {
      continue;
    }
    for (const std::uint64_t at : backlog_.give_up(task_type(i))) {
      AttemptEnd end;
      end.task = at;
      end.attempt = ++tasks_[at].attempts;
      end.start_unix = unix_now();
      end.status = AttemptStatus::kFailed;
      end.error = "no resource can run it" + (why_not_[i].empty() ? "" : ": " + why_not_[i]);
      journal_.finish(end, true);
      ++view_.types[i].failed;
      ++view_.failed;
      ++failed_now_;
      observer_.ended(end, items_[at], true, {});
    }
  }
  halt_if_reached();
}

/// Plans without resources whose workers are all away, and with them again when one is back.
void Runner::look_at_presence(Clock::time_point now) {
  for (std::size_t j = 0; j < presence_.size(); ++j) {
    Presence& presence = presence_[j];
    const bool here = std::any_of(crew_->slots().begin(), crew_->slots().end(), [&](const Slot& slot) {
      return index(slot.resource) == j &&
             (slot.state == Slot::State::kIdle || slot.state == Slot::State::kBusy);
    });
    if (here) {
      presence.absent_since.reset();
      if (!std::exchange(presence.planned, true)) placer_.restore(resource_id(j));
    } else if (!presence.absent_since) {
      presence.absent_since = now;
    } else if (presence.planned && now >= *presence.absent_since + kAbsence) {
      presence.planned = false;
      placer_.lose(resource_id(j));
      const JobResource& resource = job_.resources[j];
      observer_.note("no worker of '" + resource.name + "' is there; until one is, tasks go elsewhere");
    }
  }
}

/// All is done, but jobs of a batch system would stay if their launchers were killed now.
bool Runner::waits_for_launchers() {
  if (!crew_->leaving() || view_.phase >= RunPhase::kTerminating) return false;
  if (!std::exchange(told_of_launchers_, true)) {
    observer_.note("waiting for the launchers of lost workers to cancel their jobs; interrupt twice not to");
  }
  return true;
}

// ---- what is started

std::vector<Count> Runner::left_by_type() const {
  std::vector<Count> left;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) left.push_back(backlog_.left(task_type(i)));
  return left;
}

void Runner::dispatch() {
  const Clock::time_point now = Clock::now();
  const std::vector<Count> left = left_by_type();
  std::vector<Count> ready;
  Count all = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    ready.push_back(backlog_.ready(task_type(i)));
    all += left[i];
  }
  if (placer_.finishes() && all > 0 && all <= kEndgameTasks * static_cast<Count>(crew_->slots().size()) &&
      dispatch_endgame(now)) {
    return;
  }
  placer_.update({ready, left, running_by_type_}, now);
  for (std::size_t s = 0; s < crew_->slots().size(); ++s) {
    const Slot& slot = crew_->slots()[s];
    if (slot.state != Slot::State::kIdle) continue;
    const ResourceId j = slot.resource;
    for (std::size_t i = 0; i < left.size(); ++i) {
      // Only tasks that failed here are left: their tickets should wait where they may run.
      const TaskType type = task_type(i);
      if (backlog_.ready(type) > 0 && can_run_elsewhere(type, j) && !backlog_.has(type, j, false)) {
        placer_.send_elsewhere(type, j, now);
      }
    }
    const auto placed = placer_.next(
        j, now, [&](TaskType type) { return backlog_.has(type, j, !can_run_elsewhere(type, j)); });
    if (!placed) continue;
    const TaskType type = placed->ticket.type;
    if (const auto task = backlog_.take(type, j, !can_run_elsewhere(type, j))) start(s, *task, *placed, now);
  }
}

/// The last tasks: each free slot starts what the schedule of all that is left wants it to. False when too
/// little is known about the rates.
bool Runner::dispatch_endgame(Clock::time_point now) {
  const std::size_t resources = job_.resources.size();
  std::vector<double> seconds(job_.tasks.size() * resources, 0.0);
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    bool known = false;
    for (std::size_t j = 0; j < resources; ++j) {
      if (!view_.pairs[pair(i, j)].possible || !placer_.allows(task_type(i), resource_id(j))) continue;
      const RateEstimate estimate = placer_.dispatcher().estimate(task_type(i), resource_id(j));
      if (!estimate.known()) continue;
      seconds[pair(i, j)] = estimate.seconds;
      known = true;
    }
    if (!known && backlog_.left(task_type(i)) > 0) return false;
  }
  placer_.clear_waiting();
  std::vector<EndgameSlot> slots;
  std::vector<std::size_t> which;
  for (std::size_t s = 0; s < crew_->slots().size(); ++s) {
    const Slot& slot = crew_->slots()[s];
    if (slot.state != Slot::State::kIdle && slot.state != Slot::State::kBusy) continue;
    EndgameSlot& seen = slots.emplace_back();
    seen.resource = slot.resource;
    if (slot.state == Slot::State::kBusy) {
      const Running& running = running_.at(slot.task);
      const double mean = seconds[pair(items_[running.task].type, slot.resource)];
      const double elapsed = to_seconds(now - running.began);
      // One that is late by far may never end, as on a machine that has died: nothing should wait for it.
      seen.free_in = std::max({mean - elapsed, 0.05 * mean, elapsed - 2 * mean});
      if (!(seen.free_in > 0)) seen.free_in = 1e-6;
    }
    which.push_back(s);
  }
  std::vector<Count> left = left_by_type();
  const EndgamePlan plan = plan_endgame(seconds, left, slots, resources);
  for (std::size_t at = 0; at < slots.size(); ++at) {
    if (!plan.start[at]) continue;
    const TaskType type = *plan.start[at];
    if (running_by_type_[index(type)] >= placer_.limits()[index(type)]) continue;
    const ResourceId j = slots[at].resource;
    // A retry that may not run here leaves the slot to the next round.
    if (const auto task = backlog_.take(type, j, !can_run_elsewhere(type, j))) {
      start(which[at], *task, placer_.take_at(type, j, now), now);
    }
  }
  return true;
}

void Runner::start(std::size_t slot_at, std::uint64_t at, const Placed& placed, Clock::time_point now) {
  const Slot& slot = crew_->slots()[slot_at];
  Task& task = tasks_[at];
  Running running;
  running.task = at;
  running.placed = placed;
  running.began = now;
  running.request = make_request(job_, {&items_[at], at + 1, slot.resource, slot.number, task.attempts + 1},
                                 options_.run_id);
  TaskRequest& request = running.request;
  request.id = next_id_++;
  request.grace_s = options_.grace_s;
  if (job_.resources[index(slot.resource)].launch.empty()) {
    const std::string base =
        options_.output_folder + "/" + std::to_string(at + 1) + "." + std::to_string(task.attempts + 1);
    if (request.stdout_path.empty()) request.stdout_path = base + ".out";
    request.stderr_path = base + ".err";
  }
  if (!request.final_output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(request.final_output).parent_path(), error);
    // What an attempt that was lost may have left, in this run or in an earlier one.
    for (const std::string& run : {options_.run_id, journal_.last_run(at)}) {
      if (task.attempts > 0 && !run.empty())
        std::filesystem::remove_all(temporary_output(request.final_output, run, task.attempts), error);
    }
  }
  if (task.attempts > 0) ++view_.retried;
  running.start.task = at;
  running.start.attempt = ++task.attempts;
  running.start.resource = job_.resources[index(slot.resource)].name;
  running.start.slot = slot.number;
  running.start.start_unix = unix_now();
  running.start.queue_s = std::max(0.0, to_seconds(now - task.ready));
  running.start.command = join_command(request.argv);
  journal_.start(running.start);
  ++running_by_type_[index(items_[at].type)];
  ++running_by_pair_[pair(items_[at].type, slot.resource)];
  crew_->start(slot_at, request);
  const std::uint64_t id = request.id;
  running_.emplace(id, std::move(running));
}

// ---- what is seen

/// The system at the means (0) or at the lower (-1) or upper (1) ends of the intervals; nothing while some
/// type with tasks left has no known rate.
std::optional<System> Runner::system_at(int end) const {
  std::vector<double> rates(view_.pairs.size(), 0.0);
  std::vector<Count> counts(job_.tasks.size(), 0);
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    bool known = false;
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      const PairView& seen = view_.pairs[pair(i, j)];
      if (!seen.allowed || !seen.rate) continue;
      rates[pair(i, j)] = end < 0 ? seen.low : end > 0 ? seen.high : *seen.rate;
      if (!std::isfinite(rates[pair(i, j)])) rates[pair(i, j)] = *seen.rate;
      known |= rates[pair(i, j)] > 0;
    }
    if (!known && view_.types[i].done + view_.types[i].failed < view_.types[i].total) return std::nullopt;
    counts[i] = known ? 1 : 0;
  }
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {  // a type that is done needs some rate all the same
    if (counts[i] == 0) rates[pair(i, 0)] = 1;
  }
  return job_system(job_, rates, counts);
}

void Runner::refresh_view(Clock::time_point now) {
  view_.elapsed_s = to_seconds(now - begin_ - paused_);
  view_.running = running_.size();
  const auto throughput = recent_.rates(now);
  view_.throughput = 0;
  const std::shared_ptr<const Plan> plan = placer_.dispatcher().plan();
  view_.predicted.reset();
  // While a type has no known rate the plan stands on guesses.
  const bool predicts = plan->predicted && system_at(0);
  if (predicts) view_.predicted = plan->predicted->throughput;
  view_.plan_note = plan->note;
  for (std::size_t i = 0; i < view_.types.size(); ++i) {
    TypeView& type = view_.types[i];
    type.running = static_cast<std::uint64_t>(running_by_type_[i]);
    type.throughput = throughput[i];
    view_.throughput += throughput[i];
    type.predicted = predicts ? plan->predicted->throughput_by_task[i] : 0;
    for (std::size_t j = 0; j < view_.resources.size(); ++j) {
      PairView& seen = view_.pairs[pair(i, j)];
      if (!seen.possible) continue;
      seen.allowed = placer_.allows(task_type(i), resource_id(j));
      seen.running = running_by_pair_[pair(i, j)];
      seen.done = done_by_pair_[pair(i, j)];
      const RateEstimate estimate = placer_.dispatcher().estimate(task_type(i), resource_id(j));
      seen.rate = estimate.known() ? std::optional(estimate.rate) : std::nullopt;
      seen.low = estimate.rate_low;
      seen.high = estimate.rate_high;
    }
  }
  for (std::size_t j = 0; j < view_.resources.size(); ++j) {
    ResourceView& seen = view_.resources[j];
    seen.busy = 0;
    seen.open = 0;
    seen.busy_s = busy_s_[j];
    for (const Slot& slot : crew_->slots()) {
      if (index(slot.resource) != j) continue;
      seen.busy += slot.state == Slot::State::kBusy ? 1 : 0;
      seen.open += slot.state == Slot::State::kBusy || slot.state == Slot::State::kIdle ? 1 : 0;
    }
    for (const auto& [id, running] : running_) {
      if (index(running.placed.ticket.resource) == j) seen.busy_s += to_seconds(now - running.began);
    }
    const Resource& resource = job_.resources[j];
    const double slot_s = static_cast<double>(resource.servers) * view_.elapsed_s;
    seen.energy_j = resource.power * seen.busy_s + resource.idle_power * std::max(0.0, slot_s - seen.busy_s);
  }
  // How long it may take: the programme at the means and at both ends of the intervals.
  view_.left_s = view_.left_low_s = view_.left_high_s = view_.bound_s = std::nullopt;
  std::vector<Count> left = left_by_type();
  for (std::size_t i = 0; i < left.size(); ++i) left[i] += running_by_type_[i];
  if (const auto system = system_at(0)) {
    view_.bound_s = batch_bound(*system, left);
    view_.left_s = view_.bound_s;
    // At the pace of the plan, where that is slower than the bound.
    if (plan->predicted && view_.left_s) {
      for (std::size_t i = 0; i < left.size(); ++i) {
        const double pace = plan->predicted->throughput_by_task[i];
        if (placer_.finishes() || left[i] == 0 || !(pace > 0)) continue;
        view_.left_s = std::max(*view_.left_s, static_cast<double>(left[i]) / pace);
      }
    }
    const auto slow = system_at(-1);
    const auto fast = system_at(1);
    if (view_.left_s && view_.bound_s && slow && fast) {
      const auto longest = batch_bound(*slow, left);
      const auto shortest = batch_bound(*fast, left);
      const double scale = *view_.bound_s > 0 ? *view_.left_s / *view_.bound_s : 1;
      if (longest) view_.left_high_s = *longest * scale;
      if (shortest) view_.left_low_s = *shortest * scale;
    }
  }
}

void Runner::report_running(Clock::time_point now) {
  std::vector<std::vector<double>> elapsed(view_.pairs.size());
  for (const auto& [id, running] : running_) {
    elapsed[pair(running.placed.ticket.type, running.placed.ticket.resource)].push_back(
        to_seconds(now - running.began));
  }
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      if (view_.pairs[pair(i, j)].possible) {
        placer_.dispatcher().report_running(task_type(i), resource_id(j), elapsed[pair(i, j)]);
      }
    }
  }
}

void Runner::note_to_journal() {
  const double time = unix_now();
  std::vector<LearntRate> rates;
  std::vector<Prediction> predictions;
  for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
    for (std::size_t j = 0; j < job_.resources.size(); ++j) {
      const PairView& seen = view_.pairs[pair(i, j)];
      if (!seen.possible || !seen.rate || seen.done == 0) continue;
      rates.push_back({job_.tasks[i].name, job_.resources[j].name, *seen.rate, seen.low, seen.high,
                       static_cast<std::int64_t>(seen.done), time});
    }
    predictions.push_back({time, job_.tasks[i].name, view_.types[i].predicted});
  }
  if (!rates.empty()) journal_.note_rates(std::move(rates));
  const std::uint64_t number = placer_.dispatcher().plan()->number;
  if (view_.predicted && number != noted_plan_) journal_.note_prediction(std::move(predictions));
  noted_plan_ = number;
}

void Runner::look_at_rates(Clock::time_point now) {
  if (now < next_tick_) return;
  next_tick_ = now + to_duration(options_.tick_s);
  report_running(now);
  refresh_view(now);
  if (view_.plan_note != last_plan_note_) {
    last_plan_note_ = view_.plan_note;
    // Notes are about shares and floors: news for who asked for some, and while there is work of every type.
    const bool asked = options_.objective == RunObjective::kPriority ||
                       std::any_of(job_.tasks.begin(), job_.tasks.end(),
                                   [](const JobTask& task) { return task.floor.has_value(); });
    const std::vector<Count> left = left_by_type();
    const bool all_types = std::none_of(left.begin(), left.end(), [](Count n) { return n == 0; });
    if (asked && all_types && !last_plan_note_.empty()) observer_.note(last_plan_note_);
  }
  if (now >= next_note_ && !io_failed_) {
    note_to_journal();
    next_note_ = now + to_duration(kNoteEvery);
  }
  observer_.tick(view_);
}

RunSummary Runner::summary() {
  const Clock::time_point now = Clock::now();
  placer_.dispatcher().solve(now);
  refresh_view(now);
  if (!io_failed_) note_to_journal();
  RunSummary summary;
  summary.done_now = done_now_;
  summary.failed_now = failed_now_;
  summary.overhead_s = overhead_s_;
  summary.problem = problem_;
  const bool all = view_.done + view_.failed == view_.total;
  summary.outcome = io_failed_ ? RunSummary::Outcome::kIo
                    : halted_  ? RunSummary::Outcome::kHalted
                    : all      ? RunSummary::Outcome::kFinished
                               : RunSummary::Outcome::kInterrupted;
  const DispatchStatistics statistics = placer_.dispatcher().statistics(now);
  if (statistics.ended > 0) {
    summary.little = statistics.departures * statistics.mean_response;
    summary.in_flight = statistics.mean_in_flight;
  }
  std::vector<Count> did(job_.tasks.size());
  for (std::size_t i = 0; i < did.size(); ++i) {
    for (std::size_t j = 0; j < job_.resources.size(); ++j)
      did[i] += static_cast<Count>(done_by_pair_[pair(i, j)]);
  }
  // A bound needs all rates: a pair that nobody tried could be the fast one.
  bool all_known = true;
  for (std::size_t at = 0; at < view_.pairs.size(); ++at) {
    const PairView& seen = view_.pairs[at];
    all_known &=
        !seen.possible || !seen.allowed || seen.rate.has_value() || did[at / job_.resources.size()] == 0;
  }
  if (const auto system = system_at(0); all_known && system) summary.bound_s = batch_bound(*system, did);
  summary.view = view_;
  static constexpr std::array<const char*, 4> kNames = {"finished", "interrupted", "halted", "io-error"};
  journal_.end_run(kNames[static_cast<std::size_t>(summary.outcome)], unix_now());
  try {
    journal_.flush();
  } catch (const JournalError& error) {
    summary.outcome = RunSummary::Outcome::kIo;
    summary.problem = error.what();
  }
  return summary;
}

}  // namespace

RunSummary run_job(const Job& job, Journal& journal, const RunOptions& options, RunObserver& observer) {
  return Runner(job, journal, options, observer).run();
}

}  // namespace allot
