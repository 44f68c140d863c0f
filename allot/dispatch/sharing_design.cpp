#include "allot/dispatch/sharing_design.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "allot/base/random.hpp"

namespace allot {
namespace {

/// The part of the random mixes in which every resource is full.
constexpr double kFull = 0.6;

struct Pair {
  TaskType type;
  ResourceId resource;
};

std::vector<Pair> pairs_of(const System& system) {
  std::vector<Pair> pairs;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) pairs.push_back({i, j});
  }
  return pairs;
}

PerPair<Count> empty_mix(const System& system) {
  return {system.type_count(), system.resource_count(), Count{0}};
}

/// All servers busy with the two pairs; none if both are at a resource with a single server.
std::vector<PerPair<Count>> two_at_a_time(const System& system, const std::vector<Pair>& pairs) {
  std::vector<PerPair<Count>> mixes;
  for (std::size_t a = 0; a < pairs.size(); ++a) {
    for (std::size_t b = a + 1; b < pairs.size(); ++b) {
      const Count servers = system.resource(pairs[a].resource).servers;
      const bool is_one = pairs[a].resource == pairs[b].resource;
      if (is_one && servers < 2) continue;
      PerPair<Count>& mix = mixes.emplace_back(empty_mix(system));
      mix(pairs[a].type, pairs[a].resource) = is_one ? servers / 2 : servers;
      mix(pairs[b].type, pairs[b].resource) =
          is_one ? servers - servers / 2 : system.resource(pairs[b].resource).servers;
    }
  }
  return mixes;
}

/// Each resource leans towards some of its types, so that one type alone and all of them occur.
PerPair<Count> random_mix(const System& system, const std::vector<Pair>& pairs, RandomStream& random) {
  PerPair<Count> mix = empty_mix(system);
  const bool is_full = random.uniform() < kFull;
  for (const ResourceId j : system.resource_ids()) {
    std::vector<TaskType> types;
    std::vector<double> lean;
    for (const Pair& pair : pairs) {
      if (pair.resource != j) continue;
      types.push_back(pair.type);
      lean.push_back(std::pow(random.uniform(), 3) + (lean.empty() ? 0.0 : lean.back()));
    }
    if (types.empty()) continue;
    const Count servers = system.resource(j).servers;
    const Count busy =
        is_full ? servers : static_cast<Count>(random.below(static_cast<std::uint64_t>(servers) + 1));
    for (Count n = 0; n < busy; ++n) {
      const double at = random.uniform() * lean.back();
      ++mix(types[static_cast<std::size_t>(std::lower_bound(lean.begin(), lean.end(), at) - lean.begin())],
            j);
    }
  }
  return mix;
}

}  // namespace

std::vector<PerPair<Count>> design_mixes(const System& system, const SharingDesign& design) {
  const std::vector<Pair> pairs = pairs_of(system);
  std::vector<PerPair<Count>> mixes;
  for (const Pair& pair : pairs) {
    const Count servers = system.resource(pair.resource).servers;
    for (const Count depth : std::set<Count>{1, (servers + 1) / 2, servers}) {
      PerPair<Count>& mix = mixes.emplace_back(empty_mix(system));
      mix(pair.type, pair.resource) = depth;
    }
  }
  RandomStream random(design.seed);
  std::vector<PerPair<Count>> twos = two_at_a_time(system, pairs);
  for (std::size_t left = twos.size(); left > 1; --left)
    std::swap(twos[left - 1], twos[static_cast<std::size_t>(random.below(left))]);
  if (twos.size() > design.pair_mixes) twos.resize(design.pair_mixes);
  std::move(twos.begin(), twos.end(), std::back_inserter(mixes));
  for (std::size_t n = 0; n < design.random_mixes; ++n) {
    PerPair<Count> mix = random_mix(system, pairs, random);
    const bool is_idle =
        std::all_of(mix.values().begin(), mix.values().end(), [](Count tasks) { return tasks == 0; });
    if (!is_idle) mixes.push_back(std::move(mix));
  }
  return mixes;
}

}  // namespace allot
