#include "allot/simulate/detail/engine.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/simulate/detail/joint_stations.hpp"
#include "allot/simulate/detail/late_lines.hpp"
#include "allot/simulate/detail/open_classes.hpp"
#include "allot/simulate/detail/separate_stations.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/simulate/detail/tracer.hpp"
#include "allot/simulate/detail/window_meter.hpp"

namespace allot::detail {
namespace {

/// Virtual clocks are reset after this many completions: often enough to lose no digits, rarely enough to
/// cost nothing.
constexpr std::uint64_t kRebaseInterval = 1 << 16;

/// The most events without a completion in one call of `run`: a policy may solve anew at each.
constexpr std::uint32_t kMostOthers = 256;

/// Creating this many threads at once takes so long that the clock must be checked meanwhile.
constexpr Count kManyAtOnce = 100'000;

template <typename Stations>
class EngineOf final : public Engine {
 public:
  static constexpr bool kJoint = Stations::kJoint;

  explicit EngineOf(const EngineSetup& setup)
      : scenario_(*setup.scenario),
        system_(setup.scenario->system),
        policy_(*setup.policy),
        sizes_(*setup.sizes),
        most_threads_(setup.most_threads),
        poll_(setup.stop != nullptr ? *setup.stop : StopLimits{}),
        types_(system_.type_count()),
        resources_(system_.resource_count()),
        threads_(sizes_, setup.seed, setup.replication),
        policy_random_(setup.seed, stream_id(Purpose::kPolicy, setup.replication)),
        looks_at_sizes_(setup.policy->looks_at_sizes()),
        open_(setup.scenario->arrivals, setup.seed, setup.replication),
        late_(setup.policy->bind_late(), types_, setup.scenario->threads.size()),
        meter_(types_, resources_, kJoint ? system_.capacity_count() : 0, setup.scenario->threads),
        tracer_(system_, threads_, late_.are_used()) {
    counts_.assign(types_, resources_, 0);
    totals_.assign(resources_, 0);
    population_.assign(types_, 0);
    retiring_.assign(types_, 0);
    memory_.assign(policy_.memory_size(), 0);
    if (looks_at_sizes_) remaining_.assign(resources_, 0.0);
    situation_ = {&system_, counts_.values(), totals_, remaining_, late_.waiting()};
    plan_ = scenario_.population;
    std::stable_sort(plan_.begin(), plan_.end(),
                     [](const PopulationChange& a, const PopulationChange& b) { return a.at < b.at; });
    make_threads();
    threads_.are_founders();
    if (!setup.policy_is_shared) policy_.set_population(population_);
    if (late_.are_used()) late_.renew();
    if (kJoint) startable_.assign(types_, 0);
    stations_.emplace(system_,
                      StationsSetup{late_.are_used(), !policy_.time_shares().empty(), setup.exact_shares});
    set_shares();
    enter_all(setup.random_start);
    settle_joint();
    begin_window();
  }

  std::uint64_t run(std::uint64_t completions) override {
    const bool plain = constant_ && !tracer_.is_on() && !looks_at_sizes_ && !late_.are_used();
    if (!plain) return run_loop<false, Mix::kAny>(completions);
    switch (stations_->mix()) {
      case Mix::kShared:
        return run_loop<true, Mix::kShared>(completions);
      case Mix::kSingle:
        return run_loop<true, Mix::kSingle>(completions);
      case Mix::kAny:
        break;
    }
    return run_loop<true, Mix::kAny>(completions);
  }

  /// kPlain: constant populations, no trace, and a policy that does not look at sizes.
  template <bool kPlain, Mix kMix>
  std::uint64_t run_loop(std::uint64_t completions) {
    std::uint64_t done = 0;
    std::uint32_t others = 0;
    while (done < completions && others < kMostOthers) {
      const std::size_t slot = stations_->first();
      const double at = stations_->due(slot);
      if (at >= external_) {
        if (external_ == kNever) break;
        now_ = external_;
        external_event();
        settle_joint();
        ++others;
        continue;
      }
      now_ = at;
      ThreadId id = 0;
      const std::size_t j = stations_->resource_of(slot);
      if (!stations_->template leave<kMix>(slot, at, id)) {
        ask_and_settle(j);
        settle_joint();
        ++others;
        continue;
      }
      complete<kPlain, kMix>(id, j);
      settle_joint();
      ++done;
    }
    return done;
  }

  bool dry() const noexcept override {
    return external_ == kNever && stations_->due(stations_->first()) == kNever;
  }
  double now() const noexcept override { return now_; }
  const Window& counted() const noexcept override { return meter_.counted(); }
  double response_sum() const noexcept override { return meter_.response_sum(); }
  const LogHistogram& responses() const noexcept override { return meter_.responses(); }
  std::uint64_t fewest_turns() const noexcept override {
    return threads_.fewest_turns(
        [&](const Thread& thread) { return late_.serve(thread.type, thread.group); });
  }
  void begin_window() override { meter_.begin(now_, threads_.ages(now_)); }
  Window end_window() override {
    count_population();
    return meter_.end(now_, threads_.ages(now_), threads_.oldest(now_));
  }

  void set_trace(TraceSink* sink) override { tracer_.begin(sink, *stations_, now_); }

 private:
  ThreadId new_thread(TaskType type) {
    if (threads_.is_full(most_threads_)) fail_full();
    const ThreadId id = threads_.add(static_cast<std::uint32_t>(index(type)));
    ++population_[index(type)];
    return id;
  }

  void look_at_stop() {
    if (poll_.should_stop()) throw StoppedEarly();
  }

  [[noreturn]] void fail_full() const {
    throw InvalidModel(scenario_.arrivals.empty() ? "tasks" : "arrivals",
                       std::to_string(threads_.size()) +
                           " tasks are in the system at once, and there is no memory for more" +
                           (scenario_.arrivals.empty() ? "" : "; more arrive than complete"));
  }

  void make_threads() {
    const auto expected =
        static_cast<std::size_t>(std::min<double>(threads_of(scenario_), static_cast<double>(most_threads_)));
    threads_.reserve(expected);
    for (const TaskType i : system_.types()) {
      for (Count n = 0; n < system_.count(i); ++n) {
        look_at_stop();
        new_thread(i);
      }
    }
    for (std::size_t group = 0; group < scenario_.threads.size(); ++group) {
      for (Count n = 0; n < scenario_.threads[group].count; ++n) {
        look_at_stop();
        const ThreadId id = new_thread(scenario_.threads[group].sequence.front());
        threads_[id].group = static_cast<std::uint32_t>(group);
      }
    }
    schedule_external();
  }

  void set_shares() {
    if constexpr (!kJoint) stations_->set_shares(policy_, types_, now_);
  }

  /// The threads enter the empty system one by one.
  void enter_all(bool random_order) {
    for (const ThreadId id : threads_.entry_order(random_order)) {
      look_at_stop();
      begin(id);
    }
  }

  template <bool kPlain>
  double next_size(ThreadId id) noexcept {
    const Thread& thread = threads_[id];
    if (!kPlain && thread.open != kNone) return open_.next_size(thread.open, sizes_);
    return threads_.next_size(id);
  }

  /// The thread's next task is ready.
  void begin(ThreadId id) {
    if (!late_.are_used()) {
      settle(place(id));
      return;
    }
    wait(id);
    ask_all();
  }

  /// The thread's next task waits until a resource takes it. The caller asks free resources.
  void wait(ThreadId id) {
    Thread& thread = threads_[id];
    thread.size = next_size<false>(id);
    thread.entered = now_;
    thread.resource = kNone;
    late_.wait(thread.type, thread.group, id);
  }

  /// With needs: the tasks of each type that could start at the resource now. Returns whether there are any.
  template <typename Taker>
  bool find_startable(std::size_t j, [[maybe_unused]] const Taker& taker) {
    if constexpr (kJoint) {
      situation_.waiting = startable_;
      situation_.ready = late_.waiting();
      situation_.free = stations_->free();
      return stations_->find_startable(j, late_.waiting(), startable_);
    } else {
      return taker.has_room();
    }
  }

  /// A resource with free servers takes waiting tasks. Returns whether anything has changed there.
  bool ask(std::size_t j) {
    auto&& taker = stations_->taker(j);
    const double wake = std::exchange(taker.wake, kNever);
    bool took = false;
    situation_.now = now_;
    while (find_startable(j, taker)) {
      const std::optional<ThreadId> id = late_.take(resource_id(j), situation_, policy_random_);
      if (!id) {
        taker.wake = late_.ask_again(resource_id(j));
        break;
      }
      Thread& thread = threads_[*id];
      thread.resource = static_cast<std::uint32_t>(j);
      thread.task = tasks_placed_++;
      ++counts_(task_type(thread.type), resource_id(j));
      ++totals_[j];
      taker.enter(now_, job_of(*id));
      if (tracer_.is_on()) tracer_.placed(*id, now_);
      took = true;
    }
    return took || taker.wake != wake;
  }

  void ask_and_settle(std::size_t j) {
    if constexpr (kJoint) {
      if (!late_.are_used()) return;
      stations_->begin_asking(now_);
      ask(j);  // before others take what has just become free
      ask_all();
    } else {
      if (late_.are_used()) ask(j);
      settle(j);
    }
  }

  void ask_all() {
    if constexpr (kJoint) {
      stations_->begin_asking(now_);
      // A resource that gave way to a task elsewhere may take another one once that task has been taken.
      for (std::uint64_t before = ~tasks_placed_; before != tasks_placed_;) {
        before = tasks_placed_;
        for (std::size_t j = 0; j < resources_; ++j) ask(j);
      }
    } else {
      for (std::size_t j = 0; j < resources_; ++j) {
        if (ask(j)) settle(j);
      }
    }
  }

  Job job_of(ThreadId id) const noexcept {
    const Thread& thread = threads_[id];
    return {id, thread.type,
            thread.size * system_.seconds_per_task(task_type(thread.type), resource_id(thread.resource))};
  }

  /// The thread's next task enters the resource chosen by the policy. The caller settles that resource.
  template <bool kPlain = false, Mix kMix = Mix::kAny>
  std::size_t place(ThreadId id) {
    Thread& thread = threads_[id];
    const TaskType type = task_type(thread.type);
    if (!kPlain && looks_at_sizes_) {
      for (std::size_t j = 0; j < resources_; ++j) {
        remaining_[j] = stations_->remaining(j, now_);
      }
    }
    const std::size_t j = index(policy_.place(type, situation_, memory_, policy_random_));
    thread.size = next_size<kPlain>(id);
    thread.entered = now_;
    thread.resource = static_cast<std::uint32_t>(j);
    thread.task = tasks_placed_++;
    ++counts_(type, resource_id(j));
    ++totals_[j];
    stations_->template enter<kMix>(j, now_, job_of(id));
    if (!kPlain && tracer_.is_on()) tracer_.placed(id, now_);
    return j;
  }

  template <bool kPlain = false, Mix kMix = Mix::kAny>
  void settle(std::size_t j) {
    settle_here<kPlain, kMix>(j);
  }

  template <bool kPlain, Mix kMix>
  [[gnu::always_inline]] void settle_here(std::size_t j) {
    if constexpr (!kJoint) {
      double busy = 0;
      stations_->template settle<kMix>(j, now_, [&](auto& station) {
        busy = station.busy;
        if constexpr (kPlain && kMany && requires { station.next_thread(); })
          threads_.fetch(station.next_thread());
      });
      meter_.set_busy(j, busy, now_);
      if (!kPlain && tracer_.is_on()) tracer_.started(now_);
    }
  }

  /// Settles all changes at this moment if they affect several resources at once.
  [[gnu::always_inline]] void settle_joint() {
    if constexpr (kJoint) {
      stations_->settle(
          now_, [&](std::size_t r, double used) { meter_.set_used(r, used, now_); },
          [&](std::size_t j, double busy) { meter_.set_busy(j, busy, now_); });
      if (tracer_.is_on()) tracer_.started(now_);
    }
  }

  template <bool kPlain, Mix kMix>
  [[gnu::always_inline]] void complete(ThreadId id, std::size_t j) {
    Thread& thread = threads_[id];
    const double response = now_ - thread.entered;
    meter_.complete(thread.type, j, response);
    --counts_(task_type(thread.type), resource_id(j));
    --totals_[j];
    if (--until_rebase_ == 0) rebase();
    if constexpr (!kPlain) {
      if (tracer_.is_on()) tracer_.completed(id, now_, response);
      if (late_.are_used()) late_.binding().served(task_type(thread.type), resource_id(j), job_of(id).work);
      const bool is_over = !constant_ && !goes_on(id);
      if (is_over || late_.are_used()) {
        if (!is_over) wait(id);
        ask_and_settle(j);
        if (late_.are_used()) ask_all();
        return;
      }
    }
    const std::size_t to = place<kPlain, kMix>(id);
    settle_here<kPlain, kMix>(j);
    if (to != j) settle<kPlain, kMix>(to);
  }

  /// After a completion with varying populations: whether the thread has another task, and of which type.
  bool goes_on(ThreadId id) {
    Thread& thread = threads_[id];
    const std::uint32_t before = thread.type;
    if (thread.open != kNone || (thread.group == kNone && retiring_[before] > 0)) {
      if (thread.open == kNone) --retiring_[before];
      threads_.remove(id);
      count_population();
      --population_[before];
      population_changed();
      return false;
    }
    if (thread.group == kNone) return true;
    const std::vector<TaskType>& sequence = scenario_.threads[thread.group].sequence;
    meter_.complete_step(thread.group, thread.step);
    thread.step = thread.step + 1 == sequence.size() ? 0 : thread.step + 1;
    thread.type = static_cast<std::uint32_t>(index(sequence[thread.step]));
    if (thread.type != before) {
      --population_[before];
      ++population_[thread.type];
      population_changed();
    }
    return true;
  }

  void population_changed() {
    policy_.set_population(population_);
    if (late_.are_used()) late_.renew();
    if (policy_.time_shares().empty()) return;
    set_shares();
    for (std::size_t j = 0; j < resources_; ++j) settle(j);
  }

  void schedule_external() noexcept {
    external_ = std::min(next_change_ < plan_.size() ? plan_[next_change_].at : kNever, open_.next());
    constant_ = scenario_.is_static();
  }

  /// A change of the population plan, or an arrival.
  void external_event() {
    while (next_change_ < plan_.size() && plan_[next_change_].at <= now_) {
      const PopulationChange& change = plan_[next_change_++];
      count_population();
      if (change.change < 0) {
        retiring_[index(change.task)] -= change.change;  // each leaves when its task is done
        continue;
      }
      std::vector<ThreadId> born;
      for (Count n = 0; n < change.change; ++n) {
        if (change.change > kManyAtOnce) look_at_stop();
        if (retiring_[index(change.task)] > 0) {
          --retiring_[index(change.task)];  // a thread that should leave stays
        } else {
          born.push_back(new_thread(change.task));
        }
      }
      population_changed();
      for (const ThreadId id : born) begin(id);
    }
    for (std::size_t open = 0; open < open_.size(); ++open) {
      if (open_.next(open) > now_) continue;
      count_population();
      const ThreadId id = new_thread(open_.task(open));
      threads_[id].open = static_cast<std::uint32_t>(open);
      population_changed();
      begin(id);
      open_.draw(open, now_);
    }
    schedule_external();
  }

  void count_population() noexcept { meter_.count_population(population_, now_); }

  void rebase() noexcept {
    until_rebase_ = kRebaseInterval;
    stations_->rebase();
  }

  static constexpr bool kMany = std::is_same_v<typename Stations::Queue, HeapQueue>;

  const Scenario& scenario_;
  const System& system_;
  Policy& policy_;
  const Distribution& sizes_;
  std::uint64_t most_threads_;
  StopPoll poll_;  // while threads are made and enter
  std::size_t types_;
  std::size_t resources_;

  double now_ = 0;
  double external_ = kNever;          // the next moment that is not a completion
  std::optional<Stations> stations_;  // made once the policy knows the population
  Threads threads_;

  PerPair<Count> counts_;
  std::vector<Count> totals_;
  std::vector<double> remaining_;
  Situation situation_;
  std::vector<std::uint32_t> memory_;
  RandomStream policy_random_;
  bool looks_at_sizes_;

  bool constant_ = true;  // every thread always runs the same type
  std::vector<Count> population_;
  std::vector<Count> retiring_;
  std::vector<PopulationChange> plan_;
  std::size_t next_change_ = 0;
  OpenClasses open_;

  LateLines late_;
  std::vector<Count> startable_;  // by type, at the resource that is asked; if tasks have needs
  WindowMeter meter_;
  std::uint64_t until_rebase_ = kRebaseInterval;

  Tracer tracer_;
  std::uint64_t tasks_placed_ = 0;
};

template <template <typename, typename> class Stations>
std::unique_ptr<Engine> make_engine_with(const EngineSetup& setup, std::size_t slots) {
  // For some tens of tasks and resources, scanning is faster than any data structure. Open classes may
  // accumulate any number of tasks.
  const bool few_tasks = threads_of(*setup.scenario) <= 64 && setup.scenario->arrivals.empty();
  const bool few_slots = slots <= 12;
  if (few_tasks && few_slots) return std::make_unique<EngineOf<Stations<ScanQueue, DueScan>>>(setup);
  if (few_tasks) return std::make_unique<EngineOf<Stations<ScanQueue, DueTree>>>(setup);
  if (few_slots) return std::make_unique<EngineOf<Stations<HeapQueue, DueScan>>>(setup);
  return std::make_unique<EngineOf<Stations<HeapQueue, DueTree>>>(setup);
}

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineSetup& setup) {
  const System& system = setup.scenario->system;
  if (!system.has_needs()) return make_engine_with<SeparateStations>(setup, system.resource_count());
  return make_engine_with<JointStations>(setup, (system.type_count() + 1) * system.resource_count());
}

}  // namespace allot::detail
