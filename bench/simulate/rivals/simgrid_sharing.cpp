// One shared capacity in allot and in SimGrid: the same tasks, of the same sizes, event by event. SimGrid
// solves max-min sharing with weights and bounds for each action; a task that needs `a` of the capacity is
// an action of rate at most `a`.
//
// usage: simgrid_sharing [SYSTEMS [COMPLETIONS]]   (default 50, 400)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "allot/base/random.hpp"
#include "allot/policy/policy.hpp"
#include "allot/simulate/simulate.hpp"
#include "allot/simulate/trace.hpp"
#include "allot/size/distribution.hpp"

namespace sg4 = simgrid::s4u;

namespace {

using namespace allot;

constexpr double kScale = 1e9;  // as SimGrid counts: operations
constexpr double kEnd = 1e4;    // seconds, more than all tasks take

class Recorder final : public TraceSink {
 public:
  void event(const TraceEvent& event) override { events.push_back(event); }
  std::vector<TraceEvent> events;
};

/// Servers for everybody, and one bus.
System random_bus(RandomStream& random, bool equal_needs) {
  const std::size_t types = 1 + random.below(4);
  std::vector<Resource> machine(1);
  machine[0].name = "machine";
  machine[0].servers = 100;
  std::vector<TaskClass> tasks(types);
  std::vector<double> rates(types);
  const double common = random.uniform(0.1, 1);
  for (std::size_t i = 0; i < types; ++i) {
    tasks[i].name = "t" + std::to_string(i);
    tasks[i].count = 1 + static_cast<Count>(random.below(6));
    tasks[i].needs = {{resource_id(0), capacity_id(1), equal_needs ? common : random.uniform(0.05, 1.2)}};
    rates[i] = random.uniform(0.5, 20);
  }
  return System(std::move(machine), std::move(tasks), Rates(types, 1, std::move(rates)),
                {{"bus", random.uniform(0.5, 2), true}});
}

struct Task {
  double operations = 0;
  double need = 0;
  double end = 0;  // as allot has it
};

enum class Weights { kEqual, kNeeds };

/// Runs the same tasks in SimGrid, on a host of their own, and leaves the largest difference of an end.
void run_there(sg4::NetZone* zone, const System& system, const std::vector<TraceEvent>& events,
               Weights weights, double& worst) {
  static int hosts = 0;
  sg4::Host* host =
      zone->create_host("bus" + std::to_string(hosts++), system.amount(capacity_id(1)) * kScale);
  host->seal();
  std::map<std::uint64_t, std::vector<Task>> by_thread;
  std::map<std::uint64_t, double> need_of;
  for (const TraceEvent& event : events) {
    const double need = system.needs(event.type, event.resource).back().amount;
    need_of[event.thread] = need;
    if (event.what != TraceEvent::What::kComplete) continue;
    by_thread[event.thread].push_back(
        {event.size / system.rate(event.type, event.resource) * need * kScale, need, event.time});
  }
  for (const auto& [thread, need] : need_of) {
    // What a thread has not completed at the end goes on for ever, as far as the others can tell.
    by_thread[thread].push_back({1e6 * events.back().time * kScale, need, -1});
  }
  for (const auto& [thread, tasks] : by_thread) {
    sg4::Actor::create("thread", host, [tasks, weights, &worst] {
      for (const Task& task : tasks) {
        sg4::ExecPtr exec = sg4::this_actor::exec_init(task.operations);
        exec->set_bound(task.need * kScale);
        if (weights == Weights::kNeeds) exec->set_priority(task.need);
        exec->wait();
        if (task.end < 0) return;
        worst = std::max(worst, std::abs(sg4::Engine::get_clock() - task.end) / task.end);
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  sg4::Engine engine(&argc, argv);
  const int systems = argc > 1 ? std::atoi(argv[1]) : 50;
  const long completions = argc > 2 ? std::atol(argv[2]) : 400;
  struct Case {
    const char* name;
    bool equal_needs;
    Weights weights;
  };
  const Case cases[] = {{"equal needs, equal weights", true, Weights::kEqual},
                        {"any needs, weights in proportion to needs", false, Weights::kNeeds},
                        {"any needs, equal weights", false, Weights::kEqual}};
  std::vector<std::vector<double>> worst(std::size(cases),
                                         std::vector<double>(static_cast<std::size_t>(systems)));
  sg4::NetZone* zone = sg4::create_full_zone("zone");
  for (std::size_t kind = 0; kind < std::size(cases); ++kind) {
    for (int seed = 0; seed < systems; ++seed) {
      RandomStream random(static_cast<std::uint64_t>(seed) + 1, 0x51f);
      const Scenario scenario{"", random_bus(random, cases[kind].equal_needs), {}, {}, {}, {}, {}};
      Recorder trace;
      SimulateOptions options;
      options.completions = static_cast<std::uint64_t>(completions);
      options.warmup = 0;
      options.replications = 1;
      options.threads = 1;
      options.trace = &trace;
      simulate(scenario, *find_policy("best-fit"), *make_distribution("exponential"), options);
      run_there(zone, scenario.system, trace.events, cases[kind].weights,
                worst[kind][static_cast<std::size_t>(seed)]);
    }
  }
  zone->seal();
  engine.run_until(kEnd);
  std::printf(
      "Ends of the same tasks in allot and in SimGrid, one shared capacity: largest relative difference\n");
  for (std::size_t kind = 0; kind < std::size(cases); ++kind) {
    std::vector<double>& found = worst[kind];
    std::sort(found.begin(), found.end());
    std::printf("  %-44s %4d systems: median %.2g, worst %.2g\n", cases[kind].name, systems,
                found[found.size() / 2], found.back());
  }
  return 0;
}
