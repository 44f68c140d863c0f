#include "allot/simulate/detail/engine.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/simulate/detail/open_classes.hpp"
#include "allot/simulate/detail/stations.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/simulate/detail/window_meter.hpp"

namespace allot::detail {
namespace {

/// After so many completions virtual clocks are set back: often enough for every digit, rarely enough for
/// free.
constexpr std::uint64_t kRebaseInterval = 1 << 16;

/// Events that complete nothing, in one call of `run`: each may have a policy solve anew.
constexpr std::uint32_t kMostOthers = 256;

/// Threads born at one moment that take longer than the caller may wait to look at the clock.
constexpr Count kManyAtOnce = 100'000;

/// Which stations a loop may meet. Where all are of one kind, it need not ask.
enum class Mix { kAny, kShared, kSingle };

template <typename Queue, typename Due>
class EngineOf final : public Engine {
 public:
  explicit EngineOf(const EngineSetup& setup)
      : scenario_(*setup.scenario),
        system_(setup.scenario->system),
        policy_(*setup.policy),
        sizes_(*setup.sizes),
        seed_(setup.seed),
        replication_(setup.replication),
        exact_shares_(setup.exact_shares),
        most_threads_(setup.most_threads),
        poll_(setup.stop != nullptr ? *setup.stop : StopLimits{}),
        types_(system_.type_count()),
        resources_(system_.resource_count()),
        due_(resources_),
        threads_(sizes_, setup.seed, setup.replication),
        policy_random_(setup.seed, stream_id(Purpose::kPolicy, setup.replication)),
        looks_at_sizes_(setup.policy->looks_at_sizes()),
        open_(setup.scenario->arrivals, setup.seed, setup.replication),
        meter_(types_, resources_, setup.scenario->threads) {
    counts_.assign(types_, resources_, 0);
    totals_.assign(resources_, 0);
    population_.assign(types_, 0);
    retiring_.assign(types_, 0);
    memory_.assign(policy_.memory_size(), 0);
    if (looks_at_sizes_) remaining_.assign(resources_, 0.0);
    situation_ = {&system_, counts_.values(), totals_, remaining_};
    plan_ = scenario_.population;
    std::stable_sort(plan_.begin(), plan_.end(),
                     [](const PopulationChange& a, const PopulationChange& b) { return a.at < b.at; });
    make_threads();
    threads_.are_founders();
    if (!setup.policy_is_shared) policy_.set_population(population_);
    make_stations();
    enter_all(setup.random_start);
    begin_window();
  }

  std::uint64_t run(std::uint64_t completions) override {
    const bool plain = constant_ && trace_ == nullptr && !looks_at_sizes_;
    if (!plain) return run_loop<false, Mix::kAny>(completions);
    switch (mix_) {
      case Mix::kShared:
        return run_loop<true, Mix::kShared>(completions);
      case Mix::kSingle:
        return run_loop<true, Mix::kSingle>(completions);
      case Mix::kAny:
        break;
    }
    return run_loop<true, Mix::kAny>(completions);
  }

  /// kPlain: constant populations, nobody watches single events, and the policy does not look at sizes.
  template <bool kPlain, Mix kMix>
  std::uint64_t run_loop(std::uint64_t completions) {
    std::uint64_t done = 0;
    std::uint32_t others = 0;
    while (done < completions && others < kMostOthers) {
      const std::size_t j = due_.first();
      const double at = due_.due(j);
      if (at >= external_) {
        if (external_ == kNever) break;
        now_ = external_;
        external_event();
        ++others;
        continue;
      }
      now_ = at;
      ThreadId id = 0;
      if (!use_station<kMix>(j, [&](auto& station) { return station.leave(at, id); })) {
        settle(j);
        ++others;
        continue;
      }
      complete<kPlain, kMix>(id, j);
      ++done;
    }
    return done;
  }

  bool dry() const noexcept override { return external_ == kNever && due_.due(due_.first()) == kNever; }
  double now() const noexcept override { return now_; }
  const Window& counted() const noexcept override { return meter_.counted(); }
  double response_sum() const noexcept override { return meter_.response_sum(); }
  const LogHistogram& responses() const noexcept override { return meter_.responses(); }
  std::uint64_t fewest_turns() const noexcept override { return threads_.fewest_turns(); }
  void begin_window() override { meter_.begin(now_, threads_.ages(now_)); }
  Window end_window() override {
    count_population();
    return meter_.end(now_, threads_.ages(now_), threads_.oldest(now_));
  }

  void set_trace(TraceSink* sink) override {
    trace_ = sink;
    for (Station<Queue>& station : stations_) {
      std::vector<ThreadId>* list = sink != nullptr ? &started_ : nullptr;
      with_station(station, [&](auto& s) {
        if constexpr (requires { s.started; }) s.started = list;
      });
    }
    if (sink != nullptr) trace_present();
  }

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

  void make_stations() {
    const bool weighted = !policy_.time_shares().empty();
    for (const Resource& resource : system_.resources()) {
      stations_.push_back(make_station<Queue>(resource, types_, weighted, exact_shares_));
    }
    const auto all_are = [&](std::size_t kind) {
      return std::all_of(stations_.begin(), stations_.end(),
                         [&](const Station<Queue>& station) { return station.index() == kind; });
    };
    mix_ = all_are(0) ? Mix::kShared : all_are(1) ? Mix::kSingle : Mix::kAny;
    update_shares();
  }

  /// Calls `use` with the station of a resource.
  template <Mix kMix, typename Use>
  [[gnu::always_inline]] decltype(auto) use_station(std::size_t j, Use&& use) {
    Station<Queue>& station = stations_[j];
    if constexpr (kMix == Mix::kAny) {
      return with_station(station, use);
    } else {
      constexpr std::size_t kKind = kMix == Mix::kShared ? 0 : 1;
      if (station.index() != kKind) __builtin_unreachable();
      return use(*std::get_if<kKind>(&station));
    }
  }

  /// Tells weighted stations the policy's time shares.
  void update_shares() {
    const PairSpan shares(policy_.time_shares(), resources_);
    const Assignment* target = policy_.target();
    if (shares.empty() || target == nullptr) return;
    std::vector<TypeShare> column(types_);
    for (std::size_t j = 0; j < resources_; ++j) {
      for (std::size_t i = 0; i < types_; ++i) {
        const double share = shares(task_type(i), resource_id(j));
        const Count tasks = (*target)(task_type(i), resource_id(j));
        column[i] = {share, tasks > 0 ? share / static_cast<double>(tasks) : share};
      }
      with_station(stations_[j], [&](auto& station) {
        if constexpr (requires { station.set_shares(now_, column); }) station.set_shares(now_, column);
      });
    }
  }

  /// The threads enter the empty system one by one.
  void enter_all(bool random_order) {
    std::vector<ThreadId> order(threads_.size());
    std::iota(order.begin(), order.end(), ThreadId{0});
    if (random_order) {
      RandomStream random(seed_, stream_id(Purpose::kStart, replication_));
      for (std::size_t left = order.size(); left > 1; --left)
        std::swap(order[left - 1], order[random.below(left)]);
      // Sizes that never vary keep the rhythm of the start for ever. So each thread begins within a task, at
      // a random point of it: replications then differ as much as the start can make them.
      if (sizes_.variance() == 0) {
        for (Thread& thread : threads_) thread.next_size *= random.uniform();
      }
    }
    for (const ThreadId id : order) {
      look_at_stop();
      const std::size_t j = place(id);
      settle(j);
    }
  }

  template <bool kPlain>
  double next_size(ThreadId id) noexcept {
    const Thread& thread = threads_[id];
    if (!kPlain && thread.open != kNone) return open_.next_size(thread.open, sizes_);
    return threads_.next_size(id);
  }

  /// The thread's next task enters the resource that the policy says. The caller settles that resource.
  template <bool kPlain = false, Mix kMix = Mix::kAny>
  std::size_t place(ThreadId id) {
    Thread& thread = threads_[id];
    const TaskType type = task_type(thread.type);
    if (!kPlain && looks_at_sizes_) {
      for (std::size_t j = 0; j < resources_; ++j) {
        remaining_[j] = with_station(stations_[j], [&](auto& station) { return station.remaining(now_); });
      }
    }
    const std::size_t j = index(policy_.place(type, situation_, memory_, policy_random_));
    thread.size = next_size<kPlain>(id);
    thread.entered = now_;
    thread.resource = static_cast<std::uint32_t>(j);
    thread.task = tasks_placed_++;
    ++counts_(type, resource_id(j));
    ++totals_[j];
    const Job job{id, thread.type, thread.size * system_.seconds_per_task(type, resource_id(j))};
    use_station<kMix>(j, [&](auto& station) { station.enter(now_, job); });
    if (!kPlain && trace_ != nullptr) trace_placement(id, now_);
    return j;
  }

  template <bool kPlain = false, Mix kMix = Mix::kAny>
  void settle(std::size_t j) {
    settle_here<kPlain, kMix>(j);
  }

  template <bool kPlain, Mix kMix>
  [[gnu::always_inline]] void settle_here(std::size_t j) {
    double busy = 0;
    use_station<kMix>(j, [&](auto& station) {
      station.settle(now_);
      due_.set(j, station.due);
      busy = station.busy;
      if constexpr (kPlain && kMany && requires { station.next_thread(); })
        threads_.fetch(station.next_thread());
    });
    meter_.set_busy(j, busy, now_);
    if (!kPlain && !started_.empty()) {
      for (const ThreadId id : started_) trace(TraceEvent::What::kStart, id, now_);
      started_.clear();
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
      if (trace_ != nullptr) trace(TraceEvent::What::kComplete, id, now_, response);
      if (!constant_ && !goes_on(id)) {
        settle(j);
        return;
      }
    }
    const std::size_t to = place<kPlain, kMix>(id);
    settle_here<kPlain, kMix>(j);
    if (to != j) settle<kPlain, kMix>(to);
  }

  /// What follows a completion where populations vary: whether the thread has another task, and of which
  /// type.
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
    if (policy_.time_shares().empty()) return;
    update_shares();
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
          --retiring_[index(change.task)];  // one that was to leave stays
        } else {
          born.push_back(new_thread(change.task));
        }
      }
      population_changed();
      for (const ThreadId id : born) settle(place(id));
    }
    for (std::size_t open = 0; open < open_.size(); ++open) {
      if (open_.next(open) > now_) continue;
      count_population();
      const ThreadId id = new_thread(open_.task(open));
      threads_[id].open = static_cast<std::uint32_t>(open);
      population_changed();
      settle(place(id));
      open_.draw(open, now_);
    }
    schedule_external();
  }

  void count_population() noexcept { meter_.count_population(population_, now_); }

  void rebase() noexcept {
    until_rebase_ = kRebaseInterval;
    for (Station<Queue>& station : stations_) with_station(station, [](auto& s) { s.rebase(); });
  }

  /// Those who are in the system already: when they were placed, and when their service began.
  void trace_present() {
    std::vector<TraceEvent> events;
    for (ThreadId id = 0; id < threads_.size(); ++id) {
      if (!threads_[id].alive) continue;
      events.push_back(event_of(TraceEvent::What::kPlace, id, threads_[id].entered));
      if (serves_at_once(id)) events.push_back(event_of(TraceEvent::What::kStart, id, threads_[id].entered));
    }
    for (Station<Queue>& station : stations_) {
      with_station(station, [&](auto& s) {
        if constexpr (requires { s.started; }) {
          s.for_each_running([&](ThreadId id, double end) {
            // Who runs does so without a break, so the beginning follows from the end, but for rounding.
            const Thread& thread = threads_[id];
            const double work =
                thread.size * system_.seconds_per_task(task_type(thread.type), resource_id(thread.resource));
            const double start = std::clamp(end - work, thread.entered, now_);
            events.push_back(event_of(TraceEvent::What::kStart, id, start));
          });
        }
      });
    }
    std::stable_sort(events.begin(), events.end(), [](const TraceEvent& a, const TraceEvent& b) {
      if (a.time != b.time) return a.time < b.time;
      return a.task != b.task ? a.task < b.task : a.what < b.what;
    });
    for (const TraceEvent& event : events) trace_->event(event);
  }

  TraceEvent event_of(TraceEvent::What what, ThreadId id, double time, double response = 0) const {
    const Thread& thread = threads_[id];
    return {what,        time,    thread.task, id, task_type(thread.type), resource_id(thread.resource),
            thread.size, response};
  }

  bool serves_at_once(ThreadId id) const noexcept {
    return system_.resource(resource_id(threads_[id].resource)).discipline == Discipline::kPs;
  }

  void trace(TraceEvent::What what, ThreadId id, double time, double response = 0) {
    trace_->event(event_of(what, id, time, response));
  }

  void trace_placement(ThreadId id, double time) {
    trace(TraceEvent::What::kPlace, id, time);
    if (serves_at_once(id)) trace(TraceEvent::What::kStart, id, time);
  }

  static constexpr bool kMany = std::is_same_v<Queue, HeapQueue>;

  const Scenario& scenario_;
  const System& system_;
  Policy& policy_;
  const Distribution& sizes_;
  std::uint64_t seed_;
  std::uint32_t replication_;
  bool exact_shares_;
  std::uint64_t most_threads_;
  StopPoll poll_;  // while threads are made and enter
  std::size_t types_;
  std::size_t resources_;

  double now_ = 0;
  double external_ = kNever;  // the next moment that is not a completion
  Due due_;
  std::vector<Station<Queue>> stations_;
  Mix mix_ = Mix::kAny;
  Threads threads_;

  PerPair<Count> counts_;
  std::vector<Count> totals_;
  std::vector<double> remaining_;
  Situation situation_;
  std::vector<std::uint32_t> memory_;
  RandomStream policy_random_;
  bool looks_at_sizes_;

  bool constant_ = true;  // every thread runs one type for ever
  std::vector<Count> population_;
  std::vector<Count> retiring_;
  std::vector<PopulationChange> plan_;
  std::size_t next_change_ = 0;
  OpenClasses open_;

  WindowMeter meter_;
  std::uint64_t until_rebase_ = kRebaseInterval;

  TraceSink* trace_ = nullptr;
  std::uint64_t tasks_placed_ = 0;
  std::vector<ThreadId> started_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const EngineSetup& setup) {
  const System& system = setup.scenario->system;
  const double threads = threads_of(*setup.scenario);
  // Looking at everything is faster than any structure for some tens of tasks and resources. Open classes may
  // pile up any number.
  const bool few_tasks = threads <= 64 && setup.scenario->arrivals.empty();
  const bool few_resources = system.resource_count() <= 12;
  if (few_tasks && few_resources) return std::make_unique<EngineOf<ScanQueue, DueScan>>(setup);
  if (few_tasks) return std::make_unique<EngineOf<ScanQueue, DueTree>>(setup);
  if (few_resources) return std::make_unique<EngineOf<HeapQueue, DueScan>>(setup);
  return std::make_unique<EngineOf<HeapQueue, DueTree>>(setup);
}

}  // namespace allot::detail
