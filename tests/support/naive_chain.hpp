// The exact chain once more, naively: every queue as a list of tasks, all orders of entering one by one, and
// the long run by squaring a dense matrix. What the library says is compared with this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "allot/model/system.hpp"
#include "allot/policy/policy.hpp"

namespace allot::testing {

class NaiveChain {
 public:
  /// `policy` knows the population already.
  NaiveChain(const System& system, const Policy& policy, bool random_start)
      : system_(system), policy_(policy) {
    std::vector<std::size_t> threads;
    for (std::size_t i = 0; i < system.type_count(); ++i) {
      for (Count n = 0; n < system.count(task_type(i)); ++n) threads.push_back(i);
    }
    double orders = 0;
    do {  // each order of the multiset is as likely as the others
      State empty;
      empty.lists.resize(system.resource_count());
      empty.memory.assign(policy.memory_size(), 0);
      enter(empty, threads, 0, 1.0);
      ++orders;
    } while (random_start && std::next_permutation(threads.begin(), threads.end()));
    for (auto& [state, probability] : start_) probability /= orders;
    for (std::size_t s = 0; s < states_.size(); ++s) explore(s);
  }

  std::size_t states() const { return states_.size(); }

  /// X_ij, row-major.
  std::vector<double> throughput() const {
    const std::vector<double> p = long_run();
    std::vector<double> x(system_.type_count() * system_.resource_count(), 0.0);
    for (std::size_t s = 0; s < states_.size(); ++s) {
      for (const auto& [i, j, at, rate] : completions(states_[s]))
        x[i * system_.resource_count() + j] += p[s] * rate;
    }
    return x;
  }

  /// Mean n_ij, row-major.
  std::vector<double> occupancy() const {
    const std::vector<double> p = long_run();
    std::vector<double> n(system_.type_count() * system_.resource_count(), 0.0);
    for (std::size_t s = 0; s < states_.size(); ++s) {
      for (std::size_t j = 0; j < states_[s].lists.size(); ++j) {
        for (const std::size_t i : states_[s].lists[j]) n[i * system_.resource_count() + j] += p[s];
      }
    }
    return n;
  }

 private:
  struct State {
    std::vector<std::vector<std::size_t>> lists;  // types at each resource, first come first; sorted under ps
    std::vector<std::uint32_t> memory;
    friend auto operator<=>(const State&, const State&) = default;
  };
  struct Completion {
    std::size_t type, resource, position;
    double rate;
  };

  std::vector<Completion> completions(const State& state) const {
    std::vector<Completion> all;
    for (std::size_t j = 0; j < state.lists.size(); ++j) {
      const Resource& resource = system_.resources()[j];
      const std::size_t present = state.lists[j].size();
      const std::size_t busy = std::min(present, static_cast<std::size_t>(resource.servers));
      for (std::size_t at = 0; at < present; ++at) {
        const std::size_t i = state.lists[j][at];
        const double mu = system_.rate(task_type(i), resource_id(j));
        if (resource.discipline == Discipline::kPs) {
          all.push_back({i, j, at, mu * static_cast<double>(busy) / static_cast<double>(present)});
        } else if (at < busy) {
          all.push_back({i, j, at, mu});
        }
      }
    }
    return all;
  }

  /// Calls visit(next, probability) for each place that a task of type i may be given.
  template <typename Visit>
  void place(const State& state, std::size_t i, Visit&& visit) const {
    std::vector<Count> counts(system_.type_count() * system_.resource_count(), 0);
    std::vector<Count> totals(system_.resource_count(), 0);
    for (std::size_t j = 0; j < state.lists.size(); ++j) {
      for (const std::size_t type : state.lists[j]) ++counts[type * system_.resource_count() + j];
      totals[j] = static_cast<Count>(state.lists[j].size());
    }
    std::vector<Choice> choices;
    policy_.choices(task_type(i), {&system_, counts, totals, {}}, state.memory, choices);
    for (const Choice& choice : choices) {
      State next = state;
      std::vector<std::size_t>& list = next.lists[index(choice.resource)];
      list.push_back(i);
      if (system_.resource(choice.resource).discipline == Discipline::kPs)
        std::sort(list.begin(), list.end());
      next.memory = choice.memory;
      visit(next, choice.probability);
    }
  }

  std::size_t number(const State& state) {
    const auto [at, is_new] = numbers_.try_emplace(state, states_.size());
    if (is_new) states_.push_back(state);
    return at->second;
  }

  void enter(const State& state, const std::vector<std::size_t>& threads, std::size_t next,
             double probability) {
    if (next == threads.size()) {
      start_[number(state)] += probability;
      return;
    }
    place(state, threads[next],
          [&](const State& then, double chance) { enter(then, threads, next + 1, probability * chance); });
  }

  void explore(std::size_t from) {
    const State state = states_[from];
    for (const Completion& completion : completions(state)) {
      State left = state;
      std::vector<std::size_t>& list = left.lists[completion.resource];
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(completion.position));
      place(left, completion.type, [&](const State& then, double chance) {
        const std::size_t to = number(then);
        rates_[{from, to}] += completion.rate * chance;
      });
    }
  }

  /// Start times P^(2^60), P the uniformised chain: closed classes and their chances come out by themselves.
  std::vector<double> long_run() const {
    const std::size_t n = states_.size();
    std::vector<double> out(n, 0.0);
    for (const auto& [edge, rate] : rates_) out[edge.first] += rate;
    const double uniform = 1.1 * *std::max_element(out.begin(), out.end());
    std::vector<double> p(n * n, 0.0);
    for (std::size_t s = 0; s < n; ++s) p[s * n + s] = 1;
    if (uniform > 0) {
      for (const auto& [edge, rate] : rates_) {
        p[edge.first * n + edge.second] += rate / uniform;
        p[edge.first * n + edge.first] -= rate / uniform;
      }
    }
    std::vector<double> square(n * n);
    for (int doubling = 0; doubling < 60; ++doubling) {
      std::fill(square.begin(), square.end(), 0.0);
      for (std::size_t a = 0; a < n; ++a) {
        double sum = 0;
        for (std::size_t b = 0; b < n; ++b) {
          const double first = p[a * n + b];
          if (first == 0) continue;
          for (std::size_t c = 0; c < n; ++c) square[a * n + c] += first * p[b * n + c];
        }
        for (std::size_t c = 0; c < n; ++c) sum += square[a * n + c];
        for (std::size_t c = 0; c < n; ++c)
          square[a * n + c] /= sum;  // or rounding would grow with every doubling
      }
      std::swap(p, square);
    }
    std::vector<double> probability(n, 0.0);
    for (const auto& [state, chance] : start_) {
      for (std::size_t s = 0; s < n; ++s) probability[s] += chance * p[state * n + s];
    }
    return probability;
  }

  const System& system_;
  const Policy& policy_;
  std::map<State, std::size_t> numbers_;
  std::vector<State> states_;
  std::map<std::size_t, double> start_;
  std::map<std::pair<std::size_t, std::size_t>, double> rates_;
};

}  // namespace allot::testing
