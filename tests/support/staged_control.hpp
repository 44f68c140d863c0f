// The most rounds per second that any policy without preemption can reach with jobs of several stages and
// exponential sizes: a Markov decision process, solved by value iteration. For tiny systems.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "allot/model/scenario.hpp"

namespace allot::testing {

class StagedControl {
 public:
  /// The scenario has one group of threads and nothing else.
  explicit StagedControl(const Scenario& scenario) : system_(scenario.system), jobs_(scenario.threads[0]) {
    for (const ResourceId j : system_.resource_ids()) {
      for (Count s = 0; s < system_.resource(j).servers; ++s) resource_of_.push_back(j);
    }
    double total = 0;
    for (const ResourceId j : resource_of_) {
      double fastest = 0;
      for (const TaskType i : jobs_.sequence) fastest = std::max(fastest, system_.rate(i, j));
      total += fastest;
    }
    events_ = total;
    // Waiting jobs by stage, then the stage that each server is at work on, plus 1.
    State start(jobs_.sequence.size() + resource_of_.size(), 0);
    start[0] = static_cast<int>(jobs_.count);
    number_of(start);
    for (std::size_t at = 0; at < states_.size(); ++at) expand(at);
  }

  std::size_t states() const noexcept { return states_.size(); }

  /// Rounds per second, to about 1e-7 of them.
  double rounds() const {
    std::vector<double> value(states_.size(), 0.0);
    std::vector<double> next(states_.size());
    for (int round = 0; round < 200'000; ++round) {
      double least = 1e300;
      double most = -1e300;
      for (std::size_t at = 0; at < states_.size(); ++at) {
        double best = -1e300;
        for (const std::size_t settled : choices_[at]) best = std::max(best, after(settled, value));
        next[at] = best;
        least = std::min(least, best - value[at]);
        most = std::max(most, best - value[at]);
      }
      const double shift = next[0];
      for (std::size_t at = 0; at < states_.size(); ++at) value[at] = next[at] - shift;
      if (most - least <= 1e-7 * most) return (most + least) / 2 * events_;
    }
    return -1;
  }

 private:
  using State = std::vector<int>;

  std::size_t number_of(const State& state) {
    const auto [at, is_new] = numbers_.try_emplace(state, states_.size());
    if (is_new) {
      states_.push_back(state);
      choices_.emplace_back();
      moves_.emplace_back();
    }
    return at->second;
  }

  /// All states that starting waiting jobs on free servers can make of one, itself included; and what
  /// completions make of it.
  void expand(std::size_t at) {
    std::vector<State> reached{states_[at]};
    const std::size_t stages = jobs_.sequence.size();
    for (std::size_t k = 0; k < reached.size(); ++k) {
      for (std::size_t s = 0; s < resource_of_.size(); ++s) {
        if (reached[k][stages + s] != 0) continue;
        for (std::size_t stage = 0; stage < stages; ++stage) {
          if (reached[k][stage] == 0 || !system_.can_run(jobs_.sequence[stage], resource_of_[s])) continue;
          State next = reached[k];
          --next[stage];
          next[stages + s] = static_cast<int>(stage) + 1;
          if (std::find(reached.begin(), reached.end(), next) == reached.end()) reached.push_back(next);
        }
      }
    }
    for (const State& state : reached) {
      const std::size_t number = number_of(state);
      choices_[at].push_back(number);
      if (!moves_[number].empty()) continue;
      for (std::size_t s = 0; s < resource_of_.size(); ++s) {
        if (state[stages + s] == 0) continue;
        const auto stage = static_cast<std::size_t>(state[stages + s] - 1);
        State next = state;
        next[stages + s] = 0;
        ++next[(stage + 1) % stages];
        const double rate = system_.rate(jobs_.sequence[stage], resource_of_[s]);
        const std::size_t to = number_of(next);
        moves_[number].push_back({to, rate / events_, stage + 1 == stages});
      }
    }
  }

  double after(std::size_t at, const std::vector<double>& value) const {
    double sum = 0;
    double moved = 0;
    for (const Move& move : moves_[at]) {
      sum += move.probability * (value[move.to] + (move.ends_round ? 1 : 0));
      moved += move.probability;
    }
    return sum + (1 - moved) * value[at];
  }

  struct Move {
    std::size_t to;
    double probability;
    bool ends_round;
  };

  const System& system_;
  const ThreadGroup& jobs_;
  std::vector<ResourceId> resource_of_;  // of each server
  double events_ = 0;                    // per second, at most
  std::map<State, std::size_t> numbers_;
  std::vector<State> states_;
  std::vector<std::vector<std::size_t>> choices_;
  std::vector<std::vector<Move>> moves_;
};

}  // namespace allot::testing
