// The policy in one scheduling context of StarPU: its tasks, workers and plans.
#pragma once

#include <starpu.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/dispatch/dispatcher.hpp"
#include "integrations/starpu/buses.hpp"
#include "integrations/starpu/placement.hpp"
#include "integrations/starpu/planner.hpp"
#include "integrations/starpu/settings.hpp"
#include "integrations/starpu/statistics.hpp"
#include "integrations/starpu/types.hpp"
#include "integrations/starpu/worker_groups.hpp"

namespace allot::starpu {

/// Makes a new plan if one is due; returns whether it did. Tests replace it.
using Solve = std::function<bool(Dispatcher&)>;

/// One for each scheduling context. Its methods are StarPU's callbacks, called from any thread.
///
/// One lock guards everything except the planning, which has its own thread. Workers take the lock in
/// StarPU's relaxed state, so that a thread that waits for a worker does not also wait for the lock. A worker
/// that repeatedly asks without success, like StarPU's idle workers, does not even take the lock.
class Context {
 public:
  /// `policy` is one of the library's, such as "map".
  Context(unsigned id, std::string_view policy, Settings settings, Solve solve = {});
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Stops everything and writes the statistics, if requested. Must be the last call.
  void finish();

  void add_workers(const int* workers, unsigned count);
  void remove_workers(const int* workers, unsigned count);

  /// A task is ready. It is always accepted: if no worker can run it now, it waits for one that can.
  void push(starpu_task* task);
  /// A task that the program has bound to a worker is ready. StarPU tells every context of the worker, even
  /// if the task belongs to another context.
  void push_bound(starpu_task* task, int worker);
  /// The next task for the calling worker, or null.
  starpu_task* pop();
  /// Tasks that wait in lines now. Lock-free.
  Count waiting() const noexcept { return waiting_.load(std::memory_order_relaxed); }
  /// Tasks that have arrived and not ended, without those that no worker can run.
  Count open() const;
  void begin(starpu_task* task);
  void end(starpu_task* task);

 private:
  struct Worker {
    std::atomic<bool> here{false};
    ResourceId resource{};                ///< while here
    std::atomic<bool> idle{false};        ///< asked without success
    std::atomic<std::uint64_t> asked{0};  ///< `changes_` when it asked without success
    std::atomic<double> ask_again{0};     ///< when to ask again even if nothing has changed
    std::atomic<std::uint32_t> taken{0};  ///< number of its tasks
    WaitingTask* first = nullptr;         ///< its tasks, in the order it took them
    WaitingTask* last = nullptr;
    double free_since = 0;        ///< when its latest task ended
    bool missed = false;          ///< the latest look did not find it in the context
    bool taken_for_gone = false;  ///< the planner considers it gone; StarPU has not said so
  };
  struct Type {
    std::string name;
    ResourceSet able = 0;               ///< for tasks that are not choosy
    std::uint64_t workers_version = 0;  ///< the version that `able` is for
    bool planned = true;                ///< false: the common type for all that came too late for a plan
    TaskData data;                      ///< of its first task
    std::vector<double> rates;          ///< the rates from which its needs were computed, by resource; empty:
                                        ///< not yet
  };

  // With the lock held.
  TaskType make_type(const TypeKey& key, starpu_task* task);
  TaskType add_type(const std::string& name, std::vector<RatePrior> priors);
  std::string free_name(const std::string& name) const;
  std::vector<RatePrior> priors(starpu_task* task, const std::string& name) const;
  ResourceSet able(starpu_task* task) const;
  ResourceSet able(starpu_task* task, TaskType i, bool choosy);
  void add_worker(int id);
  void add(std::span<const int> workers);
  void remove(std::span<const int> workers);
  void reconcile_workers();
  Resource resource(const WorkerGroups::Group& group) const;
  HeldTask* admit(starpu_task* task);
  void place(HeldTask& held);
  void park(starpu_task* task);
  void forget(HeldTask& held);
  void give_back_ticket(const HeldTask& held);
  HeldTask* held_of(const starpu_task* task) const noexcept;
  int fetches_ahead(const HeldTask& held) const;
  int sleeper(const HeldTask& held) const noexcept;
  static void take_on(Worker& worker, HeldTask& held, double now);
  static HeldTask& take_off(Worker& worker);
  void close(HeldTask& held, std::optional<double> seconds, Clock::time_point now);
  void close_left_over(Worker& worker, const HeldTask* until, std::size_t keep, Clock::time_point now);
  void changed() noexcept;

  bool look();
  void find_devices();
  void say_needs();
  void wake_sleepers();
  void plan_failed(const std::string& why);
  void say_plan(const Plan& plan) const;
  void remember(std::shared_ptr<const Plan> plan);
  Report report(Clock::time_point now) const;

  const unsigned id_;
  const PolicyInfo& policy_;
  const Settings settings_;
  const bool wants_shares_;  ///< types have shares
  const Solve solve_;

  mutable std::mutex mutex_;  ///< guards all members below
  WorkerGroups groups_;
  std::uint64_t workers_version_ = 1;
  TypeTable table_;
  std::vector<Type> types_;
  std::unique_ptr<Dispatcher> dispatcher_;  ///< from the first task on
  std::vector<Device> devices_;             ///< devices whose buses and memory are part of the plan
  std::optional<Buses> buses_;              ///< between device memory and main memory
  Placement placement_;
  TaskPool<HeldTask> held_;
  std::vector<starpu_task*> parked_;
  std::array<Worker, STARPU_NMAXWORKERS> workers_;
  Tally tally_;
  std::deque<std::pair<Clock::time_point, std::shared_ptr<const Plan>>> made_plans_;  ///< the latest plans

  std::atomic<std::uint64_t> changes_{1};  ///< counts everything that may give an idle worker a task
  std::atomic<Count> waiting_{0};          ///< in lines

  // Of the planner.
  std::vector<std::vector<Count>> peaks_;  ///< of the latest looks
  bool said_failure_ = false;
  std::uint64_t looked_ = 0;          ///< `changes_` at the latest look
  std::atomic<bool> dozing_{false};   ///< the planner looks rarely, because nothing happens
  std::unique_ptr<Planner> planner_;  ///< last: it uses all of the above
};

}  // namespace allot::starpu
