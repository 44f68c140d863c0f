#include "bench/real_machine/measure.hpp"

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>

#include "allot/base/statistics.hpp"
#include "allot/model/throughput.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;

LoopOptions fixed(const Assignment& placement, const MeasureOptions& options) {
  LoopOptions loop = held(placement);
  loop.warm_up_s = options.warm_up_s;
  loop.measure_s = options.seconds;
  loop.seed = options.seed;
  return loop;
}

double rate_of(const LoopResult& result, std::size_t type, std::size_t station) {
  const auto seconds = result.mean_seconds(type, station);
  return seconds ? 1 / *seconds : 0;
}

/// So many tasks of one type at one station, and nothing else.
Assignment only(const Machine& machine, std::size_t type, std::size_t station, Count tasks) {
  Assignment placement(machine.types.size(), machine.stations.size());
  placement(allot::task_type(type), allot::resource_id(station)) = tasks;
  return placement;
}

}  // namespace

void measure_servers(const Machine& machine, const MeasureOptions& options) {
  Table table(options.folder, "servers.csv", "type,resource,servers,throughput,seconds_per_task");
  for (std::size_t station = 0; station < machine.stations.size(); ++station) {
    const std::size_t all = machine.stations[station].servers.size();
    std::vector<std::size_t> widths;
    for (std::size_t w = 1; w < all; w *= 2) widths.push_back(w);
    widths.push_back(all);
    for (std::size_t type = 0; type < machine.types.size(); ++type) {
      if (!machine.can_run(type, station)) continue;
      for (const std::size_t width : widths) {
        LoopOptions loop = fixed(only(machine, type, station, static_cast<Count>(2 * width)), options);
        loop.servers.assign(machine.stations.size(), 0);
        loop.servers[station] = width;
        const LoopResult result = run_closed_loop(machine, loop);
        table.row(machine.types[type], machine.stations[station].resource.name, width, result.throughput(),
                  result.mean_seconds(type, station).value_or(0));
      }
    }
  }
}

void measure_disciplines(const Machine& machine, const allot::System& system, const MeasureOptions& options) {
  Table table(options.folder, "disciplines.csv",
              "resource,first,second,order,throughput,model_ps,model_fcfs");
  for (std::size_t station = 0; station < machine.stations.size(); ++station) {
    for (std::size_t a = 0; a < machine.types.size(); ++a) {
      for (std::size_t b = a + 1; b < machine.types.size(); ++b) {
        if (!machine.can_run(a, station) || !machine.can_run(b, station)) continue;
        Assignment placement = only(machine, a, station, 2 * machine.stations[station].resource.servers);
        placement(allot::task_type(b), allot::resource_id(station)) =
            2 * machine.stations[station].resource.servers;
        LoopOptions loop = fixed(placement, options);
        const allot::System busy = system.with_counts(loop.counts);
        const double ps = evaluate(busy.with_discipline(allot::Discipline::kPs), placement).throughput;
        const double fcfs = evaluate(busy.with_discipline(allot::Discipline::kFcfs), placement).throughput;
        for (const Order order : {Order::kService, Order::kArrival}) {
          loop.order = order;
          table.row(machine.stations[station].resource.name, machine.types[a], machine.types[b],
                    to_string(order), run_closed_loop(machine, loop).throughput(), ps, fcfs);
        }
      }
    }
  }
}

allot::Scenario measure_rates(const Machine& machine, const std::vector<Workload>& workloads,
                              const MeasureOptions& options) {
  const std::size_t types = machine.types.size();
  const std::size_t stations = machine.stations.size();
  // A stream of its own, so that no placement of `predict` is among these.
  std::mt19937_64 random(options.seed ^ 0x6C6F6164);
  std::vector<std::vector<double>> times(types *
                                         stations);  // mean seconds in each placement that has the pair
  for (std::size_t k = 0; k < options.placements; ++k) {
    const Assignment placement = random_placement(machine, workloads[k % workloads.size()], random);
    const LoopResult result = run_closed_loop(machine, fixed(placement, options));
    for (std::size_t pair = 0; pair < times.size(); ++pair) {
      if (const auto mean = result.mean_seconds(pair / stations, pair % stations))
        times[pair].push_back(*mean);
    }
  }

  Table table(options.folder, "rates.csv",
              "type,resource,alone,full,loaded,loaded_low,loaded_high,placements");
  std::vector<double> rates(types * stations, 0);
  std::vector<allot::MeasuredRate> measured;
  for (std::size_t i = 0; i < types; ++i) {
    for (std::size_t j = 0; j < stations; ++j) {
      if (!machine.can_run(i, j)) continue;
      LoopOptions alone = fixed(only(machine, i, j, 1), options);
      alone.servers.assign(stations, 0);
      alone.servers[j] = 1;
      const double alone_rate = rate_of(run_closed_loop(machine, alone), i, j);
      const LoopOptions full = fixed(only(machine, i, j, 2 * machine.stations[j].resource.servers), options);
      const double full_rate = rate_of(run_closed_loop(machine, full), i, j);
      const std::vector<double>& loaded = times[i * stations + j];
      const std::string pair = machine.types[i] + " on " + machine.stations[j].resource.name;
      if (loaded.empty())
        throw std::runtime_error("no placement had " + pair + ": measure more of them, or for longer");
      const allot::Estimate seconds = allot::mean_interval(loaded);
      const double half = std::min(seconds.half_width.value_or(seconds.mean), 0.99 * seconds.mean);
      const double low = 1 / (seconds.mean + half);
      const double high = 1 / (seconds.mean - half);
      rates[i * stations + j] = 1 / seconds.mean;
      measured.push_back({allot::task_type(i), allot::resource_id(j), low, high,
                          static_cast<Count>(loaded.size()), alone_rate, 1 / seconds.mean,
                          half <= 0.05 * seconds.mean});
      table.row(machine.types[i], machine.stations[j].resource.name, alone_rate, full_rate, 1 / seconds.mean,
                low, high, loaded.size());
    }
  }
  std::vector<allot::Resource> resources;
  for (const Station& station : machine.stations) resources.push_back(station.resource);
  std::vector<allot::TaskClass> tasks;
  for (std::size_t i = 0; i < types; ++i)
    tasks.push_back({.name = machine.types[i], .count = workloads.front().counts[i]});
  return {.name = "measured: " + machine.description,
          .system = allot::System(std::move(resources), std::move(tasks),
                                  allot::Rates(types, stations, std::move(rates))),
          .threads = {},
          .population = {},
          .arrivals = {},
          .measured = std::move(measured)};
}

}  // namespace real_machine
