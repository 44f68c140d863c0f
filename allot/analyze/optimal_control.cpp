// The decision process: in every state, for every completion, the best place for the successor.
//
// Relative value iteration on the uniformised chain. With rates r_e of the completions e in state s and L at
// least their sum in every state, one sweep is
//     (T h)(s) = h(s) + sum over e of r_e / L * (v_e + max over places of h(next) - h(s)),
// with v_e the worth of the completion. For any h (Odoni's bounds), the largest gain lies between L times the
// smallest and L times the largest difference T h - h. Between sweeps, the values are updated a few times for
// the same places (modified policy iteration), which is cheaper than choosing again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "allot/analyze/analyze.hpp"
#include "allot/analyze/detail/explore.hpp"
#include "allot/analyze/detail/markov.hpp"
#include "allot/base/error.hpp"

namespace allot {
namespace {

constexpr double kTolerance = 1e-9;
constexpr int kStepsBetween = 24;  ///< with the places kept
/// After kPatience rounds of choosing and stepping, the gap of the bounds must have shrunk by kProgress;
/// otherwise the rates are too far apart for this method.
constexpr std::uint64_t kPatience = 2000;
constexpr double kProgress = 0.05;

/// Places anywhere the type can run, so that all states that any policy can reach are reached.
void place_anywhere(TaskType i, const Situation& situation, std::span<const std::uint32_t>,
                    std::vector<Choice>& out) {
  const auto allowed = situation.system->resources_for(i);
  out.clear();
  for (const ResourceId j : allowed) out.push_back({j, 1.0 / static_cast<double>(allowed.size()), {}});
}

detail::Exploration all_states(const detail::Network& network, const AnalyzeOptions& options,
                               StopPoll& poll) {
  const detail::ExploreOptions limits{options.max_states, true, 0};
  if (network.has_order()) return detail::explore(network, place_anywhere, limits, poll);
  // Without ordered queues, every state can be reached from every other, so one start is enough.
  if (const double all = network.count_states(); all > static_cast<double>(options.max_states)) {
    throw InvalidModel("max_states", "the decision process has " +
                                         (all < 1e15 ? detail::with_commas(static_cast<std::uint64_t>(all))
                                                     : "more than 1e15") +
                                         " states, more than " + detail::with_commas(options.max_states));
  }
  detail::Content start = network.empty();
  for (std::uint32_t c = 0; c < network.classes().size(); ++c) {
    const auto& task_class = network.classes()[c];
    for (Count n = 0; n < task_class.entering; ++n) {
      network.add(start, c, index(network.system().resources_for(task_class.type).front()));
    }
  }
  return detail::explore_from(network, start, place_anywhere, limits, poll);
}

/// Which states can reach each other by some choices. In a set that cannot be left, the largest gain is the
/// same everywhere, so the smallest difference there is a lower bound.
std::vector<bool> stay_together(const detail::Exploration& graph, std::vector<std::uint32_t>& set_of) {
  detail::Generator any;
  for (std::uint32_t s = 0; s < graph.states.size(); ++s) {
    for (std::size_t k = graph.choice_begin[graph.completion_begin[s]];
         k < graph.choice_begin[graph.completion_begin[s + 1]]; ++k) {
      any.target.push_back(graph.choice_state[k]);
      any.rate.push_back(1);
    }
    any.begin.push_back(any.target.size());
  }
  detail::Components parts = detail::components(any);
  set_of = std::move(parts.of);
  return parts.closed;
}

class ValueIteration {
 public:
  ValueIteration(const detail::Exploration& graph, const std::vector<detail::TaskClassInChain>& classes)
      : graph_(graph),
        closed_(stay_together(graph, set_of_)),
        values_(graph.states.size(), 0),
        next_(graph.states.size(), 0),
        chosen_(graph.completion_rate.size(), 0) {
    worth_.reserve(graph.completion_class.size());
    for (const std::uint32_t task_class : graph.completion_class) worth_.push_back(classes[task_class].worth);
    for (std::size_t s = 0; s < values_.size(); ++s) {
      double total = 0;
      for (std::size_t e = graph.completion_begin[s]; e < graph.completion_begin[s + 1]; ++e)
        total += graph.completion_rate[e];
      uniform_rate_ = std::max(uniform_rate_, total);
    }
    // Slightly more than needed: every state may then stay as it is, so that nothing can oscillate forever.
    uniform_rate_ *= 1.05;
  }

  /// Chooses the best place everywhere, and finds bounds on the gain.
  void choose() {
    std::vector<double> least(closed_.size(), std::numeric_limits<double>::infinity());
    double most = 0;
    for (std::size_t s = 0; s < values_.size(); ++s) {
      double change = 0;
      for (std::size_t e = graph_.completion_begin[s]; e < graph_.completion_begin[s + 1]; ++e) {
        std::uint32_t best = graph_.choice_state[graph_.choice_begin[e]];
        for (std::size_t k = graph_.choice_begin[e] + 1; k < graph_.choice_begin[e + 1]; ++k) {
          if (values_[graph_.choice_state[k]] > values_[best]) best = graph_.choice_state[k];
        }
        chosen_[e] = best;
        change += graph_.completion_rate[e] * (worth_[e] + values_[best] - values_[s]);
      }
      next_[s] = values_[s] + change / uniform_rate_;
      most = std::max(most, change);
      least[set_of_[s]] = std::min(least[set_of_[s]], change);
    }
    for (std::size_t set = 0; set < closed_.size(); ++set) {
      if (!closed_[set] || least[set] < lower_) continue;
      lower_ = least[set];
      best_set_ = set;
    }
    upper_ = std::min(upper_, most);
    accept();
  }

  /// The same for the places chosen last.
  void step() {
    for (std::size_t s = 0; s < values_.size(); ++s) {
      double change = 0;
      for (std::size_t e = graph_.completion_begin[s]; e < graph_.completion_begin[s + 1]; ++e) {
        change += graph_.completion_rate[e] * (worth_[e] + values_[chosen_[e]] - values_[s]);
      }
      next_[s] = values_[s] + change / uniform_rate_;
    }
    accept();
  }

  /// Completions per second for the places chosen last, in the set with the largest value.
  double throughput(StopPoll& poll) const {
    detail::Generator chain;
    std::uint32_t start = 0;
    for (std::uint32_t s = 0; s < values_.size(); ++s) {
      if (set_of_[s] == best_set_) start = s;
      for (std::size_t e = graph_.completion_begin[s]; e < graph_.completion_begin[s + 1]; ++e) {
        if (chosen_[e] == s) continue;
        chain.target.push_back(chosen_[e]);
        chain.rate.push_back(graph_.completion_rate[e]);
      }
      chain.begin.push_back(chain.target.size());
    }
    const std::pair<std::uint32_t, double> begin{start, 1.0};
    double sum = 0;
    for (const detail::ClosedClass& part : detail::long_run(chain, {&begin, 1}, poll)) {
      for (std::size_t m = 0; m < part.states.size() && !poll.stopped(); ++m) {
        const std::uint32_t s = part.states[m];
        for (std::size_t e = graph_.completion_begin[s]; e < graph_.completion_begin[s + 1]; ++e)
          sum += part.chance * part.stationary[m] * graph_.completion_rate[e];
      }
    }
    return sum;
  }

  double lower() const noexcept { return lower_; }
  double upper() const noexcept { return upper_; }
  bool converged() const noexcept { return upper_ - lower_ <= kTolerance * upper_; }

 private:
  void accept() {
    const double origin = next_.front();
    for (std::size_t s = 0; s < next_.size(); ++s) values_[s] = next_[s] - origin;
  }

  const detail::Exploration& graph_;
  std::vector<std::uint32_t> set_of_;
  std::vector<bool> closed_;
  std::vector<double> worth_;  ///< by completion
  std::vector<double> values_;
  std::vector<double> next_;
  std::vector<std::uint32_t> chosen_;  ///< by completion: the state that follows
  double uniform_rate_ = 0;
  double lower_ = 0;
  std::size_t best_set_ = 0;  ///< where `lower_` is reached
  double upper_ = std::numeric_limits<double>::infinity();
};

}  // namespace

OptimalControl solve_optimal_control(const System& system, const AnalyzeOptions& options,
                                     std::span<const ThreadGroup> threads) {
  const detail::Network network(
      system, threads.empty() ? detail::constant_classes(system) : detail::changing_classes(system, threads));
  OptimalControl control;
  StopPoll poll(options.stop);
  const detail::Exploration graph = all_states(network, options, poll);
  control.states = graph.states.size();
  control.stopped = poll.reason();
  if (poll.stopped() || network.population() == 0) return control;
  ValueIteration iteration(graph, network.classes());
  double apart = std::numeric_limits<double>::infinity();
  bool stalled = false;
  for (std::uint64_t round = 1; !stalled; ++round) {
    iteration.choose();
    ++control.sweeps;
    if (iteration.converged() || poll.should_stop_now()) break;
    if (round % kPatience == 0) {
      const double now = iteration.upper() - iteration.lower();
      stalled = now > (1 - kProgress) * apart;
      apart = now;
    }
    for (int step = 0; step < kStepsBetween && !poll.should_stop_now(); ++step) iteration.step();
    control.sweeps += kStepsBetween;
  }
  control.value = iteration.lower();
  control.upper_bound = iteration.upper();
  if (!iteration.converged()) control.stopped = stalled ? StopReason::kBudget : poll.reason();
  if (threads.empty() && !system.has_worths()) {
    control.throughput = control.value;
  } else if (iteration.converged()) {
    control.throughput = iteration.throughput(poll);
    control.stopped = poll.reason();
  }
  return control;
}

double optimal_control(const System& system, const AnalyzeOptions& options) {
  return solve_optimal_control(system, options).value;
}

}  // namespace allot
