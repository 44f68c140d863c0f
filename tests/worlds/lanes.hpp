// Workers that exist only as times at which something happens.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/worker/lane.hpp"
#include "tests/worlds/ledger.hpp"
#include "tests/worlds/scene.hpp"

namespace allot::worlds {

class SimulatedLane;

/// What all lanes of a world share: its time, its chance, and who runs what.
struct Town {
  const Scene& scene;
  Clock::time_point now{};
  Clock::time_point begin{};  ///< of this run
  RandomStream random;
  RandomStream fates;  ///< of those that were lost
  std::set<SimulatedLane*> lanes;
  std::vector<int> failures_to_open;           ///< by resource, still to come
  std::map<std::string, std::size_t> numbers;  ///< of tasks, by identity
  Ledger ledger;                               ///< of what is held
  /// Called when something is held by more than there is of it.
  std::function<void(const std::string& what)> overdrawn;
  /// Called when a task begins to run: its number.
  std::function<void(std::size_t task)> executed;
  /// Called when a task has succeeded, and its output is in its place.
  std::function<void(std::size_t task)> made;
  /// Called when a worker is given more than it has slots for.
  std::function<void()> overbooked;
  /// Called when an attempt is lost with its worker: the ids of all that were lost.
  std::function<void(const std::vector<std::uint64_t>& ids)> lost;

  Town(const Scene& from, std::uint64_t stream)
      : scene(from), random(from.seed, stream), fates(from.seed, stream, 1), ledger(from.job) {}
};

/// One lane. Its worker opens, runs tasks as their manners are, and is lost, when its time has come.
class SimulatedLane final : public Lane {
 public:
  SimulatedLane(Town& town, const std::vector<std::string>& launch);
  ~SimulatedLane() override;
  SimulatedLane(const SimulatedLane&) = delete;
  SimulatedLane& operator=(const SimulatedLane&) = delete;

  int read_fd() const noexcept override { return -1; }
  int write_fd() const noexcept override { return -1; }
  bool wants_write() const noexcept override { return false; }
  Clock::time_point next_deadline() const noexcept override { return Clock::time_point::max(); }
  void send(const TaskRequest& task) override;
  void kill(std::uint64_t id, int signal) override;
  void pause() override;
  void resume() override;
  void finish() override;
  void pump(Clock::time_point now, std::vector<LaneEvent>& events) override;
  bool open() const noexcept override { return phase_ == Phase::kOpening || phase_ == Phase::kReady; }
  int process() const noexcept override { return process_ends_ > town_.now ? 1 : -1; }

  /// When something happens next.
  Clock::time_point next() const;
  /// Nothing happened for a while, here too.
  void shift(Clock::duration time);

 private:
  static constexpr Clock::time_point kNever = Clock::time_point::max();
  enum class Phase { kOpening, kReady, kOver };
  struct Task {
    Manner manner{};
    std::size_t number = 0;
    TaskRecord record;
    Clock::time_point ends = kNever;
    bool told = false;          ///< that it started
    std::uint64_t holding = 0;  ///< in the town's ledger; 0: none
  };

  void lose(const std::string& why, bool not_found, std::vector<LaneEvent>& events);
  Task make_task(const TaskRequest& request);

  Town& town_;
  bool is_far_ = false;
  std::size_t capacity_ = 1;  ///< slots
  LaneManner manner_;
  Phase phase_ = Phase::kOpening;
  Clock::time_point opens_ = kNever;
  Clock::time_point fails_ = kNever;
  Clock::time_point lost_ = kNever;
  Clock::time_point process_ends_ = kNever;
  std::optional<Clock::time_point> paused_;
  std::map<std::uint64_t, Task> tasks_;
  bool finishing_ = false;
};

}  // namespace allot::worlds
