// How fast is the simulator? Against a bare loop on the same network, against SimGrid and SimPy, at scale,
// and on two cores.
//
// usage: bench_simulate [--quick]
//
// Runs of ours and of a rival alternate, and medians are compared, since other work may share the machine;
// for the same reason each rate is given by the clock and by CPU time. --quick takes well under a minute,
// otherwise it takes some minutes. SimGrid's program is built where SimGrid is found, SimPy's is a script
// beside it.
#include "allot/simulate/simulate.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "allot/base/version.hpp"
#include "bench/simulate/bare_loop.hpp"
#include "bench/support/report.hpp"

namespace {

using namespace allot;
using bench::print_table;
using bench::whole_text;

struct Plan {
  int runs = 7;                      ///< of each, alternating
  long completions = 20'000'000;     ///< of ours and of the bare loop
  long rival_completions = 400'000;  ///< of SimGrid and SimPy, which take as long for these
  int rival_runs = 3;
  std::vector<Count> threads = {8'192, 32'768, 131'072, 524'288};  ///< at scale
  long scale_completions = 5'000'000;
  long pair_completions = 20'000'000;  ///< of one worker of two
};

Plan quick_plan() {
  Plan plan;
  plan.runs = 5;
  plan.completions = 3'000'000;
  plan.rival_completions = 60'000;
  plan.threads = {8'192, 131'072};
  plan.scale_completions = 2'000'000;
  plan.pair_completions = 2'000'000;
  return plan;
}

/// What a run took, by the clock and in CPU time of all that took part.
struct Took {
  double wall = 0;
  double cpu = 0;
};

template <typename Work>
Took timed(Work&& work) {
  const Clock::time_point start = Clock::now();
  const double cpu = bench::cpu_seconds();
  work();
  return {std::chrono::duration<double>(Clock::now() - start).count(), bench::cpu_seconds() - cpu};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

/// Completions per second of several runs.
struct Rates {
  std::vector<double> wall;
  std::vector<double> cpu;
  void add(double completions, const Took& took) {
    wall.push_back(completions / took.wall);
    cpu.push_back(completions / took.cpu);
  }
};

/// The median of the ratios of neighbouring runs: what disturbs one disturbs the other.
double ratio(const std::vector<double>& ours, const std::vector<double>& theirs) {
  std::vector<double> ratios;
  for (std::size_t at = 0; at < ours.size(); ++at) ratios.push_back(ours[at] / theirs[at]);
  return median(ratios);
}

std::string text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// "met" or "MISSED"
std::string verdict(double value, double bar) { return value >= bar ? "met" : "MISSED"; }

// ---- ours

/// The bare loop's network: 2 GPs and an SA, 6 threads of its own type at home on each.
Scenario small_network(Discipline discipline) {
  std::vector<Resource> resources(3);
  const char* const names[] = {"gp1", "gp2", "sa1"};
  for (std::size_t j = 0; j < 3; ++j) {
    resources[j].name = names[j];
    resources[j].discipline = discipline;
    resources[j].kind = j == 2 ? Kind::kSpecialized : Kind::kGeneral;
  }
  std::vector<TaskClass> tasks(3);
  for (std::size_t i = 0; i < 3; ++i) {
    tasks[i].name = "t" + std::to_string(i + 1);
    tasks[i].count = 6;
  }
  return {"",
          System(std::move(resources), std::move(tasks), allot::Rates(3, 3, {8, 3, 0, 2, 7, 0, 4, 5, 9})),
          {},
          {},
          {}};
}

/// 256 resources, a type at home on each.
Scenario large_network(Count threads) {
  constexpr std::size_t kResources = 256;
  std::vector<Resource> resources(kResources);
  std::vector<TaskClass> tasks(kResources);
  std::vector<double> rates(kResources * kResources, 0.0);
  for (std::size_t j = 0; j < kResources; ++j) {
    resources[j].name = "r" + std::to_string(j);
    tasks[j].name = "t" + std::to_string(j);
    tasks[j].count = threads / static_cast<Count>(kResources);
    rates[j * kResources + j] = 1 + static_cast<double>(j % 7);
  }
  return {
      "",
      System(std::move(resources), std::move(tasks), allot::Rates(kResources, kResources, std::move(rates))),
      {},
      {},
      {}};
}

/// As a user would: ten replications, warm-up found by a pilot, all statistics.
SimulationResult simulate_best_fit(const Scenario& scenario, long completions, unsigned threads,
                                   std::uint32_t replications = 10) {
  SimulateOptions options;
  options.completions = static_cast<std::uint64_t>(completions) / replications;
  options.replications = replications;
  options.threads = threads;
  return simulate(scenario, *find_policy("best-fit"), *make_distribution("exponential"), options);
}

// ---- this program as a child, for what only a process of its own shows

std::string own_path() { return "/proc/self/exe"; }

/// Starts this program again, with its standard output put away.
pid_t start_self(const std::vector<std::string>& words) {
  std::vector<std::string> all = {"bench_simulate"};
  all.insert(all.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : all) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const std::string path = own_path();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child != 0) return child;
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  execv(path.c_str(), arguments.data());
  _exit(127);
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Waits for a child and says what it used; nothing when it failed.
std::optional<rusage> wait_for(pid_t child) {
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return usage;
}

// ---- (a) the bare loop

/// Ours, alternating with something else that returns what it took.
template <typename Other>
std::pair<Rates, Rates> alternate(int runs, const Scenario& scenario, long ours, double others,
                                  Other&& other) {
  std::pair<Rates, Rates> rates;
  for (int run = 0; run < runs; ++run) {
    rates.first.add(static_cast<double>(ours), timed([&] { simulate_best_fit(scenario, ours, 1); }));
    rates.second.add(others, other());
  }
  return rates;
}

void print_bare_loop(const Plan& plan) {
  std::printf(
      "\nOne core, 2 GP + 1 SA, 18 threads, exponential sizes, best-fit; ours with all statistics of a "
      "normal "
      "run (medians of %d alternating runs of %s completions)\n\n",
      plan.runs, whole_text(static_cast<double>(plan.completions)).c_str());
  std::vector<std::vector<std::string>> rows{{"discipline", "ours, completions/s", "bare loop, completions/s",
                                              "ratio", "by CPU time: ours", "bare loop", "ratio", "bar", ""}};
  for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
    const bool fcfs = discipline == Discipline::kFcfs;
    double x = 0;
    const auto [ours, bare] = alternate(
        plan.runs, small_network(discipline), plan.completions, static_cast<double>(plan.completions),
        [&] { return timed([&] { x += bench::bare_loop(fcfs, plan.completions).throughput; }); });
    if (!(x > 0)) std::abort();  // keeps the loop from being optimised away
    const double by_cpu = ratio(ours.cpu, bare.cpu);
    rows.push_back({fcfs ? "fcfs" : "ps", whole_text(median(ours.wall)), whole_text(median(bare.wall)),
                    text("%.2f", ratio(ours.wall, bare.wall)), whole_text(median(ours.cpu)),
                    whole_text(median(bare.cpu)), text("%.2f", by_cpu), "0.6, better 0.9",
                    verdict(by_cpu, 0.6)});
  }
  print_table(rows);
}

// ---- (b) rivals

struct RivalRun {
  double throughput = 0;
  Took took;
};

/// Runs a rival's program; nothing when it fails.
std::optional<RivalRun> run_rival(const std::string& command) {
  RivalRun run;
  bool read = false;
  const bool ended = bench::run_lines(command, [&](const std::string& line) {
    read |= std::sscanf(line.c_str(), "%lf %lf %lf", &run.throughput, &run.took.wall, &run.took.cpu) == 3;
  });
  if (!ended || !read) return std::nullopt;
  return run;
}

void print_rivals(const Plan& plan) {
  struct Rival {
    std::string name;
    std::string command;
    double bar;
  };
  std::vector<Rival> rivals;
#ifdef ALLOT_SIMGRID_NETWORK
  rivals.push_back({"SimGrid s4u " ALLOT_SIMGRID_VERSION, bench::quoted(ALLOT_SIMGRID_NETWORK), 100});
#endif
  const std::string python = bench::find_python("simpy");
  if (!python.empty()) {
    const std::string script = python + " " + bench::quoted(ALLOT_SIMPY_NETWORK);
    std::string name = "SimPy";
    bench::run_lines(script + " --version", [&](const std::string& line) { name = line; });
    rivals.push_back({name, script, 150});
  }
  std::printf("\nRivals on the same network, one core (medians of %d alternating runs)\n\n", plan.rival_runs);
#ifndef ALLOT_SIMGRID_NETWORK
  std::printf("SimGrid was not found when this was built (Debian: libsimgrid-dev): skipped\n\n");
#endif
  if (python.empty()) std::printf("no SimPy here (Debian: python3-simpy3): skipped\n\n");
  if (rivals.empty()) return;
  std::vector<std::vector<std::string>> rows{{"rival", "discipline", "ours, completions/s",
                                              "its completions/s", "ours faster", "by CPU time", "bar", "",
                                              "its X", "our X", "difference"}};
  for (const Rival& rival : rivals) {
    for (const Discipline discipline : {Discipline::kPs, Discipline::kFcfs}) {
      const char* const word = discipline == Discipline::kFcfs ? "fcfs" : "ps";
      const std::string command = rival.command + " " + word + " " + std::to_string(plan.rival_completions);
      std::optional<RivalRun> last;
      bool failed = false;
      const auto [ours, theirs] = alternate(plan.rival_runs, small_network(discipline), plan.completions,
                                            static_cast<double>(plan.rival_completions), [&] {
                                              last = run_rival(command);
                                              failed |= !last;
                                              return last ? last->took : Took{1, 1};
                                            });
      if (failed) {
        std::printf("%s failed on %s\n\n", rival.name.c_str(), word);
        continue;
      }
      const double x = simulate_best_fit(small_network(discipline), plan.completions, 1).throughput.mean;
      const double faster = ratio(ours.cpu, theirs.cpu);
      rows.push_back({rival.name, word, whole_text(median(ours.wall)), whole_text(median(theirs.wall)),
                      text("%.0f x", ratio(ours.wall, theirs.wall)), text("%.0f x", faster),
                      text("%.0f x", rival.bar), verdict(faster, rival.bar), text("%.4f", last->throughput),
                      text("%.4f", x), text("%.2f%%", 100 * (last->throughput / x - 1))});
    }
  }
  print_table(rows);
}

// ---- (c) scale

/// In a child: one run at scale, and the same without a run, for what the program takes anyway.
int scale_child(Count threads, long completions) {
  const Scenario scenario = large_network(threads);
  if (completions > 0) {
    SimulateOptions options;
    options.completions = static_cast<std::uint64_t>(completions);
    options.replications = 1;
    options.warmup = 0;
    options.threads = 1;
    simulate(scenario, *find_policy("best-fit"), *make_distribution("exponential"), options);
  }
  return 0;
}

void print_scale(const Plan& plan) {
  std::printf(
      "\nScale: 256 resources, one core, one replication of %s completions (medians of %d runs; memory: peak "
      "of "
      "the process, less that of one with the same scenario and no run)\n\n",
      whole_text(static_cast<double>(plan.scale_completions)).c_str(), plan.rival_runs);
  std::vector<std::vector<std::string>> rows{
      {"threads", "completions/s", "by CPU time", "bar", "", "memory", "a thread"}};
  for (const Count threads : plan.threads) {
    Rates rates;
    double memory = 0;
    const std::string number = std::to_string(threads);
    for (int run = 0; run < plan.rival_runs; ++run) {
      const auto child = [&](long completions) {
        const Clock::time_point start = Clock::now();
        const std::optional<rusage> usage =
            wait_for(start_self({"--scale", number, std::to_string(completions)}));
        if (!usage) std::exit(1);
        const double wall = std::chrono::duration<double>(Clock::now() - start).count();
        return std::pair(Took{wall, seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime)},
                         1024.0 * static_cast<double>(usage->ru_maxrss));
      };
      const auto [took, peak] = child(plan.scale_completions);
      rates.add(static_cast<double>(plan.scale_completions), took);
      if (run == 0) memory = peak - child(0).second;
    }
    const bool judged = threads == 131'072;
    rows.push_back({whole_text(static_cast<double>(threads)), whole_text(median(rates.wall)),
                    whole_text(median(rates.cpu)), judged ? "2,000,000" : "",
                    judged ? verdict(median(rates.cpu), 2e6) : "", text("%.1f MB", memory / 1e6),
                    text("%.0f bytes", memory / static_cast<double>(threads))});
  }
  print_table(rows);
}

// ---- (d) two cores

void print_two_workers(const Plan& plan) {
  std::printf(
      "\nTwo worker threads against two processes at once, each with half of the replications "
      "(medians of %d alternating runs)\n\n",
      plan.runs);
  const Scenario scenario = small_network(Discipline::kPs);
  const long both = 2 * plan.pair_completions;
  Rates threads;
  Rates processes;
  for (int run = 0; run < plan.runs; ++run) {
    const auto measure = [&](bool split) {
      const Clock::time_point start = Clock::now();
      double cpu = 0;
      std::vector<pid_t> children;
      const std::string half = std::to_string(plan.pair_completions);
      if (split) {
        children = {start_self({"--worker", half, "1"}), start_self({"--worker", half, "1"})};
      } else {
        children = {start_self({"--worker", std::to_string(both), "2"})};
      }
      for (const pid_t child : children) {
        const std::optional<rusage> usage = wait_for(child);
        if (!usage) std::exit(1);
        cpu += seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
      }
      return Took{std::chrono::duration<double>(Clock::now() - start).count(), cpu};
    };
    threads.add(static_cast<double>(both), measure(false));
    processes.add(static_cast<double>(both), measure(true));
  }
  const double by_clock = ratio(threads.wall, processes.wall);
  print_table(
      {{"two threads, completions/s", "two processes, completions/s", "ratio", "by CPU time", "bar", ""},
       {whole_text(median(threads.wall)), whole_text(median(processes.wall)), text("%.2f", by_clock),
        text("%.2f", ratio(threads.cpu, processes.cpu)), "0.9", verdict(by_clock, 0.9)}});
}

int usage() {
  std::fprintf(stderr, "usage: bench_simulate [--quick]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  Plan plan;
  if (words.size() == 3) {  // started by itself
    const long first = std::strtol(argv[2], nullptr, 10);
    const long second = std::strtol(argv[3], nullptr, 10);
    if (words[0] == "--scale") return scale_child(first, second);
    if (words[0] != "--worker" || second < 1) return usage();
    simulate_best_fit(small_network(Discipline::kPs), first, static_cast<unsigned>(second),
                      second == 2 ? 20 : 10);
    return 0;
  }
  if (words.size() == 1 && words[0] == "--quick") {
    plan = quick_plan();
  } else if (!words.empty()) {
    return usage();
  }
  std::printf("allot %s (%s), compiler %s\n%s, %u cores\n", std::string(version()).c_str(),
              std::string(build_commit()).c_str(), __VERSION__, bench::processor().c_str(),
              std::thread::hardware_concurrency());
  print_bare_loop(plan);
  std::fflush(stdout);
  print_rivals(plan);
  std::fflush(stdout);
  print_scale(plan);
  std::fflush(stdout);
  print_two_workers(plan);
  return 0;
}
