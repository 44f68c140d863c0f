// A closed loop of StarPU tasks that sleep, so that every rate is known: what a scheduling policy makes of
// them is all that is measured. A task that ends is followed at once by another of its type.
//
//   STARPU_SCHED=dmda sleeping [options] A:6:8,4 B:6:20,10
//
// Six tasks of type A in flight, each 8 ms on a CPU worker and 4 ms on the first OpenCL device; "-" means:
// cannot run there. With --calibrate it measures every type on every worker, leaves StarPU's performance
// models in STARPU_HOME and ends; later runs read them. With --json --slices 0.1 it also says what was done
// in each tenth of a second from the first task on, and how long workers that were ready had to wait for a
// core.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "examples/starpu/workers.hpp"

namespace {

using Clock = std::chrono::steady_clock;
constexpr double kCannot = -1;
constexpr std::size_t kMostColumns = 9;  // the CPU workers together, and up to eight devices

struct Options {
  unsigned cpus = 1;
  double warmup_s = 1;
  double seconds = 3;
  double slices_s = 0;  // 0: none
  bool exponential = false;
  std::uint64_t seed = 1;
  bool models = true;
  bool calibrate = false;
  bool json = false;
};

/// Completions of one type; column 0 is the CPU workers, column 1 + d the OpenCL device d.
struct Counts {
  std::uint64_t done[kMostColumns] = {};
  double asleep_s[kMostColumns] = {};
  double in_system_s = 0;
};

/// All of it at one moment, or between two.
struct Snapshot {
  Clock::time_point at;
  std::vector<Counts> types;
  std::array<double, kMostColumns> waited_s{};  // of the workers of each column
};

struct Type {
  std::string name;
  unsigned in_flight = 0;
  std::vector<double> ms;
  starpu_perfmodel model;
  starpu_codelet codelet;
  std::atomic<std::uint64_t> drawn{0};
  std::atomic<std::uint64_t> done[kMostColumns] = {};
  std::atomic<std::uint64_t> asleep_ns[kMostColumns] = {};
  std::atomic<std::uint64_t> in_system_ns{0};
};

/// One of the tasks in flight: the same place carries one task after the other.
struct Place {
  Type* type = nullptr;
  double size = 1;
  Clock::time_point submitted;
};

Options options;
std::deque<Type> types;  // StarPU keeps pointers into it
std::atomic<bool> ending{false};

/// The kernel's account of a worker: nanoseconds on a core, nanoseconds ready but without one, and so on.
struct Account {
  std::size_t column;
  int file;
};
std::mutex accounts_mutex;
std::vector<Account> accounts;

std::uint64_t nanoseconds(Clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

/// Of the calling worker, once.
void open_account(std::size_t column) {
  thread_local bool opened = false;
  if (std::exchange(opened, true)) return;
  const int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;  // a kernel without: it counts as 0
  const std::lock_guard lock(accounts_mutex);
  accounts.push_back({column, file});
}

std::array<double, kMostColumns> waited() {
  std::array<double, kMostColumns> seconds{};
  const std::lock_guard lock(accounts_mutex);
  for (const Account& account : accounts) {
    char text[128] = {};
    unsigned long long ran = 0, ready = 0;
    if (pread(account.file, text, sizeof text - 1, 0) > 0 &&
        std::sscanf(text, "%llu %llu", &ran, &ready) == 2)
      seconds[account.column] += 1e-9 * static_cast<double>(ready);
  }
  return seconds;
}

int can_execute(unsigned worker, starpu_task* task, unsigned /*implementation*/) {
  const auto& ms = static_cast<const Place*>(task->cl_arg)->type->ms;
  const std::size_t j = column(worker);
  return j < ms.size() && ms[j] != kCannot;
}

void sleep_as_told(void* /*buffers*/[], void* argument) {
  const auto begin = Clock::now();
  auto& place = *static_cast<Place*>(argument);
  const std::size_t j = own_column();
  open_account(j);
  nap(place.type->ms[j] * place.size);
  place.type->asleep_ns[j].fetch_add(nanoseconds(Clock::now() - begin), std::memory_order_relaxed);
}

/// The n-th task of a type has the same size under every policy: a hash of seed, type and n (splitmix64).
double drawn_size(const Type& type, std::uint64_t n) {
  if (!options.exponential) return 1;
  std::uint64_t z =
      options.seed * 0x9E3779B97F4A7C15u + static_cast<unsigned char>(type.name[0]) * 0xD1B54A32D192ED03u + n;
  for (int round = 0; round < 2; ++round) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
  }
  return -std::log((static_cast<double>(z >> 11) + 0.5) * 0x1p-53);
}

void completed(void* argument);

void submit(Place& place) {
  place.size = drawn_size(*place.type, place.type->drawn.fetch_add(1, std::memory_order_relaxed));
  place.submitted = Clock::now();
  starpu_task* const task = starpu_task_create();
  task->cl = &place.type->codelet;
  task->cl_arg = &place;
  task->callback_func = completed;
  task->callback_arg = &place;
  if (starpu_task_submit(task) != 0) {
    std::fprintf(stderr, "sleeping: no worker can run a task of type %s\n", place.type->name.c_str());
    std::exit(1);
  }
}

void completed(void* argument) {
  auto& place = *static_cast<Place*>(argument);
  const std::size_t j = own_column();
  place.type->done[j].fetch_add(1, std::memory_order_relaxed);
  place.type->in_system_ns.fetch_add(nanoseconds(Clock::now() - place.submitted), std::memory_order_relaxed);
  if (!ending.load(std::memory_order_relaxed)) submit(place);
}

Snapshot snapshot() {
  Snapshot now{Clock::now(), {}, waited()};
  for (const Type& type : types) {
    Counts& counts = now.types.emplace_back();
    for (std::size_t j = 0; j < kMostColumns; ++j) {
      counts.done[j] = type.done[j].load();
      counts.asleep_s[j] = 1e-9 * static_cast<double>(type.asleep_ns[j].load());
    }
    counts.in_system_s = 1e-9 * static_cast<double>(type.in_system_ns.load());
  }
  return now;
}

/// What came after `before`.
Snapshot since(const Snapshot& before, Snapshot now) {
  for (std::size_t j = 0; j < kMostColumns; ++j) now.waited_s[j] -= before.waited_s[j];
  for (std::size_t i = 0; i < now.types.size(); ++i) {
    for (std::size_t j = 0; j < kMostColumns; ++j) {
      now.types[i].done[j] -= before.types[i].done[j];
      now.types[i].asleep_s[j] -= before.types[i].asleep_s[j];
    }
    now.types[i].in_system_s -= before.types[i].in_system_s;
  }
  return now;
}

double seconds_between(const Snapshot& from, const Snapshot& to) {
  return std::chrono::duration<double>(to.at - from.at).count();
}

[[noreturn]] void usage(const std::string& why) {
  std::fprintf(
      stderr,
      "sleeping: %s\n"
      "usage: sleeping [--cpus N] [--warmup S] [--seconds S] [--exponential] [--seed N] [--no-models]\n"
      "                [--calibrate] [--json] [--slices S] TYPE:IN_FLIGHT:CPU_MS[,OCL0_MS[,OCL1_MS...]] ...\n"
      "example: STARPU_SCHED=dmda sleeping A:6:8,4 B:6:20,10\n",
      why.c_str());
  std::exit(2);
}

double number(const std::string& text, const std::string& what) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= 0) || value > 1e9) usage(what + " is not a number: " + text);
  return value;
}

void add_type(const std::string& text) {
  std::istringstream parts(text);
  std::string name, in_flight, times, ms;
  std::getline(parts, name, ':');
  std::getline(parts, in_flight, ':');
  std::getline(parts, times);
  if (name.empty() || times.empty()) usage("what is " + text + "?");
  Type& type = types.emplace_back();
  type.name = name;
  type.in_flight = static_cast<unsigned>(number(in_flight, "the count in " + text));
  std::istringstream list(times);
  while (std::getline(list, ms, ','))
    type.ms.push_back(ms == "-" ? kCannot : number(ms, "a time in " + text));
  if (type.ms.size() > kMostColumns) usage("too many devices in " + text);
}

void parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto value = [&] {
      return i + 1 < argc ? std::string(argv[++i]) : (usage(word + " needs a value"), word);
    };
    if (word == "--cpus")
      options.cpus = static_cast<unsigned>(number(value(), word));
    else if (word == "--warmup")
      options.warmup_s = number(value(), word);
    else if (word == "--seconds")
      options.seconds = number(value(), word);
    else if (word == "--slices")
      options.slices_s = number(value(), word);
    else if (word == "--seed")
      options.seed = static_cast<std::uint64_t>(number(value(), word));
    else if (word == "--exponential")
      options.exponential = true;
    else if (word == "--no-models")
      options.models = false;
    else if (word == "--calibrate")
      options.calibrate = true;
    else if (word == "--json")
      options.json = true;
    else if (word.starts_with("-"))
      usage("unknown option " + word);
    else
      add_type(word);
  }
  if (types.empty()) usage("no task type");
  if (options.calibrate) options.exponential = false;
}

std::size_t columns() {
  std::size_t most = 1;
  for (const Type& type : types) most = std::max(most, type.ms.size());
  return most;
}

void make_codelets() {
  for (Type& type : types) {
    type.model = history_model(type.name.c_str());
    starpu_codelet_init(&type.codelet);
    type.codelet.name = type.name.c_str();
    type.codelet.can_execute = can_execute;
    if (type.ms[0] != kCannot) type.codelet.cpu_funcs[0] = sleep_as_told;
    for (std::size_t j = 1; j < type.ms.size(); ++j)
      if (type.ms[j] != kCannot) type.codelet.opencl_funcs[0] = sleep_as_told;
    if (options.models) type.codelet.model = &type.model;
  }
}

void calibrate() {
  std::deque<Place> places;
  for (Type& type : types) {
    Place& place = places.emplace_back(Place{&type, 1, {}});
    calibrate_every_worker([&](unsigned worker) {
      const std::size_t j = column(worker);
      if (j >= type.ms.size() || type.ms[j] == kCannot) return;
      starpu_task* const task = starpu_task_create();
      task->cl = &type.codelet;
      task->cl_arg = &place;
      submit_to_worker(task, worker);
      type.done[j].fetch_add(1, std::memory_order_relaxed);
    });
  }
  starpu_task_wait_for_all();
}

void print_text(const std::vector<Counts>& counts, double elapsed, double total) {
  std::printf("%.2f tasks/s\n", total / elapsed);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    double done = 0;
    for (const auto n : counts[i].done) done += static_cast<double>(n);
    std::printf("  %-8s %9.2f/s  %5.1f%%  response %8.2f ms  done:", types[i].name.c_str(), done / elapsed,
                total > 0 ? 100 * done / total : 0, done > 0 ? 1e3 * counts[i].in_system_s / done : 0);
    for (std::size_t j = 0; j < columns(); ++j) {
      const auto n = counts[i].done[j];
      const std::string name = j == 0 ? "cpu" : "ocl" + std::to_string(j - 1);
      std::printf("  %s %llu", name.c_str(), static_cast<unsigned long long>(n));
      if (n > 0) std::printf(" (%.2f ms)", 1e3 * counts[i].asleep_s[j] / static_cast<double>(n));
    }
    std::printf("\n");
  }
}

void print_done(const Counts& counts) {
  std::printf("\"done\": [");
  for (std::size_t j = 0; j < columns(); ++j)
    std::printf("%s%llu", j ? ", " : "", static_cast<unsigned long long>(counts.done[j]));
  std::printf("], \"ms\": [");
  for (std::size_t j = 0; j < columns(); ++j) {
    const auto n = static_cast<double>(counts.done[j]);
    std::printf("%s%.6f", j ? ", " : "", n > 0 ? 1e3 * counts.asleep_s[j] / n : 0);
  }
  std::printf("]");
}

void print_waited(const Snapshot& part) {
  std::printf("\"waited_s\": [");
  for (std::size_t j = 0; j < columns(); ++j) std::printf("%s%.6f", j ? ", " : "", part.waited_s[j]);
  std::printf("]");
}

/// Times are seconds since the first.
void print_slices(const std::vector<Snapshot>& moments) {
  std::printf(", \"slices\": [");
  for (std::size_t k = 1; k < moments.size(); ++k) {
    const Snapshot part = since(moments[k - 1], moments[k]);
    std::printf("%s{\"begin\": %.6f, \"end\": %.6f, ", k > 1 ? ", " : "",
                seconds_between(moments[0], moments[k - 1]), seconds_between(moments[0], moments[k]));
    print_waited(part);
    std::printf(", \"types\": {");
    for (std::size_t i = 0; i < part.types.size(); ++i) {
      std::printf("%s\"%s\": {", i ? ", " : "", types[i].name.c_str());
      print_done(part.types[i]);
      std::printf("}");
    }
    std::printf("}}");
  }
  std::printf("]");
}

void print_json(const Snapshot& all, double elapsed, double total, const std::vector<Snapshot>& moments) {
  std::printf("{\"seconds\": %.6f, \"throughput\": %.6f, ", elapsed, total / elapsed);
  print_waited(all);
  std::printf(", \"types\": {");
  for (std::size_t i = 0; i < all.types.size(); ++i) {
    double done = 0;
    for (const auto n : all.types[i].done) done += static_cast<double>(n);
    std::printf("%s\"%s\": {\"throughput\": %.6f, \"share\": %.6f, \"response_ms\": %.6f, ", i ? ", " : "",
                types[i].name.c_str(), done / elapsed, total > 0 ? done / total : 0,
                done > 0 ? 1e3 * all.types[i].in_system_s / done : 0);
    print_done(all.types[i]);
    std::printf("}");
  }
  std::printf("}");
  if (options.slices_s > 0) print_slices(moments);
  std::printf("}\n");
}

void report(const Snapshot& all, double elapsed, const std::vector<Snapshot>& moments = {}) {
  double total = 0;
  for (const Counts& type : all.types)
    for (const auto n : type.done) total += static_cast<double>(n);
  if (options.json)
    print_json(all, elapsed, total, moments);
  else
    print_text(all.types, elapsed, total);
}

/// Waits, and takes a snapshot at the end of each slice and of the time.
void watch(double seconds, std::vector<Snapshot>& moments) {
  const auto begin = Clock::now();
  const double slice = options.slices_s > 0 ? options.slices_s : seconds;
  for (int k = 1; seconds > 0; ++k) {
    const double until = std::min(seconds, k * slice);
    std::this_thread::sleep_until(
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(until)));
    moments.push_back(snapshot());
    if (until >= seconds) return;
  }
}

}  // namespace

int main(int argc, char** argv) {
  parse(argc, argv);
  if (options.calibrate) setenv("STARPU_CALIBRATE", "2", 1);  // anew
  start_starpu("sleeping", options.cpus, static_cast<unsigned>(columns()) - 1);
  make_codelets();
  if (options.calibrate) {
    const auto begin = Clock::now();
    calibrate();
    starpu_shutdown();
    report(snapshot(), std::chrono::duration<double>(Clock::now() - begin).count());
    return 0;
  }
  std::vector<Snapshot> moments{snapshot()};
  std::deque<Place> places;
  for (unsigned n = 0, more = 1; more != 0;
       ++n) {  // types take turns, so that none has the machine to itself first
    more = 0;
    for (Type& type : types)
      if (n < type.in_flight) submit(places.emplace_back(Place{&type, 1, {}})), more = 1;
  }
  watch(options.warmup_s, moments);
  const Snapshot before = moments.back();
  watch(options.seconds, moments);
  const Snapshot after = moments.back();
  ending = true;
  starpu_task_wait_for_all();
  starpu_shutdown();
  report(since(before, after), seconds_between(before, after), moments);
  return 0;
}
