// What does a decision cost? `place` and `complete` together, at 8 types x 8 resources, while solves go on in
// the background; against a mutex around the same policy and the same counts.
//
// usage: bench_dispatch [--quick | --count POLICY]
//
// `--count` decides 20,000 times on one thread and times nothing:
//   valgrind --tool=callgrind --toggle-collect='count_decisions*' bench_dispatch --count map
// says how many instructions that takes, clock readings and the loop included.
//
// Runs of ours and of the mutex alternate, and medians are compared. Since other work may share the machine,
// the cost of a decision is given in CPU time of the calling thread, the two readings of the clock included;
// and how the threads get on together by the clock, for all of them, each kept on a processor of its own
// while there are enough. What two threads gain is compared with what two threads gain that have a dispatcher
// each: medians over short runs that alternate, of which those count where both threads had a processor to
// themselves, and all of the time together.
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "allot/base/version.hpp"
#include "allot/dispatch/dispatcher.hpp"
#include "allot/model/generate.hpp"
#include "bench/support/report.hpp"

namespace {

using namespace allot;

constexpr std::size_t kInFlight = 8;  ///< tasks that each thread keeps in flight: one of each type

/// With as many tasks as the threads have in flight.
System machine(int threads) {
  const System system = generate({.general = 8, .specialized = 0, .threads = 128, .seed = 5}).system;
  return system.with_counts(std::vector<Count>(system.type_count(), threads));
}

std::vector<TaskClass> types_of(const System& system) {
  std::vector<TaskClass> types;
  for (const TaskClass& task : system.tasks()) types.push_back({task.name, task.count, {}, {}, {}});
  return types;
}

std::vector<RatePrior> priors_of(const System& system) {
  std::vector<RatePrior> priors;
  for (const double rate : system.rates().values()) priors.push_back(RatePrior::measured(rate));
  return priors;
}

/// The same policy, counts and Ticket, under a lock: what a runtime would write first.
class LockedDispatcher {
 public:
  LockedDispatcher(const System& system, const std::string& policy)
      : system_(system),
        policy_(find_policy(policy)->make(system_, {})),
        counts_(system.type_count() * system.resource_count(), 0),
        totals_(system.resource_count(), 0),
        memory_(policy_->memory_size(), 0),
        seconds_(counts_.size(), 0.0),
        completions_(counts_.size(), 0) {
    std::vector<Count> population;
    for (const TaskType i : system_.types()) population.push_back(system_.count(i));
    policy_->set_population(population);
  }

  std::optional<Ticket> place(TaskType i, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    const ResourceId j = policy_->place(i, {&system_, counts_, totals_, {}}, memory_, random_);
    ++counts_[at(i, j)];
    ++totals_[index(j)];
    return Ticket{i, j, false, static_cast<std::uint64_t>(now.time_since_epoch().count())};
  }

  void complete(const Ticket& ticket, double busy_seconds, bool, Clock::time_point) {
    const std::lock_guard lock(mutex_);
    --counts_[at(ticket.type, ticket.resource)];
    --totals_[index(ticket.resource)];
    seconds_[at(ticket.type, ticket.resource)] += busy_seconds;
    ++completions_[at(ticket.type, ticket.resource)];
  }

 private:
  std::size_t at(TaskType i, ResourceId j) const { return index(i) * system_.resource_count() + index(j); }

  System system_;
  std::mutex mutex_;
  std::unique_ptr<Policy> policy_;
  std::vector<Count> counts_;
  std::vector<Count> totals_;
  std::vector<std::uint32_t> memory_;
  std::vector<double> seconds_;
  std::vector<std::uint64_t> completions_;
  RandomStream random_{1};
};

/// Of this thread alone.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What a task took.
struct Took {
  double cpu_ns = 0;   ///< of the calling thread
  double wall_ns = 0;  ///< from the first thread's beginning until the last one's end, over the tasks of all
  double shared = 0;   ///< the part of the time that the threads had in common, and had a processor each
};

/// When a thread was at it.
struct Stretch {
  Clock::time_point begin;
  Clock::time_point end;
  double cpu_seconds = 0;
};

Took took_by(const std::vector<Stretch>& threads, long tasks) {
  Stretch all = threads.front();
  Stretch common = threads.front();
  double cpu = 0;
  double least_of_a_processor = 1;
  for (const Stretch& one : threads) {
    all = {std::min(all.begin, one.begin), std::max(all.end, one.end)};
    common = {std::max(common.begin, one.begin), std::min(common.end, one.end)};
    cpu += one.cpu_seconds;
    least_of_a_processor = std::min(least_of_a_processor, one.cpu_seconds / to_seconds(one.end - one.begin));
  }
  const double wall = to_seconds(all.end - all.begin);
  const auto count = static_cast<double>(tasks);
  return {1e9 * cpu / count, 1e9 * wall / count,
          std::min(least_of_a_processor, to_seconds(common.end - common.begin) / wall)};
}

void stay_on(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  sched_setaffinity(0, sizeof set, &set);  // where it is not allowed, the thread stays where it likes
}

/// Each thread places a task and completes its oldest. Threads take the hosts in turn.
template <typename Host>
Took time_of(const std::vector<Host*>& hosts, const System& system, int threads, long tasks_each) {
  std::atomic<int> ready{0};
  std::atomic<bool> go{false};
  std::vector<Stretch> stretches(static_cast<std::size_t>(threads));
  std::vector<std::thread> crew;
  for (int t = 0; t < threads; ++t) {
    crew.emplace_back([&, t] {
      Host& host = *hosts[static_cast<std::size_t>(t) % hosts.size()];
      stay_on(t % static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
      std::vector<Ticket> ring;
      std::size_t type = static_cast<std::size_t>(t);
      const auto next_type = [&] { return task_type(type++ % system.type_count()); };
      for (std::size_t k = 0; k < kInFlight; ++k) ring.push_back(*host.place(next_type(), Clock::now()));
      ready.fetch_add(1);
      while (!go.load()) std::this_thread::yield();
      Stretch& mine = stretches[static_cast<std::size_t>(t)];
      mine.begin = Clock::now();
      const double begin = thread_seconds();
      for (long k = 0; k < tasks_each; ++k) {
        Ticket& oldest = ring[static_cast<std::size_t>(k) % kInFlight];
        host.complete(oldest, system.seconds_per_task(oldest.type, oldest.resource), true, Clock::now());
        oldest = *host.place(next_type(), Clock::now());
      }
      mine.cpu_seconds = thread_seconds() - begin;
      mine.end = Clock::now();
      for (const Ticket& ticket : ring) host.complete(ticket, 1, true, Clock::now());
    });
  }
  while (ready.load() < threads) std::this_thread::yield();
  go = true;
  for (std::thread& thread : crew) thread.join();
  return took_by(stretches, threads * tasks_each);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double median(const std::vector<Took>& runs, double Took::*figure) {
  std::vector<double> values;
  for (const Took& took : runs) values.push_back(took.*figure);
  return median(values);
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// Keeps the planner solving for as long as it lives: the counts change all the time.
class BusyPlanner {
 public:
  BusyPlanner(Dispatcher& dispatcher, const System& system)
      : thread_([this, &dispatcher, &system] {
          while (!stop_.load(std::memory_order_relaxed)) {
            const Count more = static_cast<Count>(solves_.fetch_add(1) % 2);
            dispatcher.set_count(task_type(0), system.count(task_type(0)) + more);
            dispatcher.solve();
          }
        }) {}
  ~BusyPlanner() {
    stop_ = true;
    thread_.join();
  }
  BusyPlanner(const BusyPlanner&) = delete;
  BusyPlanner& operator=(const BusyPlanner&) = delete;
  std::uint64_t solves() const { return solves_.load(); }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> solves_{0};
  std::thread thread_;
};

struct Figures {
  std::vector<Took> ours;
  std::vector<Took> solving;
  std::vector<Took> locked;
};

Figures figures_of(const System& system, const DispatcherOptions& options, int threads, int runs,
                   long tasks) {
  Figures figures;
  for (int run = 0; run < runs; ++run) {
    Dispatcher dispatcher(system.resources(), types_of(system), priors_of(system), options);
    LockedDispatcher rival(system, options.policy);
    const long each = tasks / threads;
    figures.ours.push_back(time_of<Dispatcher>({&dispatcher}, system, threads, each));
    figures.locked.push_back(time_of<LockedDispatcher>({&rival}, system, threads, each));
    const BusyPlanner planner(dispatcher, system);
    figures.solving.push_back(time_of<Dispatcher>({&dispatcher}, system, threads, each));
  }
  return figures;
}

/// What two threads get done that share a dispatcher, as a part of what two get done that have one each.
/// None where they never had a processor each.
std::optional<double> kept_when_shared(const DispatcherOptions& options, int attempts) {
  constexpr long kTasks =
      20'000;  // so few that they fit into the time a thread has before it is another's turn
  constexpr double kUndisturbed = 0.9;
  constexpr std::size_t kEnough = 5;
  constexpr int kEach = 10;
  const System mine = machine(1);
  const System ours = machine(2);
  std::vector<double> apart;
  std::vector<double> together;
  const auto keep = [](std::vector<double>& where, const Took& took) {
    if (took.shared >= kUndisturbed) where.push_back(took.wall_ns);
  };
  for (int attempt = 0; attempt < attempts; attempt += kEach) {  // each lies elsewhere in memory
    Dispatcher one(mine.resources(), types_of(mine), priors_of(mine), options);
    Dispatcher other(mine.resources(), types_of(mine), priors_of(mine), options);
    Dispatcher both(ours.resources(), types_of(ours), priors_of(ours), options);
    for (int k = 0; k < kEach; ++k) {
      keep(apart, time_of<Dispatcher>({&one, &other}, mine, 2, kTasks));
      keep(together, time_of<Dispatcher>({&both}, ours, 2, kTasks));
    }
  }
  if (std::min(apart.size(), together.size()) < kEnough) return std::nullopt;
  return median(apart) / median(together);
}

const char* verdict(bool met) { return met ? "met" : "MISSED"; }

void compare(int runs, long tasks, int attempts) {
  std::printf("allot %s, %s, %u hardware threads\n\n", std::string(version()).c_str(),
              bench::processor().c_str(), std::thread::hardware_concurrency());
  std::printf("place + complete at 8 types x 8 resources, ns per task, median of %d runs:\n\n", runs);
  std::vector<std::vector<std::string>> table = {{"policy", "threads", "dispatcher, CPU", "with solves, CPU",
                                                  "mutex, CPU", "dispatcher, wall", "mutex, wall"}};
  std::vector<std::vector<std::string>> bars = {
      {"policy", "one thread, against the mutex", "two threads, against a dispatcher each"}};
  for (const char* policy : {"map", "jsq", "min-completion-time", "round-robin"}) {
    DispatcherOptions options;
    options.policy = policy;
    for (const int threads : {1, 2, 4, 8}) {
      const auto [ours, solving, locked] = figures_of(machine(threads), options, threads, runs, tasks);
      table.push_back(
          {policy, std::to_string(threads), text("%.0f", median(ours, &Took::cpu_ns)),
           text("%.0f", median(solving, &Took::cpu_ns)), text("%.0f", median(locked, &Took::cpu_ns)),
           text("%.0f", median(ours, &Took::wall_ns)), text("%.0f", median(locked, &Took::wall_ns))});
      if (threads > 1) continue;
      const double part = median(ours, &Took::cpu_ns) / median(locked, &Took::cpu_ns);
      const std::optional<double> kept = kept_when_shared(options, attempts);
      bars.push_back(
          {policy, text("%.2f of its time: ", part) + verdict(part <= 1),
           kept ? text("%.2f of what they do: ", *kept) + verdict(*kept >= 0.8) : "never undisturbed"});
    }
  }
  bench::print_table(table);
  std::printf("\nwanted: at most 1, and at least 0.8\n\n");
  bench::print_table(bars);
}

}  // namespace

/// Not in the namespace above, so that callgrind finds it by its name.
[[gnu::noinline]] void count_decisions(Dispatcher& dispatcher, const System& system,
                                       std::vector<Ticket>& ring, int decisions) {
  for (int k = 0; k < decisions; ++k) {
    Ticket& oldest = ring[static_cast<std::size_t>(k) % kInFlight];
    dispatcher.complete(oldest, system.seconds_per_task(oldest.type, oldest.resource), true, Clock::now());
    oldest = *dispatcher.place(task_type(static_cast<std::size_t>(k) % system.type_count()), Clock::now());
  }
}

int main(int argc, char** argv) {
  const bool quick = argc == 2 && std::string_view(argv[1]) == "--quick";
  const bool counts = argc == 3 && std::string_view(argv[1]) == "--count" && find_policy(argv[2]) != nullptr;
  if (argc > 1 && !quick && !counts) {
    std::fprintf(stderr, "usage: bench_dispatch [--quick | --count POLICY]\n");
    return 2;
  }
  if (counts) {
    constexpr int kDecisions = 20'000;
    const System system = machine(1);
    DispatcherOptions options;
    options.policy = argv[2];
    options.planning = Planning::kDeferred;
    Dispatcher dispatcher(system.resources(), types_of(system), priors_of(system), options);
    std::vector<Ticket> ring;
    for (std::size_t k = 0; k < kInFlight; ++k) ring.push_back(*dispatcher.place(task_type(k)));
    count_decisions(dispatcher, system, ring, kDecisions);
    return 0;
  }
  compare(quick ? 5 : 11, quick ? 200'000 : 1'000'000, quick ? 100 : 1'000);
  return 0;
}
