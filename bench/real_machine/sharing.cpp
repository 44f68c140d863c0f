#include "bench/real_machine/sharing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "allot/dispatch/sharing_design.hpp"
#include "allot/solve/solver.hpp"

namespace real_machine {
namespace {

using allot::Assignment;
using allot::Count;
using Seconds = std::chrono::duration<double>;

/// Placements of each workload that are predicted and come from a solver.
constexpr std::size_t kSolvers = 3;
/// One of so many placements that the fit sees has each type in one place.
constexpr std::size_t kConcentrated = 3;
/// The part of the mixes that runs before any placement that is predicted, as a profile runs before the work.
constexpr double kFirst = 0.4;

LoopResult hold(const Machine& machine, const Assignment& placement, double warm_up_s, double measure_s,
                std::uint64_t seed) {
  LoopOptions loop = held(placement);
  loop.warm_up_s = warm_up_s;
  loop.measure_s = measure_s;
  loop.stretch = 1.6;
  loop.seed = seed;
  return run_closed_loop(machine, loop);
}

struct Mix {
  std::string origin;
  Assignment placement;
  const Workload* predicted = nullptr;  ///< the fit does not see it, and predicts it as this workload
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
      const bool is_concentrated = !is_predicted && k / workloads.size() % kConcentrated == 0;
      const auto place = [&] {
        return (is_concentrated ? concentrated_placement : random_placement)(machine, workload, random);
      };
      Mix mix{is_predicted ? "random" : workload.name, place(), is_predicted ? &workload : nullptr};
      // What the fit has seen is no prediction.
      const auto is_same = [&](const Mix& other) { return other.placement == mix.placement; };
      for (int tries = 0; tries < 100 && std::any_of(mixes.begin(), mixes.end(), is_same); ++tries)
        mix.placement = place();
      if (is_predicted && std::any_of(mixes.begin(), mixes.end(), is_same)) continue;
      mixes.push_back(std::move(mix));
    }
  };
  add(options.placement_mixes, false);
  std::shuffle(mixes.begin(), mixes.end(), random);
  const auto first = static_cast<std::ptrdiff_t>(kFirst * static_cast<double>(mixes.size()));
  const std::size_t by_solvers = kSolvers * workloads.size();
  add(options.placements > by_solvers ? options.placements - by_solvers : 0, true);
  std::shuffle(mixes.begin() + first, mixes.end(), random);
  return mixes;
}

/// Holds placements one after the other, and writes down what each pair did.
class Holding {
 public:
  Holding(const Machine& machine, const allot::System& shape, std::size_t streams,
          const SharingOptions& options, Table& table)
      : machine_(machine), shape_(shape), streams_(streams), options_(options), table_(table) {}

  bool is_over() const { return options_.deadline && allot::Clock::now() >= *options_.deadline; }
  double seconds() const { return Seconds(allot::Clock::now() - begin_).count(); }

  /// `workload`: of a placement that is predicted; else nothing.
  void hold(const std::string& origin, const Workload* workload, const Assignment& placement) {
    SharingRun run{.number = runs.size(),
                   .began = seconds(),
                   .origin = origin,
                   .workload = workload != nullptr ? workload->name : "",
                   .placement = placement,
                   .measured = {in_service(shape_, placement),
                                allot::PerPair<double>(shape_.type_count(), shape_.resource_count(), 0.0)}};
    const LoopResult result =
        real_machine::hold(machine_, placement, options_.warm_up_s,
                           run.is_predicted() ? options_.placement_s : options_.measure_s, options_.seed);
    for (const allot::TaskType i : shape_.types()) {
      for (const allot::ResourceId j : shape_.resources_for(i)) {
        if (placement(i, j) == 0) continue;
        const auto cycle = result.mean_cycle(index(i), index(j));
        if (cycle) run.measured.throughput(i, j) = run.measured.in_service(i, j) / *cycle;
        table_.row(streams_, run.number, origin, shape_.task(i).name, shape_.resource(j).name,
                   placement(i, j), run.measured.in_service(i, j),
                   result.mean_seconds(index(i), index(j)).value_or(0), cycle.value_or(0),
                   result.throughput(index(i), index(j)) * result.seconds, result.seconds, run.began);
      }
    }
    run.throughput = result.throughput();
    run.little = result.little();
    for (std::size_t j = 0; j < machine_.stations.size(); ++j)
      run.by_station.push_back(result.throughput_of_station(j));
    runs.push_back(std::move(run));
  }

  std::vector<SharingRun> runs;

 private:
  const Machine& machine_;
  const allot::System& shape_;
  std::size_t streams_;
  const SharingOptions& options_;
  Table& table_;
  allot::Clock::time_point begin_ = allot::Clock::now();
};

/// Those that solvers find: with what is shared, as if nothing were, and everything at home.
void hold_those_of_solvers(const allot::System& system, const std::vector<Workload>& workloads,
                           Holding& holding) {
  for (const Workload& workload : workloads) {
    const allot::System shared = system.with_counts(workload.counts);
    const allot::System alone = without_sharing(shared);
    const std::pair<const char*, Assignment> found[kSolvers] = {
        {"map", solve(*allot::find_solver("map"), {shared}).assignment},
        {"map-alone", solve(*allot::find_solver("map"), {alone}).assignment},
        {"best-fit", home_assignment(shared)}};
    for (const auto& [name, placement] : found) {
      // What was held before is no prediction.
      const bool is_new =
          std::none_of(holding.runs.begin(), holding.runs.end(),
                       [&held = placement](const SharingRun& run) { return run.placement == held; });
      if (is_new && !holding.is_over()) holding.hold(name, &workload, placement);
    }
  }
}

}  // namespace

std::optional<allot::System> measure_sharing(const Machine& machine, std::size_t streams,
                                             const std::vector<Workload>& workloads,
                                             const SharingOptions& options, Table& mixes_file,
                                             SharingTables& tables) {
  const allot::System shape = shape_of(machine, workloads.front().counts);
  const std::vector<Mix> mixes = mixes_to_measure(machine, shape, workloads, options);
  Holding holding(machine, shape, streams, options, mixes_file);
  for (std::size_t k = 0; k < mixes.size() && !holding.is_over(); ++k)
    holding.hold(mixes[k].origin, mixes[k].predicted, mixes[k].placement);
  std::printf("%zu streams: %zu of %zu mixes in %.0f s\n", streams, holding.runs.size(), mixes.size(),
              holding.seconds());
  std::fflush(stdout);
  const auto is_for_the_fit = [](const SharingRun& run) { return !run.is_predicted(); };
  if (std::none_of(holding.runs.begin(), holding.runs.end(), is_for_the_fit)) return std::nullopt;
  const double fitting = holding.seconds();
  const allot::SharingFit fit = fit_runs(shape, streams, holding.runs, options.seed, tables);
  std::printf("  fitted in %.1f s\n", holding.seconds() - fitting);
  if (!has_all_rates(shape, fit)) return std::nullopt;
  allot::System system = with_sharing(shape, fit);
  hold_those_of_solvers(system, workloads, holding);
  predict_runs(shape, streams, fit, holding.runs, tables);
  return system;
}

}  // namespace real_machine
