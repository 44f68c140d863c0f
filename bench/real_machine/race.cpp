#include "bench/real_machine/race.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include "allot/model/throughput.hpp"
#include "allot/solve/solver.hpp"
#include "bench/real_machine/sharing.hpp"
#include "bench/real_machine/table.hpp"

namespace real_machine {
namespace {

using allot::Assignment;

/// One way to run a workload.
struct Entrant {
  std::string name;
  bool is_wide = true;  ///< with all streams
  LoopOptions loop;     ///< but for the counts
  bool is_learning = false;
};

Entrant with_plan(std::string name, bool is_wide, const std::string& policy, const allot::System* model) {
  Entrant out{std::move(name), is_wide, {}, true};
  out.loop.policy = policy;
  if (model != nullptr) out.loop.model = *model;
  return out;
}

Entrant without_plan(std::string name, bool is_wide, const std::string& policy, Order order) {
  Entrant out{std::move(name), is_wide, {}, false};
  out.loop.policy = policy;
  out.loop.order = order;
  return out;
}

/// The task that has waited longest goes to the resource of those that are free which is fastest alone.
allot::FeedRule first_fit(const allot::System& model) {
  return [model](allot::ResourceId j, const allot::FeedView& view) {
    std::optional<allot::TaskType> first;
    for (const allot::TaskType i : model.types()) {
      const std::uint64_t arrival = view.arrivals[index(i)];
      bool fits = arrival > 0 && (!first || arrival < view.arrivals[index(*first)]);
      for (const allot::ResourceId other : model.resource_ids())
        fits = fits && (view.free[index(other)] == 0 || model.rate(i, other) <= model.rate(i, j));
      if (fits) first = i;
    }
    return first;
  };
}

/// Those that are the same on every workload.
std::vector<Entrant> entrants(const allot::System& system) {
  std::vector<Entrant> out;
  for (const char* policy : {"map", "optimal", "planned"})
    out.push_back(with_plan(policy, true, policy, &system));
  Entrant shares = with_plan("planned-shares", true, "planned", &system);
  shares.loop.policy_options.objective = allot::Objective::kPriority;
  out.push_back(std::move(shares));
  out.push_back(without_plan("earliest-finish", true, "min-completion-time", Order::kArrival));
  out.push_back(without_plan("earliest-finish-in-order", true, "min-completion-time", Order::kService));
  out.push_back(without_plan("first-fit", true, "jsq", Order::kArrival));
  out.back().loop.rule = first_fit(system);
  out.push_back(without_plan("least-loaded", true, "jsq", Order::kArrival));
  out.push_back(without_plan("round-robin", true, "round-robin", Order::kArrival));
  for (const char* policy : {"map", "optimal", "planned"})
    out.push_back(with_plan(policy, false, policy, nullptr));
  out.push_back(without_plan("earliest-finish", false, "min-completion-time", Order::kArrival));
  return out;
}

/// What the solvers find for the profile, held fixed; each placement once.
std::vector<Entrant> placements(const allot::System& system) {
  std::vector<Entrant> out;
  const allot::System alone = without_sharing(system);
  const std::pair<const char*, Assignment> found[] = {
      {"held-map", solve(*allot::find_solver("map"), {system}).assignment},
      {"held-local", solve(*allot::find_solver("local"), {system}).assignment},
      {"held-map-alone", solve(*allot::find_solver("map"), {alone}).assignment},
  };
  for (const auto& [name, placement] : found) {
    const auto is_same = [&wanted = placement](const Entrant& other) {
      return other.loop.policy_options.assignment == wanted;
    };
    if (std::any_of(out.begin(), out.end(), is_same)) continue;
    out.push_back({name, true, held(placement), false});
  }
  return out;
}

}  // namespace

void race(const Machine& one, const Machine& several, std::size_t streams, const allot::System& system,
          const std::vector<Workload>& workloads, const RaceOptions& options) {
  Table table(options.folder, "race.csv",
              "repeat,workload,entrant,streams,throughput,little,predicted,placement,rates");
  Table shares(options.folder, "shares.csv", "repeat,workload,entrant,streams,type,asked,got");
  struct Entry {
    const Workload* workload;
    Entrant entrant;
  };
  std::vector<Entry> entries;
  for (const Workload& workload : workloads) {
    const allot::System busy = system.with_counts(workload.counts);
    for (Entrant& entrant : entrants(busy)) entries.push_back({&workload, std::move(entrant)});
    for (Entrant& entrant : placements(busy)) {
      std::printf("%s, %s: %s, predicted %.0f\n", workload.name.c_str(), entrant.name.c_str(),
                  as_text(*entrant.loop.policy_options.assignment).c_str(),
                  evaluate(busy, *entrant.loop.policy_options.assignment).throughput);
      entries.push_back({&workload, std::move(entrant)});
    }
  }
  std::mt19937_64 random(options.seed);
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    std::shuffle(entries.begin(), entries.end(), random);
    for (const Entry& entry : entries) {
      if (options.deadline && allot::Clock::now() >= *options.deadline) {
        std::printf("out of time in repeat %zu\n", repeat + 1);
        return;
      }
      const Entrant& entrant = entry.entrant;
      const std::size_t used = entrant.is_wide ? streams : 1;
      LoopOptions loop = entrant.loop;
      loop.counts = entry.workload->counts;
      if (loop.policy_options.objective == allot::Objective::kPriority)
        loop.priorities = entry.workload->priorities;
      loop.warm_up_s = entrant.is_learning ? options.warm_up_s : options.short_warm_up_s;
      loop.measure_s = entrant.is_learning ? options.measure_s : options.short_measure_s;
      loop.seed = options.seed + repeat;
      const LoopResult result = run_closed_loop(entrant.is_wide ? several : one, loop);
      std::string placement;
      if (result.plan->target) placement = as_text(*result.plan->target);
      for (const double x : result.plan->service) placement += (placement.empty() ? "" : " ") + rounded(x);
      std::string rates;
      if (entrant.is_learning) {
        for (const double rate : result.plan->system.rates().values())
          rates += (rates.empty() ? "" : " ") + rounded(rate);
      }
      table.row(repeat, entry.workload->name, entrant.name, used, result.throughput(), result.little(),
                result.plan->predicted ? result.plan->predicted->throughput : 0, placement, rates);
      if (loop.priorities.empty()) continue;
      double asked = 0;
      for (const double priority : loop.priorities) asked += priority;
      for (std::size_t i = 0; i < loop.priorities.size(); ++i) {
        shares.row(repeat, entry.workload->name, entrant.name, used, several.types[i],
                   loop.priorities[i] / asked, result.throughput(i) / result.throughput());
      }
    }
    std::printf("repeat %zu of %zu\n", repeat + 1, options.repeats);
    std::fflush(stdout);
  }
}

}  // namespace real_machine
