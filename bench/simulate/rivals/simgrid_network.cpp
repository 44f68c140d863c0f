// The network of bench_simulate in SimGrid (s4u): a host per resource, an actor per thread.
//
// usage: simgrid_network ps|fcfs COMPLETIONS   prints: X SECONDS CPU_SECONDS
#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <simgrid/s4u.hpp>
#include <string>

namespace sg4 = simgrid::s4u;

namespace {

constexpr int kThreads = 6;                   // at each resource
constexpr double kRates[] = {8e9, 7e9, 9e9};  // as SimGrid counts: operations a second
constexpr double kMeanSize = 1e9;             // operations

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: simgrid_network ps|fcfs COMPLETIONS\n");
    return 2;
  }
  const bool fcfs = std::strcmp(argv[1], "fcfs") == 0;
  const long wanted = std::strtol(argv[2], nullptr, 10);
  long completions = 0;
  double end = 0;
  std::mt19937_64 random(1);
  std::exponential_distribution<double> size(1.0);
  auto* zone = sg4::create_full_zone("zone");
  for (const double rate : kRates) {
    auto* host = zone->create_host("host" + std::to_string(static_cast<int>(rate / 1e9)), rate)->seal();
    auto turn = sg4::Mutex::create();
    for (int thread = 0; thread < kThreads; ++thread) {
      sg4::Actor::create("thread", host, [&, turn, fcfs] {
        while (completions < wanted) {
          if (fcfs) turn->lock();
          sg4::this_actor::execute(size(random) * kMeanSize);  // actors at a host share it evenly
          if (fcfs) turn->unlock();
          if (++completions == wanted) end = sg4::Engine::get_clock();
        }
      });
    }
  }
  zone->seal();
  const auto start = std::chrono::steady_clock::now();
  const double cpu = cpu_seconds();
  engine.run();
  std::printf("%.9g %.9g %.9g\n", static_cast<double>(wanted) / end,
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              cpu_seconds() - cpu);
  return 0;
}
