#include "allot/simulate/detail/engine.hpp"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "allot/base/error.hpp"
#include "allot/simulate/detail/late_lines.hpp"
#include "allot/simulate/detail/open_classes.hpp"
#include "allot/simulate/detail/stations.hpp"
#include "allot/simulate/detail/threads.hpp"
#include "allot/simulate/detail/tracer.hpp"
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
        late_(setup.policy->bind_late(), types_, setup.scenario->threads.size()),
        meter_(types_, resources_, setup.scenario->threads),
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
    make_stations();
    enter_all(setup.random_start);
    begin_window();
  }

  std::uint64_t run(std::uint64_t completions) override {
    const bool plain = constant_ && !tracer_.is_on() && !looks_at_sizes_ && !late_.are_used();
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
        ask_and_settle(j);
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
  std::uint64_t fewest_turns() const noexcept override {
    return threads_.fewest_turns(
        [&](const Thread& thread) { return late_.serve(thread.type, thread.group); });
  }
  void begin_window() override { meter_.begin(now_, threads_.ages(now_)); }
  Window end_window() override {
    count_population();
    return meter_.end(now_, threads_.ages(now_), threads_.oldest(now_));
  }

  void set_trace(TraceSink* sink) override { tracer_.begin(sink, stations_, now_); }

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
      if (late_.are_used()) {
        stations_.emplace_back(LateStation<Queue>(resource));
      } else {
        stations_.push_back(make_station<Queue>(resource, types_, weighted, exact_shares_));
      }
    }
    const auto all_are = [&](std::size_t kind) {
      return std::all_of(stations_.begin(), stations_.end(),
                         [&](const Station<Queue>& station) { return station.index() == kind; });
    };
    mix_ = all_are(0) ? Mix::kShared : all_are(1) ? Mix::kSingle : Mix::kAny;
    set_shares(stations_, policy_, types_, now_);
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

  /// Its next task waits for a resource that takes it. The caller asks those that are free.
  void wait(ThreadId id) {
    Thread& thread = threads_[id];
    thread.size = next_size<false>(id);
    thread.entered = now_;
    thread.resource = kNone;
    late_.wait(thread.type, thread.group, id);
  }

  /// A resource with free servers takes tasks that wait; whether anything has changed there.
  bool ask(std::size_t j) {
    auto& station = *std::get_if<LateStation<Queue>>(&stations_[j]);
    const double wake = std::exchange(station.wake, kNever);
    bool took = false;
    situation_.now = now_;
    while (station.has_room()) {
      const std::optional<ThreadId> id = late_.take(resource_id(j), situation_, policy_random_);
      if (!id) {
        station.wake = late_.ask_again(resource_id(j));
        break;
      }
      Thread& thread = threads_[*id];
      thread.resource = static_cast<std::uint32_t>(j);
      thread.task = tasks_placed_++;
      ++counts_(task_type(thread.type), resource_id(j));
      ++totals_[j];
      station.enter(now_, job_of(*id));
      if (tracer_.is_on()) tracer_.placed(*id, now_);
      took = true;
    }
    return took || station.wake != wake;
  }

  void ask_and_settle(std::size_t j) {
    if (late_.are_used()) ask(j);
    settle(j);
  }

  void ask_all() {
    for (std::size_t j = 0; j < resources_; ++j) {
      if (ask(j)) settle(j);
    }
  }

  Job job_of(ThreadId id) const noexcept {
    const Thread& thread = threads_[id];
    return {id, thread.type,
            thread.size * system_.seconds_per_task(task_type(thread.type), resource_id(thread.resource))};
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
    const Job job = job_of(id);
    use_station<kMix>(j, [&](auto& station) { station.enter(now_, job); });
    if (!kPlain && tracer_.is_on()) tracer_.placed(id, now_);
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
    if (!kPlain && tracer_.is_on()) tracer_.started(now_);
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
    if (late_.are_used()) late_.renew();
    if (policy_.time_shares().empty()) return;
    set_shares(stations_, policy_, types_, now_);
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
    for (Station<Queue>& station : stations_) with_station(station, [](auto& s) { s.rebase(); });
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

  LateLines late_;
  WindowMeter meter_;
  std::uint64_t until_rebase_ = kRebaseInterval;

  Tracer tracer_;
  std::uint64_t tasks_placed_ = 0;
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
