#include "examples/real_machine/measure.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "allot/base/statistics.hpp"
#include "allot/model/throughput.hpp"
#include "examples/real_machine/table.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;

LoopOptions fixed(const Assignment& placement, const MeasureOptions& options) {
  LoopOptions loop;
  for (std::size_t i = 0; i < placement.types(); ++i)
    loop.counts.push_back(placement.row_sum(allot::task_type(i)));
  loop.policy = "fixed";
  loop.policy_options.assignment = placement;
  loop.warm_up_s = 0.2 * options.seconds;
  loop.measure_s = options.seconds;
  loop.seed = options.seed;
  return loop;
}

/// The tasks of a pair that ended: their mean time, by tenths of the measurement, since neighbours in time
/// are alike.
struct Times {
  std::size_t runs = 0;
  allot::MeanInterval seconds;
  double rate() const { return seconds.mean > 0 ? 1 / seconds.mean : 0; }
};

Times times_of(const LoopResult& result, std::size_t type, std::size_t station) {
  constexpr std::size_t kParts = 10;
  std::vector<double> sums(kParts, 0);
  std::vector<std::size_t> counts(kParts, 0);
  Times out;
  for (const Run& run : result.runs) {
    if (run.type != type || run.station != station) continue;
    const auto part = std::min(kParts - 1, static_cast<std::size_t>(run.end / result.seconds * kParts));
    sums[part] += run.end - run.start;
    ++counts[part];
    ++out.runs;
  }
  std::vector<double> means;
  double sum = 0;
  for (std::size_t part = 0; part < kParts; ++part) {
    sum += sums[part];
    if (counts[part] > 0) means.push_back(sums[part] / static_cast<double>(counts[part]));
  }
  if (out.runs == 0) return out;
  out.seconds = allot::mean_interval(means);
  out.seconds.mean = sum / static_cast<double>(out.runs);
  return out;
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
                  times_of(result, type, station).seconds.mean);
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
                    order == Order::kService ? "service" : "arrival",
                    run_closed_loop(machine, loop).throughput(), ps, fcfs);
        }
      }
    }
  }
}

allot::Scenario measure_rates(const Machine& machine, const std::vector<Count>& counts,
                              const MeasureOptions& options) {
  const std::size_t types = machine.types.size();
  const std::size_t stations = machine.stations.size();
  // Two tasks of every type for each server of every station: all servers are busy, with all types in turn.
  Assignment mix(types, stations);
  for (std::size_t j = 0; j < stations; ++j) {
    for (std::size_t i = 0; i < types; ++i) {
      if (machine.can_run(i, j))
        mix(allot::task_type(i), allot::resource_id(j)) = 2 * machine.stations[j].resource.servers;
    }
  }
  MeasureOptions longer = options;
  longer.seconds = 6 * options.seconds;
  const LoopResult mixed = run_closed_loop(machine, fixed(mix, longer));

  Table table(options.folder, "rates.csv", "type,resource,alone,full,mixed,mixed_low,mixed_high,runs");
  std::vector<double> rates(types * stations, 0);
  std::vector<allot::MeasuredRate> measured;
  for (std::size_t i = 0; i < types; ++i) {
    for (std::size_t j = 0; j < stations; ++j) {
      if (!machine.can_run(i, j)) continue;
      LoopOptions alone = fixed(only(machine, i, j, 1), options);
      alone.servers.assign(stations, 0);
      alone.servers[j] = 1;
      const double alone_rate = times_of(run_closed_loop(machine, alone), i, j).rate();
      const LoopOptions full = fixed(only(machine, i, j, 2 * machine.stations[j].resource.servers), options);
      const double full_rate = times_of(run_closed_loop(machine, full), i, j).rate();
      const Times times = times_of(mixed, i, j);
      if (times.runs == 0) {
        throw std::runtime_error("no " + machine.types[i] + " ended on " + machine.stations[j].resource.name +
                                 " in " + std::to_string(longer.seconds) + " s: measure for longer");
      }
      const double half = times.seconds.half_width.value_or(times.seconds.mean);
      const double low = 1 / (times.seconds.mean + half);
      const double high = 1 / std::max(times.seconds.mean - half, times.seconds.mean / 100);
      rates[i * stations + j] = times.rate();
      measured.push_back({allot::task_type(i), allot::resource_id(j), low, high,
                          static_cast<Count>(times.runs), alone_rate, times.rate(),
                          half <= 0.05 * times.seconds.mean});
      table.row(machine.types[i], machine.stations[j].resource.name, alone_rate, full_rate, times.rate(), low,
                high, times.runs);
    }
  }
  std::vector<allot::Resource> resources;
  for (const Station& station : machine.stations) resources.push_back(station.resource);
  std::vector<allot::TaskClass> tasks;
  for (std::size_t i = 0; i < types; ++i) tasks.push_back({.name = machine.types[i], .count = counts[i]});
  return {.name = "measured: " + machine.description,
          .system = allot::System(std::move(resources), std::move(tasks),
                                  allot::Rates(types, stations, std::move(rates))),
          .threads = {},
          .population = {},
          .arrivals = {},
          .measured = std::move(measured)};
}

}  // namespace real_machine
