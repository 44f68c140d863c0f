// What does a task cost on a lane? `true` through a local worker, beside the least that any program can pay
// for it: a posix_spawn and a wait.
#include <benchmark/benchmark.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "allot/worker/lane.hpp"

namespace {

using namespace allot;

TaskRequest task(std::uint64_t id) {
  TaskRequest request;
  request.id = id;
  request.argv = {"/bin/true"};
  request.stdout_path = request.stderr_path = "/dev/null";
  return request;
}

/// Waits until something happens on the lane.
void turn(WorkerLane& lane, std::vector<LaneEvent>& events) {
  pollfd watched{lane.read_fd(), POLLIN, 0};
  ::poll(&watched, 1, 100);
  lane.pump(Clock::now(), events);
}

/// Keeps range(0) tasks on the lane, and sends the next when one ends.
void BM_Lane(benchmark::State& state) {
  LaneOptions options;
  options.worker = {ALLOT_COMMAND, "worker"};
  WorkerLane lane({}, options);
  std::vector<LaneEvent> events;
  while (!lane.ready()) turn(lane, events);
  std::uint64_t id = 0;
  const auto slots = static_cast<std::size_t>(state.range(0));
  while (lane.in_flight() < slots) lane.send(task(++id));
  for (auto _ : state) {
    for (bool ended = false; !ended;) {
      events.clear();
      turn(lane, events);
      for (const LaneEvent& event : events) {
        if (event.kind == LaneEvent::Kind::kLost ||
            (event.kind == LaneEvent::Kind::kRecord && event.record.exit != 0)) {
          state.SkipWithError("a task failed");
          return;
        }
        ended = ended || event.kind == LaneEvent::Kind::kRecord;
      }
      while (lane.in_flight() < slots) lane.send(task(++id));
      lane.pump(Clock::now(), events);
    }
  }
  // More than one may end in a turn.
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(id - slots), benchmark::Counter::kIsRate);
}

void BM_SpawnAndWait(benchmark::State& state) {
  char name[] = "/bin/true";
  char* const argv[] = {name, nullptr};
  for (auto _ : state) {
    pid_t child = 0;
    if (::posix_spawn(&child, name, nullptr, nullptr, argv, ::environ) != 0) {
      state.SkipWithError("cannot start it");
      return;
    }
    ::waitpid(child, nullptr, 0);
  }
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

BENCHMARK(BM_SpawnAndWait)->UseRealTime();
BENCHMARK(BM_Lane)->ArgName("slots")->Arg(1)->Arg(2)->Arg(8)->UseRealTime();

}  // namespace
