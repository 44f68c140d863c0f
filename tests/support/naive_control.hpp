// Optimal control once more, naively: every queue as a list of threads, values by plain sweeps. What the
// library says is compared with this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "allot/model/scenario.hpp"
#include "allot/model/system.hpp"

namespace allot::testing {

/// Threads of constant type as groups whose rounds are one task.
inline std::vector<ThreadGroup> as_groups(const System& system) {
  std::vector<ThreadGroup> groups;
  for (const TaskType i : system.types())
    if (system.count(i) > 0) groups.push_back({system.count(i), {i}, system.task(i).worth, {}, ""});
  return groups;
}

class NaiveControl {
 public:
  NaiveControl(const System& system, std::vector<ThreadGroup> groups)
      : system_(system), groups_(std::move(groups)) {
    State all(system.resource_count());
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      for (Count n = 0; n < groups_[k].count; ++n) all = arrived(all, {k, 0}, allowed({k, 0}).front());
    }
    number(all);
    for (std::size_t s = 0; s < states_.size(); ++s) explore(s);
  }

  std::size_t states() const { return states_.size(); }

  /// Between which numbers the largest value per second lies, after sweeps until they agree to 1e-10.
  std::pair<long double, long double> most_value(int sweeps = 400'000) const {
    long double speed = 0;
    for (const auto& events : events_) {
      long double sum = 0;
      for (const Event& event : events) sum += event.rate;
      speed = std::max(speed, 2 * sum);
    }
    std::vector<long double> h(states_.size(), 0);
    std::vector<long double> next(states_.size(), 0);
    std::pair<long double, long double> bounds{0, 0};
    for (int sweep = 0; sweep < sweeps && speed > 0; ++sweep) {
      for (std::size_t s = 0; s < h.size(); ++s) {
        long double change = 0;
        for (const Event& event : events_[s]) {
          long double best = h[event.next.front()];
          for (const std::size_t then : event.next) best = std::max(best, h[then]);
          change += event.rate * (event.worth + best - h[s]);
        }
        if (s == 0) bounds = {change, change};
        bounds = {std::min(bounds.first, change), std::max(bounds.second, change)};
        next[s] = h[s] + change / speed;
      }
      const long double origin = next.front();
      for (std::size_t s = 0; s < h.size(); ++s) h[s] = next[s] - origin;
      if (bounds.second - bounds.first <= 1e-10L * bounds.second) break;
    }
    return bounds;
  }

 private:
  using Job = std::pair<std::size_t, std::size_t>;  // group and step
  using State = std::vector<std::vector<Job>>;      // first come first; sorted under ps
  struct Event {
    long double rate, worth;
    std::vector<std::size_t> next;  // states to choose from
  };

  TaskType type_of(const Job& job) const { return groups_[job.first].sequence[job.second]; }

  std::vector<std::size_t> allowed(const Job& job) const {
    std::vector<std::size_t> places;
    for (std::size_t j = 0; j < system_.resource_count(); ++j)
      if (system_.rate(type_of(job), resource_id(j)) > 0) places.push_back(j);
    return places;
  }

  State arrived(State state, const Job& job, std::size_t j) const {
    state[j].push_back(job);
    if (system_.resources()[j].discipline == Discipline::kPs) std::sort(state[j].begin(), state[j].end());
    return state;
  }

  std::size_t number(const State& state) {
    const auto [at, is_new] = numbers_.try_emplace(state, states_.size());
    if (is_new) states_.push_back(state);
    return at->second;
  }

  void explore(std::size_t s) {
    const State state = states_[s];
    std::vector<Event> events;
    for (std::size_t j = 0; j < state.size(); ++j) {
      const Resource& resource = system_.resources()[j];
      const std::size_t present = state[j].size();
      const std::size_t busy = std::min(present, static_cast<std::size_t>(resource.servers));
      for (std::size_t at = 0; at < present; ++at) {
        const Job job = state[j][at];
        long double rate = system_.rate(type_of(job), resource_id(j));
        if (resource.discipline == Discipline::kPs) {
          rate *= static_cast<long double>(busy) / static_cast<long double>(present);
        } else if (at >= busy) {
          continue;
        }
        State left = state;
        left[j].erase(left[j].begin() + static_cast<std::ptrdiff_t>(at));
        const ThreadGroup& group = groups_[job.first];
        const bool ends = job.second + 1 == group.sequence.size();
        const Job successor{job.first, ends ? 0 : job.second + 1};
        Event event{rate, ends ? group.worth : 0.0L, {}};
        for (const std::size_t to : allowed(successor))
          event.next.push_back(number(arrived(left, successor, to)));
        events.push_back(std::move(event));
      }
    }
    events_.resize(std::max(events_.size(), s + 1));
    events_[s] = std::move(events);
  }

  const System& system_;
  std::vector<ThreadGroup> groups_;
  std::vector<State> states_;
  std::map<State, std::size_t> numbers_;
  std::vector<std::vector<Event>> events_;
};

}  // namespace allot::testing
