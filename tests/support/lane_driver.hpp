// Drives a WorkerLane as a program would, and finds the processes that a test left behind.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "allot/worker/lane.hpp"

namespace allot::testing {

/// On this machine, tests share their processors with other work.
inline constexpr std::chrono::seconds kPatience{60};

inline bool eventually(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience) {
  const Clock::time_point until = Clock::now() + patience;
  while (!holds()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// Waits until one of the lanes has something to do, at most for so long, and lets each do it. Events of lane
/// k are appended to events[k].
inline void pump_all(std::vector<WorkerLane>& lanes, std::vector<std::vector<LaneEvent>>& events,
                     std::chrono::milliseconds at_most) {
  std::vector<pollfd> watched;
  Clock::time_point until = Clock::now() + at_most;
  for (const WorkerLane& lane : lanes) {
    watched.push_back({lane.read_fd(), POLLIN, 0});
    if (lane.wants_write()) watched.push_back({lane.write_fd(), POLLOUT, 0});
    until = std::min(until, lane.next_deadline());
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  ::poll(watched.data(), watched.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  for (std::size_t k = 0; k < lanes.size(); ++k) lanes[k].pump(Clock::now(), events[k]);
}

/// A lane and all that it has told.
class LaneDriver {
 public:
  explicit LaneDriver(std::vector<std::string> launch, LaneOptions options) : events_(1) {
    lanes_.emplace_back(std::move(launch), std::move(options));
  }

  WorkerLane& lane() { return lanes_.front(); }
  const std::vector<LaneEvent>& events() const { return events_.front(); }

  bool pump_until(const std::function<bool()>& holds, std::chrono::milliseconds patience = kPatience) {
    const Clock::time_point until = Clock::now() + patience;
    while (!holds()) {
      if (Clock::now() >= until) return false;
      pump_all(lanes_, events_, std::chrono::milliseconds(50));
    }
    return true;
  }
  void pump_for(std::chrono::milliseconds time) {
    pump_until([] { return false; }, time);
  }

  const LaneEvent* find(LaneEvent::Kind kind, std::uint64_t id = 0) const {
    const auto event = std::find_if(events().begin(), events().end(),
                                    [&](const LaneEvent& e) { return e.kind == kind && e.record.id == id; });
    return event == events().end() ? nullptr : &*event;
  }
  /// Waits for it. What comes back on failure has the kind asked for and a `why` that no lane gives.
  LaneEvent wait_for(LaneEvent::Kind kind, std::uint64_t id = 0) {
    pump_until([&] { return find(kind, id) != nullptr; });
    if (const LaneEvent* const event = find(kind, id)) return *event;
    LaneEvent missing;
    missing.kind = kind;
    missing.why = missing.record.error = "it never came";
    return missing;
  }
  TaskRecord run(TaskRequest task) {
    if (task.id == 0) task.id = ++last_id_;
    lane().send(task);
    return wait_for(LaneEvent::Kind::kRecord, task.id).record;
  }
  TaskRecord run(std::vector<std::string> argv) {
    TaskRequest task;
    task.argv = std::move(argv);
    return run(std::move(task));
  }
  TaskRecord shell(const std::string& script) { return run({"sh", "-c", script}); }

 private:
  std::vector<WorkerLane> lanes_;
  std::vector<std::vector<LaneEvent>> events_;
  std::uint64_t last_id_ = 1'000'000;
};

/// A word that no other process of this machine has in its environment or on its command line.
inline std::string fresh_marker() {
  static std::atomic<int> count{0};
  return "allot-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count) + "-" +
         std::to_string(Clock::now().time_since_epoch().count());
}

/// A file of /proc, as much of it as there is: its process may end at any moment.
inline std::string read_proc(const std::filesystem::path& path) {
  std::string text;
  FILE* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return text;
  std::array<char, 4096> part{};
  for (std::size_t size = 1; size > 0;) {
    size = std::fread(part.data(), 1, part.size(), file);
    text.append(part.data(), size);
  }
  std::fclose(file);
  return text;
}

/// The living processes, this one apart, that have the marker in their environment or on their command line.
inline std::vector<int> processes_with(const std::string& marker) {
  std::vector<int> found;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid()))
      continue;
    if (read_proc(at->path() / "environ").find(marker) != std::string::npos ||
        read_proc(at->path() / "cmdline").find(marker) != std::string::npos) {
      found.push_back(std::stoi(name));
    }
  }
  return found;
}

}  // namespace allot::testing
