// The state of a dispatcher. Its methods are in dispatcher.cpp (for every task), dispatcher_changes.cpp
// (changes) and dispatcher_plans.cpp (estimates and plans).
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
  ResourceId take_trial(TaskType i, Mine mine) noexcept;
  void placed(Ticket& ticket, TaskType i, ResourceId j, bool explores, std::uint64_t now_ns,
              Mine mine) noexcept;
  void leave(const Ticket& ticket, Mine mine) noexcept;
  void count(const Ticket& ticket, std::uint64_t more, Mine mine) noexcept;
  void count_by_slot(const Ticket& ticket, std::uint64_t more, Mine mine) noexcept;
  float expected_ns(TaskType i, ResourceId j, Mine mine) noexcept;
  /// Counts a place that no decision has taken. If tasks are counted by slot, the ticket does it.
  void count_place(TaskType i, ResourceId j) noexcept {
    if (!by_slot) counts.places.add(i, j);
  }
  ResourceId choose(TaskType i, std::uint64_t now_ns, Mine mine) noexcept;
  ResourceId choose_in_large(TaskType i, detail::ActivePlan& plan, std::uint64_t now_ns, Mine mine) noexcept;
  ResourceId choose_by_own_counts(TaskType i, const detail::ActivePlan& plan, Count* tasks,
                                  Mine mine) noexcept;
  ResourceId choose_by_loads(TaskType i, const detail::ActivePlan& plan, Count* loads, double* work,
                             std::uint64_t now_ns, Mine mine) noexcept;
  void add_others(std::span<Count> loads, std::uint64_t now_ns, Mine mine) noexcept;
  ResourceId choose(TaskType i, detail::ActivePlan& plan, const Scratch& scratch, Mine mine) noexcept;
  ResourceId ask(TaskType i, const detail::ActivePlan& plan, const Situation& situation, PolicyMemory memory,
                 Mine mine) noexcept;
  void look(const detail::ActivePlan& plan, const Scratch& scratch) noexcept;
  ResourceId shortest_open(TaskType i) noexcept;
  std::uint64_t since_made(Clock::time_point now) const noexcept {
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now - made).count();
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }

  // ---- planning: dispatcher_plans.cpp
  /// Locks `known` for a change; the only way to change it. Wakes the planner after unlocking.
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
  const Looks looks = policy.looks_at;
  const bool by_slot = detail::counts_by_slot(looks);
  const Situation nothing{};  ///< copied, which is faster than constructing one
  Clock::time_point made;
  StopFlag stop_solving{false};
  /// Where the planner's latest solve of `planned` ended.
  std::shared_ptr<PlanBasis> plan_basis = std::make_shared<PlanBasis>();
  std::uint64_t plans = 0;
  std::atomic<std::uint64_t> published{1};  ///< the number of the present plan
  Clock::time_point planned;                ///< when the present plan was made
  bool hasty = false;                       ///< the plan was made quickly, and there may be a better one

  detail::SharedCounts counts;
  std::mutex mutex;  ///< guards `known` and `active`; never held while solving
  detail::KnownSystem known;
  detail::Published<detail::ActivePlan> active;

  std::mutex solve_mutex;  ///< one solve at a time
  std::mutex wake_mutex;   ///< guards the members below
  std::condition_variable awake;
  bool woken = false;
  bool stopping = false;
  std::atomic<bool> tasks_ended{false};  ///< since the previous look
  std::thread planner;
};

}  // namespace allot
