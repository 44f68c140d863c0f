// What each task gets if tasks use more than one server of their resource: two fillings, first of held
// capacities, then of shared ones.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/model/system.hpp"

namespace allot {

/// A task type at a resource.
struct PairId {
  TaskType type{};
  ResourceId resource{};
};

/// Levels that rise together from 0 to at most 1. When a capacity is used up, all pairs that need it stop.
/// It keeps its storage, so further fillings allocate nothing. The system need not outlive it.
class Filling {
 public:
  enum class Of { kHeld, kShared };
  Filling(const System& system, Of capacities);
  /// For capacities of amount 1 each. `needs[r][pair]`: how much of capacity r the pair takes; 0: none.
  Filling(std::span<const std::vector<double>> needs, std::size_t pairs);
  /// For these pairs only. `tasks` and the levels are then in the order of `pairs`.
  Filling(const System& system, Of capacities, std::span<const PairId> pairs);

  /// The level of every pair, row by row, for these numbers of tasks; 1 for pairs without tasks. Valid until
  /// the next call. `taken`: what others use of each capacity of the system; empty: nothing.
  std::span<const double> levels(std::span<const double> tasks, std::span<const double> taken = {});

 private:
  void make_room();
  double next_stop(double level);

  std::vector<Draw> draws_;             // by the numbers that capacities have here
  std::vector<std::size_t> begin_;      // by pair
  std::vector<CapacityId> capacities_;  // of the system
  std::vector<double> amounts_;
  std::vector<std::size_t> active_;  // pairs whose level still rises
  std::vector<double> levels_;
  std::vector<double> used_;    // by those that have stopped
  std::vector<double> rising_;  // use per unit of level by those that have not
  std::vector<bool> is_full_;
  std::span<const double> tasks_;
};

/// Even sharing with needs: how many tasks of each pair are in service, and to how many tasks at full speed
/// that is equivalent.
class EvenSharing {
 public:
  explicit EvenSharing(const System& system)
      : held_(system, Filling::Of::kHeld), shared_(system, Filling::Of::kShared) {}
  EvenSharing(const System& system, std::span<const PairId> pairs)
      : held_(system, Filling::Of::kHeld, pairs), shared_(system, Filling::Of::kShared, pairs) {}

  /// Both row after row, valid until the next call.
  struct Service {
    std::span<const double> in_service;     ///< m
    std::span<const double> at_full_speed;  ///< x: X_ij = mu_ij x_ij
  };
  Service operator()(std::span<const double> tasks);

 private:
  Filling held_;
  Filling shared_;
  std::vector<double> in_service_;
  std::vector<double> at_full_speed_;
};

/// Whether whole tasks may get less of a held capacity than the fluid levels, for these numbers of tasks of
/// each pair: some capacity is too small for all of them and is not filled by a whole number of equal needs,
/// or needs of several capacities form an odd cycle.
bool has_lumps(const System& system, std::span<const double> tasks);

/// Why even sharing has no formula for the system, as a sentence: tasks with needs run on an fcfs resource.
std::optional<std::string> why_no_even_sharing(const System& system);
/// Throws InvalidModel if it has none, and says what to do instead.
void require_even_sharing(const System& system);

}  // namespace allot
