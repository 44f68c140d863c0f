#include "allot/run/crew.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/run/holdings.hpp"
#include "allot/worker/process.hpp"

namespace allot {
namespace {

/// Losses of a resource this soon after a reported one are not reported one by one.
constexpr Clock::duration kSameEvent = std::chrono::seconds(10);
/// Maximum time that the guard of a killed worker needs to kill its tasks.
constexpr Clock::duration kGuarded = std::chrono::seconds(5);
/// poll() does not see the end of a launcher.
constexpr Clock::duration kLookEvery = std::chrono::milliseconds(50);

}  // namespace

std::vector<CrewResource> crew_resources(const Job& job) {
  std::vector<CrewResource> resources;
  for (std::size_t j = 0; j < job.resources.size(); ++j)
    resources.push_back({job.resources[j].name, places(job, resource_id(j)), job.resources[j].launch});
  return resources;
}

std::size_t descriptors_for(std::span<const CrewResource> resources) noexcept {
  constexpr std::size_t kOfALane = 3;     // in, out, errors
  constexpr std::size_t kOfTheRest = 64;  // journal, signals, files that are read and written
  std::size_t lanes = 0;
  for (const CrewResource& resource : resources) {
    lanes += resource.launch.empty() ? 1 : static_cast<std::size_t>(resource.slots);
  }
  // While a lane is opened, it has both ends of its pipes.
  return kOfALane * (lanes + 1) + kOfTheRest;
}

Crew::Crew(std::span<const CrewResource> resources, CrewOptions options, Clock::time_point now)
    : options_(std::move(options)), program_(this_program()) {
  told_.assign(resources.size(), Clock::time_point::min());
  Line local;
  for (std::size_t j = 0; j < resources.size(); ++j) {
    const CrewResource& resource = resources[j];
    for (Count number = 0; number < resource.slots; ++number) {
      const std::size_t at = slots_.size();
      slots_.push_back({resource_id(j), number});
      if (resource.launch.empty()) {
        local.slots.push_back(at);
      } else {
        Line& lane = lines_.emplace_back();
        lane.resource = resource.name;
        lane.launch = resource.launch;
        lane.slots = {at};
      }
    }
  }
  if (!local.slots.empty()) lines_.push_back(std::move(local));
  for (std::size_t line = 0; line < lines_.size(); ++line) {
    for (const std::size_t at : lines_[line].slots) slots_[at].lane = line;
    lines_[line].reopen = now;
    open(lines_[line]);
  }
}

Crew::~Crew() { finish(); }

void Crew::open(Line& line) {
  line.proven = false;
  line.ready = Clock::time_point::max();
  LaneOptions options = options_.lane;
  if (!line.launch.empty()) {
    options.hello_deadline = options_.launch_deadline;
    if (options.worker.empty()) options.worker = {program_, "worker"};
  }
  line.lane = options_.open_lane ? options_.open_lane(line.launch, options)
                                 : std::make_unique<WorkerLane>(line.launch, std::move(options));
  if (paused_) line.lane->pause();
}

Clock::duration Crew::lingers(std::size_t slot) const noexcept {
  if (!lines_[slots_[slot].lane].launch.empty()) return to_duration(options_.lane.silence.count()) + kGuarded;
  return options_.owns_children ? Clock::duration{} : kGuarded;
}

bool Crew::settled() const noexcept {
  return std::none_of(slots_.begin(), slots_.end(),
                      [](const Slot& slot) { return slot.state == Slot::State::kOpening; });
}

std::optional<std::string> Crew::start(std::size_t at, const TaskRequest& request) {
  Slot& slot = slots_[at];
  Line& line = lines_[slot.lane];
  try {
    line.lane->send(request);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  slot.state = Slot::State::kBusy;
  slot.task = request.id;
  slot.process = 0;
  ++busy_;
  ++line.busy;
  return std::nullopt;
}

void Crew::signal(std::size_t at, int number) {
  const Slot& slot = slots_[at];
  if (slot.state == Slot::State::kBusy) lines_[slot.lane].lane->kill(slot.task, number);
}

void Crew::abandon(std::size_t at) {
  Slot& slot = slots_[at];
  if (slot.state != Slot::State::kBusy) return;
  slot.state = Slot::State::kStuck;
  --busy_;
  --lines_[slot.lane].busy;
}

void Crew::pause() {
  paused_ = true;
  for (Line& line : lines_) {
    if (line.lane) line.lane->pause();
  }
}

void Crew::resume() {
  paused_ = false;
  for (Line& line : lines_) {
    if (line.lane) line.lane->resume();
  }
}

void Crew::files(std::vector<std::pair<int, bool>>& out) const {
  for (const Line& line : lines_) {
    if (!line.lane) continue;
    if (line.lane->read_fd() >= 0) out.emplace_back(line.lane->read_fd(), false);
    if (line.lane->wants_write() && line.lane->write_fd() >= 0) out.emplace_back(line.lane->write_fd(), true);
  }
}

Clock::time_point Crew::next_deadline(Clock::time_point now) const {
  Clock::time_point next = Clock::time_point::max();
  for (const Line& line : lines_) {
    if (line.lane) {
      next = std::min(next, line.lane->next_deadline());
    } else {
      next = std::min(next, line.reopen);
    }
  }
  if (!leaving_.empty()) next = std::min(next, now + kLookEvery);
  return next;
}

std::optional<std::size_t> Crew::slot_of(const Line& line, std::uint64_t task) const {
  for (const std::size_t at : line.slots) {
    const Slot& slot = slots_[at];
    if ((slot.state == Slot::State::kBusy || slot.state == Slot::State::kStuck) && slot.task == task)
      return at;
  }
  return std::nullopt;
}

void Crew::pump(Clock::time_point now, std::vector<CrewEvent>& events) {
  std::erase_if(leaving_, [&](Leaving& leaving) {
    leaving.lane->pump(now, lane_events_);  // its events are no longer used
    return leaving.lane->process() < 0 || now >= leaving.until;
  });
  for (Line& line : lines_) {
    if (!line.lane) {
      if (now >= line.reopen) open(line);
      continue;
    }
    lane_events_.clear();
    line.lane->pump(now, lane_events_);
    const bool shared =
        line.busy > 1 && std::any_of(lane_events_.begin(), lane_events_.end(), [](const LaneEvent& event) {
          return event.kind == LaneEvent::Kind::kLost || event.kind == LaneEvent::Kind::kEnded;
        });
    for (LaneEvent& event : lane_events_) {
      switch (event.kind) {
        case LaneEvent::Kind::kReady:
          line.ready = now;
          line.given_up = false;
          for (const std::size_t at : line.slots) slots_[at].state = Slot::State::kIdle;
          break;
        case LaneEvent::Kind::kStarted:
          if (const auto at = slot_of(line, event.record.id)) slots_[*at].process = event.process;
          break;
        case LaneEvent::Kind::kRecord:
          on_record(line, event.record, shared, events);
          break;
        case LaneEvent::Kind::kLost:
        case LaneEvent::Kind::kEnded:
          on_lost(line, now, event, events);
          break;
      }
    }
  }
}

void Crew::on_record(Line& line, TaskRecord& record, bool shared, std::vector<CrewEvent>& events) {
  const auto at = slot_of(line, record.id);
  if (!at) return;
  const bool awaited = slots_[*at].state == Slot::State::kBusy;
  slots_[*at].state = Slot::State::kIdle;
  line.proven |= record.status != TaskStatus::kLost;
  if (!awaited) return;
  --busy_;
  --line.busy;
  CrewEvent& event = events.emplace_back();
  event.kind = CrewEvent::Kind::kRecord;
  event.slot = *at;
  event.shared = shared && record.status == TaskStatus::kLost;
  event.record = std::move(record);
}

/// Whether a loss of this resource was reported just before; if not, this one is.
bool Crew::repeats(const Line& line, Clock::time_point now) {
  Clock::time_point& told = told_[index(slots_[line.slots.front()].resource)];
  if (told != Clock::time_point::min() && now < told + kSameEvent) return true;
  told = now;
  return false;
}

void Crew::on_lost(Line& line, Clock::time_point now, const LaneEvent& end, std::vector<CrewEvent>& events) {
  const std::string who = line.launch.empty() ? "the local worker" : "a lane of '" + line.resource + "'";
  const bool was_there = line.ready != Clock::time_point::max();
  if (line.proven || (was_there && now - line.ready >= to_duration(options_.longest_delay_s)))
    line.failures = 0;
  ++line.failures;
  if (line.lane->process() > 0) {
    leaving_.push_back({std::move(line.lane), now + to_duration(options_.leave_s)});
  }
  line.lane.reset();
  if (line.launch.empty() && options_.owns_children) kill_leftovers();
  line.busy = 0;  // the lane has already reported each task
  if (end.not_found) line.failures = std::max(line.failures, options_.most_failures);
  const bool hopeless = line.failures >= (end.is_stranger ? options_.most_strangers : options_.most_failures);
  for (const std::size_t at : line.slots)
    slots_[at].state = hopeless ? Slot::State::kGone : Slot::State::kOpening;
  const double delay = hopeless ? options_.longest_delay_s
                                : std::min(options_.longest_delay_s,
                                           options_.first_delay_s * std::ldexp(1.0, line.failures - 1));
  line.reopen = now + to_duration(delay);
  if (hopeless) {
    if (std::exchange(line.given_up, true)) return;  // already reported
    for (const std::size_t at : line.slots)
      events.push_back({CrewEvent::Kind::kGone, at, {}, false, who + " cannot be opened: " + end.why});
    return;
  }
  const char* const what =
      was_there ? " was lost and is opened again: " : " did not open and is tried again: ";
  events.push_back(
      {CrewEvent::Kind::kNote, line.slots.front(), {}, false, who + what + end.why, repeats(line, now)});
}

/// Processes that tasks of a dead local worker have left were adopted by this process, if it adopts orphans:
/// they are killed before their tasks run again.
void Crew::kill_leftovers() {
  std::vector<int> spare;
  for (const Line& line : lines_) {
    if (line.lane && line.lane->process() > 0) spare.push_back(line.lane->process());
  }
  for (const Leaving& leaving : leaving_) {
    if (leaving.lane->process() > 0) spare.push_back(leaving.lane->process());
  }
  kill_descendants(spare, std::chrono::seconds(2));
}

void Crew::finish() {
  for (Line& line : lines_) {
    if (line.lane) line.lane->finish();
  }
  // All at once: a lane's waiting time counts from its finish().
  for (Line& line : lines_) line.lane.reset();
  leaving_.clear();
}

}  // namespace allot
