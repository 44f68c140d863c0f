#include "bench/real_machine/sharing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "allot/dispatch/sharing_design.hpp"
#include "allot/dispatch/sharing_fit.hpp"
#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;
using Seconds = std::chrono::duration<double>;

/// Placements of each workload that are predicted and come from a solver.
constexpr std::size_t kSolvers = 3;

/// The shape of the machine: all rates 1 until they are measured.
allot::System shape_of(const Machine& machine, const std::vector<Count>& counts) {
  std::vector<allot::Resource> resources;
  for (const Station& station : machine.stations) resources.push_back(station.resource);
  std::vector<allot::TaskClass> tasks;
  allot::PerPair<double> rates(machine.types.size(), machine.stations.size(), 0.0);
  for (std::size_t i = 0; i < machine.types.size(); ++i) {
    tasks.push_back({.name = machine.types[i], .count = counts[i]});
    for (std::size_t j = 0; j < machine.stations.size(); ++j)
      rates(allot::task_type(i), allot::resource_id(j)) = machine.can_run(i, j) ? 1.0 : 0.0;
  }
  return {std::move(resources), std::move(tasks), allot::Rates(std::move(rates))};
}

LoopResult hold(const Machine& machine, const Assignment& placement, double warm_up_s, double measure_s,
                std::uint64_t seed) {
  LoopOptions loop;
  for (std::size_t i = 0; i < placement.types(); ++i)
    loop.counts.push_back(placement.row_sum(allot::task_type(i)));
  loop.policy = "fixed";
  loop.policy_options.assignment = placement;
  loop.warm_up_s = warm_up_s;
  loop.measure_s = measure_s;
  loop.stretch = 1.6;
  loop.seed = seed;
  return run_closed_loop(machine, loop);
}

/// How many tasks are in service, evenly shared.
double in_service(const Machine& machine, const Assignment& placement, std::size_t i, std::size_t j) {
  const Count there = placement.column_sum(allot::resource_id(j));
  const double n = static_cast<double>(placement(allot::task_type(i), allot::resource_id(j)));
  const Count servers = machine.stations[j].resource.servers;
  return there <= servers ? n : n * static_cast<double>(servers) / static_cast<double>(there);
}

struct Mix {
  std::string origin;
  Assignment placement;
  const Workload* predicted = nullptr;  ///< the fit does not see it, and predicts it as this workload
};

/// What a placement that is predicted did.
struct Held {
  const Workload* workload;
  std::string origin;
  Assignment placement;
  double throughput;
  double little;
  std::vector<double> by_station;
};

std::vector<Mix> mixes_to_measure(const Machine& machine, const allot::System& shape,
                                  const std::vector<Workload>& workloads, const SharingOptions& options) {
  std::vector<Mix> mixes;
  for (const allot::PerPair<Count>& mix :
       allot::design_mixes(shape, {options.pair_mixes, options.random_mixes, options.seed})) {
    Mix& made = mixes.emplace_back(Mix{"design", Assignment(mix.types(), mix.resources())});
    for (const allot::TaskType i : mix.type_ids()) {
      for (const allot::ResourceId j : mix.resource_ids()) made.placement(i, j) = mix(i, j);
    }
  }
  std::mt19937_64 random(options.seed);
  const auto add = [&](std::size_t count, bool is_predicted) {
    for (std::size_t k = 0; k < count; ++k) {
      const Workload& workload = workloads[k % workloads.size()];
      Mix mix{workload.name, random_placement(machine, workload, random), is_predicted ? &workload : nullptr};
      // What the fit has seen is no prediction.
      const auto is_same = [&](const Mix& other) { return other.placement == mix.placement; };
      for (int tries = 0; tries < 100 && std::any_of(mixes.begin(), mixes.end(), is_same); ++tries)
        mix.placement = random_placement(machine, workload, random);
      mixes.push_back(std::move(mix));
    }
  };
  add(options.placement_mixes, false);
  const std::size_t by_solvers = kSolvers * workloads.size();
  add(options.placements > by_solvers ? options.placements - by_solvers : 0, true);
  std::shuffle(mixes.begin(), mixes.end(), random);
  return mixes;
}

bool is_over(const SharingOptions& options) {
  return options.deadline && allot::Clock::now() >= *options.deadline;
}

void write_fit(const allot::System& shape, std::size_t streams, const allot::SharingFit& fit,
               SharingTables& tables) {
  const auto number = [&](const std::string& what, allot::TaskType i, allot::ResourceId j,
                          const allot::FittedNumber& fitted) {
    tables.fits.row(streams, what, shape.task(i).name, shape.resource(j).name, fitted.value, fitted.low,
                    fitted.high);
  };
  for (const allot::TaskType i : shape.types()) {
    for (const allot::ResourceId j : shape.resources_for(i)) {
      number("rate", i, j, fit.rates(i, j));
      for (std::size_t r = 0; r < fit.needs.size(); ++r)
        number("need" + std::to_string(r + 1), i, j, fit.needs[r](i, j));
    }
  }
  const auto error = [&](const std::string& what, std::size_t capacities, const allot::SharingError& found) {
    tables.errors.row(streams, what, capacities, fit.mixes, found.median, found.within_tenth, found.worst);
    std::printf("  %s, %zu shared: median error %.1f%%, within 10%% %.0f%%, worst %.1f%%\n", what.c_str(),
                capacities, 100 * found.median, 100 * found.within_tenth, 100 * found.worst);
  };
  for (std::size_t count = 0; count < fit.left_out.size(); ++count)
    error("left_out", count, fit.left_out[count]);
  error("in_sample", fit.needs.size(), fit.in_sample);
}

Held held(const Machine& machine, const Workload& workload, std::string origin, Assignment placement,
          const SharingOptions& options) {
  const LoopResult result = hold(machine, placement, options.warm_up_s, options.placement_s, options.seed);
  std::vector<double> by_station;
  for (std::size_t j = 0; j < machine.stations.size(); ++j)
    by_station.push_back(result.throughput_of_station(j));
  return {&workload,           std::move(origin), std::move(placement),
          result.throughput(), result.little(),   std::move(by_station)};
}

allot::MixMeasurement measured(const Machine& machine, const allot::System& shape, std::size_t streams,
                               std::size_t k, const Mix& mix, const SharingOptions& options,
                               SharingTables& tables) {
  const LoopResult result = hold(machine, mix.placement, options.warm_up_s, options.measure_s, options.seed);
  allot::MixMeasurement out{allot::PerPair<double>(shape.type_count(), shape.resource_count(), 0.0),
                            allot::PerPair<double>(shape.type_count(), shape.resource_count(), 0.0)};
  for (const allot::TaskType i : shape.types()) {
    for (const allot::ResourceId j : shape.resources_for(i)) {
      if (mix.placement(i, j) == 0) continue;
      out.in_service(i, j) = in_service(machine, mix.placement, index(i), index(j));
      const auto cycle = result.mean_cycle(index(i), index(j));
      if (cycle) out.throughput(i, j) = out.in_service(i, j) / *cycle;
      tables.mixes.row(streams, k, mix.origin, shape.task(i).name, shape.resource(j).name,
                       mix.placement(i, j), out.in_service(i, j),
                       result.mean_seconds(index(i), index(j)).value_or(0), cycle.value_or(0),
                       result.throughput(index(i), index(j)) * result.seconds, result.seconds);
    }
  }
  return out;
}

/// Those that solvers find: with what is shared, as if nothing were, and everything at home.
std::vector<Held> held_by_solvers(const Machine& machine, const allot::System& system,
                                  const std::vector<Workload>& workloads, const SharingOptions& options) {
  std::vector<Held> out;
  for (const Workload& workload : workloads) {
    const allot::System shared = system.with_counts(workload.counts);
    const allot::System alone = without_sharing(shared);
    const std::pair<const char*, Assignment> found[kSolvers] = {
        {"map", solve(*allot::find_solver("map"), {shared}).assignment},
        {"map-alone", solve(*allot::find_solver("map"), {alone}).assignment},
        {"best-fit", home_assignment(shared)}};
    for (const auto& [name, placement] : found) {
      if (!is_over(options)) out.push_back(held(machine, workload, name, placement, options));
    }
  }
  return out;
}

void write_predictions(std::size_t streams, const allot::System& system, const std::vector<Held>& all,
                       SharingTables& tables) {
  std::vector<double> errors;
  for (const Held& one : all) {
    const allot::System shared = system.with_counts(one.workload->counts);
    const allot::Performance predicted = evaluate(shared, one.placement);
    const double alone = evaluate(without_sharing(shared), one.placement).throughput;
    const double error = predicted.throughput / one.throughput - 1;
    errors.push_back(std::abs(error));
    std::string by_station;
    for (std::size_t j = 0; j < one.by_station.size(); ++j) {
      by_station += (j == 0 ? "" : " ") + rounded(predicted.throughput_by_resource[j]) + ":" +
                    rounded(one.by_station[j]);
    }
    tables.predictions.row(streams, one.workload->name, one.origin, as_text(one.placement),
                           predicted.throughput, one.throughput, error, alone, alone / one.throughput - 1,
                           one.little, by_station);
  }
  if (errors.empty()) return;
  std::sort(errors.begin(), errors.end());
  const auto within = std::upper_bound(errors.begin(), errors.end(), 0.1) - errors.begin();
  std::printf(
      "  %zu placements that the fit has not seen: median error %.1f%%, %td within 10%%, worst %.1f%%\n",
      errors.size(), 100 * errors[errors.size() / 2], within, 100 * errors.back());
  std::fflush(stdout);
}

}  // namespace

SharingTables::SharingTables(const std::filesystem::path& folder)
    : mixes(folder, "mixes.csv",
            "streams,mix,origin,type,resource,tasks,in_service,seconds,cycle,ended,window"),
      fits(folder, "fits.csv", "streams,what,type,resource,value,low,high"),
      errors(folder, "errors.csv", "streams,what,capacities,mixes,median,within_tenth,worst"),
      predictions(
          folder, "predictions.csv",
          "streams,workload,placement,counts,predicted,measured,error,alone,alone_error,little,by_station") {}

allot::System without_sharing(const allot::System& system) {
  std::vector<allot::TaskClass> tasks = system.tasks();
  for (allot::TaskClass& task : tasks) task.needs.clear();
  return {system.resources(), std::move(tasks), system.rates()};
}

std::optional<allot::System> measure_sharing(const Machine& machine, std::size_t streams,
                                             const std::vector<Workload>& workloads,
                                             const SharingOptions& options, SharingTables& tables) {
  const allot::System shape = shape_of(machine, workloads.front().counts);
  const std::vector<Mix> mixes = mixes_to_measure(machine, shape, workloads, options);
  std::vector<allot::MixMeasurement> seen;
  std::vector<Held> predicted;
  const auto begin = allot::Clock::now();
  for (std::size_t k = 0; k < mixes.size() && !is_over(options); ++k) {
    if (mixes[k].predicted != nullptr) {
      predicted.push_back(held(machine, *mixes[k].predicted, "random", mixes[k].placement, options));
    } else {
      seen.push_back(measured(machine, shape, streams, k, mixes[k], options, tables));
    }
  }
  std::printf("%zu streams: %zu of %zu mixes in %.0f s\n", streams, seen.size() + predicted.size(),
              mixes.size(), Seconds(allot::Clock::now() - begin).count());
  std::fflush(stdout);
  if (seen.empty()) return std::nullopt;
  const auto fitting = allot::Clock::now();
  const allot::SharingFit fit = allot::fit_sharing(seen, {.seed = options.seed});
  std::printf("  fitted in %.1f s\n", Seconds(allot::Clock::now() - fitting).count());
  write_fit(shape, streams, fit, tables);
  std::fflush(stdout);
  for (const allot::TaskType i : shape.types()) {
    for (const allot::ResourceId j : shape.resources_for(i)) {
      if (fit.rates(i, j).value > 0) continue;
      std::printf("  no mix had %s on %s: nothing is predicted\n", shape.task(i).name.c_str(),
                  shape.resource(j).name.c_str());
      return std::nullopt;
    }
  }
  allot::System system = with_sharing(shape, fit);
  for (Held& one : held_by_solvers(machine, system, workloads, options)) predicted.push_back(std::move(one));
  write_predictions(streams, system, predicted, tables);
  return system;
}

}  // namespace real_machine
