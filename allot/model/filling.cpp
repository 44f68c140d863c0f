#include "allot/model/filling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "allot/base/error.hpp"
#include "allot/base/quote.hpp"

namespace allot {

namespace {

/// The part of a capacity by which sums of needs may exceed it through rounding: 0.1 and 0.2 fit into 0.3.
constexpr double kRoundingOfNeeds = 1e-9;

std::vector<PairId> all_pairs(const System& system) {
  std::vector<PairId> pairs;
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resource_ids()) pairs.push_back({i, j});
  }
  return pairs;
}

}  // namespace

Filling::Filling(const System& system, Of capacities) : Filling(system, capacities, all_pairs(system)) {}

Filling::Filling(const System& system, Of capacities, std::span<const PairId> pairs) : begin_{0} {
  constexpr std::size_t kUnused = ~std::size_t{0};
  std::vector<std::size_t> place(system.capacity_count(),
                                 kUnused);  // capacities without needs are left out
  for (const auto [i, j] : pairs) {
    for (const Draw& draw : system.needs(i, j)) {
      if (system.is_shared(draw.capacity) != (capacities == Of::kShared)) continue;
      std::size_t& at = place[index(draw.capacity)];
      if (at == kUnused) {
        at = amounts_.size();
        amounts_.push_back(system.amount(draw.capacity));
        capacities_.push_back(draw.capacity);
      }
      draws_.push_back({capacity_id(at), draw.amount});
    }
    begin_.push_back(draws_.size());
  }
  make_room();
}

Filling::Filling(std::span<const std::vector<double>> needs, std::size_t pairs)
    : begin_{0}, amounts_(needs.size(), 1.0) {
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    for (std::size_t r = 0; r < needs.size(); ++r) {
      if (needs[r][pair] > 0) draws_.push_back({capacity_id(r), needs[r][pair]});
    }
    begin_.push_back(draws_.size());
  }
  make_room();
}

void Filling::make_room() {
  levels_.assign(begin_.size() - 1, 1.0);
  used_.resize(amounts_.size());
  rising_.resize(amounts_.size());
  is_full_.resize(amounts_.size());
  active_.reserve(levels_.size());
}

/// Returns the level at which the next capacity is used up, and marks that capacity as full.
double Filling::next_stop(double level) {
  std::fill(rising_.begin(), rising_.end(), 0.0);
  for (const std::size_t pair : active_) {
    for (std::size_t at = begin_[pair]; at < begin_[pair + 1]; ++at)
      rising_[index(draws_[at].capacity)] += draws_[at].amount * tasks_[pair];
  }
  double stop = 1;
  for (std::size_t r = 0; r < amounts_.size(); ++r) {
    if (rising_[r] > 0) stop = std::min(stop, std::max(level, (amounts_[r] - used_[r]) / rising_[r]));
  }
  for (std::size_t r = 0; r < amounts_.size(); ++r)
    is_full_[r] = rising_[r] > 0 && (amounts_[r] - used_[r]) / rising_[r] <= stop;
  return stop;
}

std::span<const double> Filling::levels(std::span<const double> tasks, std::span<const double> taken) {
  tasks_ = tasks;
  active_.clear();
  for (std::size_t pair = 0; pair < levels_.size(); ++pair) {
    levels_[pair] = 1;
    if (tasks[pair] > 0 && begin_[pair] != begin_[pair + 1]) active_.push_back(pair);
  }
  for (std::size_t r = 0; r < used_.size(); ++r)
    used_[r] = taken.empty() ? 0.0 : std::min(amounts_[r], taken[index(capacities_[r])]);
  double level = 0;
  while (!active_.empty()) {
    level = next_stop(level);
    if (!(level < 1)) break;
    const auto stops = [&](std::size_t pair) {
      const auto draws = std::span(draws_).subspan(begin_[pair], begin_[pair + 1] - begin_[pair]);
      if (std::none_of(draws.begin(), draws.end(),
                       [&](const Draw& draw) { return is_full_[index(draw.capacity)]; }))
        return false;
      levels_[pair] = level;
      for (const Draw& draw : draws) used_[index(draw.capacity)] += draw.amount * tasks_[pair] * level;
      return true;
    };
    active_.erase(std::remove_if(active_.begin(), active_.end(), stops), active_.end());
  }
  return levels_;
}

EvenSharing::Service EvenSharing::operator()(std::span<const double> tasks) {
  in_service_.assign(tasks.begin(), tasks.end());
  const std::span<const double> held = held_.levels(tasks);
  for (std::size_t pair = 0; pair < tasks.size(); ++pair) in_service_[pair] *= held[pair];
  at_full_speed_ = in_service_;
  const std::span<const double> shared = shared_.levels(in_service_);
  for (std::size_t pair = 0; pair < tasks.size(); ++pair) at_full_speed_[pair] *= shared[pair];
  return {in_service_, at_full_speed_};
}

namespace {

/// A graph with capacities as points, and tasks that need two of them as lines between them. Two colours are
/// enough unless some lines form an odd cycle.
class Circles {
 public:
  explicit Circles(std::size_t points) : parent_(points), is_opposite_(points) {
    for (std::size_t at = 0; at < points; ++at) parent_[at] = at;
  }
  /// Whether the line closes an odd cycle.
  bool closes_odd(std::size_t a, std::size_t b) {
    const auto [root_a, turned_a] = root(a);
    const auto [root_b, turned_b] = root(b);
    if (root_a == root_b) return turned_a == turned_b;
    parent_[root_a] = root_b;
    is_opposite_[root_a] = turned_a == turned_b;
    return false;
  }

 private:
  std::pair<std::size_t, bool> root(std::size_t at) const {
    bool turned = false;
    for (; parent_[at] != at; at = parent_[at]) turned ^= is_opposite_[at];
    return {at, turned};
  }
  std::vector<std::size_t> parent_;
  std::vector<bool> is_opposite_;
};

}  // namespace

bool has_lumps(const System& system, std::span<const double> tasks) {
  const PairSpan by_pair(tasks, system.resource_count());
  std::vector<double> wanted(system.capacity_count());
  std::vector<double> need(system.capacity_count());
  std::vector<bool> are_equal(system.capacity_count(), true);
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (!(by_pair(i, j) > 0)) continue;
      for (const Draw& draw : system.needs(i, j)) {
        const std::size_t r = index(draw.capacity);
        wanted[r] += draw.amount * by_pair(i, j);
        are_equal[r] = are_equal[r] && (need[r] == 0 || need[r] == draw.amount);
        need[r] = draw.amount;
      }
    }
  }
  std::vector<bool> is_short(system.capacity_count());
  for (const CapacityId r : system.capacity_ids()) {
    const std::size_t at = index(r);
    is_short[at] = !system.is_shared(r) && wanted[at] > system.amount(r) * (1 + kRoundingOfNeeds);
    if (!is_short[at]) continue;
    const double fit = system.amount(r) / need[at];
    if (!are_equal[at] || std::abs(fit - std::round(fit)) > 1e-12 * fit) return true;
  }
  Circles circles(system.capacity_count());
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      if (!(by_pair(i, j) > 0)) continue;
      std::vector<std::size_t> short_of;
      for (const Draw& draw : system.needs(i, j)) {
        if (is_short[index(draw.capacity)]) short_of.push_back(index(draw.capacity));
      }
      if (short_of.size() > 2 || (short_of.size() == 2 && circles.closes_odd(short_of[0], short_of[1])))
        return true;
    }
  }
  return false;
}

std::optional<std::string> why_no_even_sharing(const System& system) {
  if (!system.has_needs()) return {};
  for (const TaskType i : system.types()) {
    for (const ResourceId j : system.resources_for(i)) {
      const std::span<const Draw> draws = system.needs(i, j);
      const auto is_fcfs = [&](const Draw& draw) {
        return system.is_servers(draw.capacity) &&
               system.resource(resource_id(index(draw.capacity))).discipline == Discipline::kFcfs;
      };
      if (draws.size() == 1 && draws.front().amount == 1) continue;
      const auto met = std::find_if(draws.begin(), draws.end(), is_fcfs);
      if (met == draws.end()) continue;
      const bool is_own = met->capacity == servers_of(j);
      return quote::name(system.capacity_name(met->capacity)) + " is fcfs and " +
             (is_own ? "its tasks have needs"
                     : quote::name(system.task(i).name) + " needs it on " +
                           quote::name(system.resource(j).name)) +
             ", for which even sharing has no formula";
    }
  }
  return {};
}

void require_even_sharing(const System& system) {
  if (const std::optional<std::string> why = why_no_even_sharing(system))
    throw InvalidModel("discipline", *why + "; use planned service (--service planned), or simulate");
}

}  // namespace allot
