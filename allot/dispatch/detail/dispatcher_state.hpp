// What a dispatcher consists of. Its methods are in dispatcher.cpp (every task), dispatcher_changes.cpp (what
// changes) and dispatcher_plans.cpp (what is known and planned).
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "allot/dispatch/detail/active_plan.hpp"
#include "allot/dispatch/detail/known_system.hpp"
#include "allot/dispatch/detail/published.hpp"
#include "allot/dispatch/detail/shared_counts.hpp"
#include "allot/dispatch/dispatcher.hpp"

namespace allot {

struct Dispatcher::State {
  State(std::vector<Resource> resources, std::vector<TaskClass> types, const std::vector<RatePrior>& priors,
        DispatcherOptions given_options, Clock::time_point now);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // ---- for every task: dispatcher.cpp
  struct Mine;
  struct Scratch;
  ResourceId choose(TaskType i, const Mine& mine) noexcept;
  ResourceId choose_in_large(TaskType i, detail::ActivePlan& plan, const Mine& mine) noexcept;
  ResourceId choose_by_own_counts(TaskType i, const detail::ActivePlan& plan, Count* tasks,
                                  const Mine& mine) noexcept;
  ResourceId choose(TaskType i, detail::ActivePlan& plan, const Scratch& scratch, const Mine& mine) noexcept;
  ResourceId ask(TaskType i, const detail::ActivePlan& plan, const Situation& situation, PolicyMemory memory,
                 const Mine& mine) noexcept;
  void look(const detail::ActivePlan& plan, const Scratch& scratch) noexcept;
  ResourceId shortest_open(TaskType i) noexcept;
  std::uint64_t since_made(Clock::time_point now) const noexcept {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - made).count();
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }

  // ---- planning: dispatcher_plans.cpp
  /// What is known, locked for a change: the one way to it. The planner is woken once the lock is free again.
  class Change {
   public:
    explicit Change(State& state) : state_(state), lock_(state.mutex) {}
    ~Change() {
      lock_.unlock();
      state_.wake();
    }
    Change(const Change&) = delete;
    Change& operator=(const Change&) = delete;
    detail::KnownSystem& operator*() const noexcept { return state_.known; }
    detail::KnownSystem* operator->() const noexcept { return &state_.known; }

   private:
    State& state_;
    std::unique_lock<std::mutex> lock_;
  };
  void wake();
  void plan_in_background();
  bool solve(Clock::time_point now, bool always);
  /// With the lock held.
  void look(Clock::time_point now);
  PolicyOptions solve_options() const;
  std::unique_ptr<detail::ActivePlan> first_plan();
  std::unique_ptr<detail::ActivePlan> stale(const std::string& why);

  const DispatcherOptions options;
  const PolicyInfo& policy;
  Clock::time_point made;
  StopFlag stop_solving{false};
  /// Where the planner's latest solve of `planned` ended.
  std::shared_ptr<PlanBasis> plan_basis = std::make_shared<PlanBasis>();
  std::uint64_t plans = 0;
  std::atomic<std::uint64_t> published{1};  ///< the number of the present plan
  Clock::time_point planned;                ///< when the present plan was made
  bool hasty = false;                       ///< it was made quickly, and there may be a better one

  detail::SharedCounts counts;
  std::mutex mutex;  ///< over what follows: never held while solving
  detail::KnownSystem known;
  detail::Published<detail::ActivePlan> active;

  std::mutex solve_mutex;  ///< one solve at a time
  std::mutex wake_mutex;   ///< over what follows
  std::condition_variable awake;
  bool woken = false;
  bool stopping = false;
  std::atomic<bool> tasks_ended{false};  ///< since the look before
  std::thread planner;
};

}  // namespace allot
