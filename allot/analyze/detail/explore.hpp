// All states that can be reached from the start, and the transitions between them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "allot/analyze/detail/network.hpp"
#include "allot/base/stop.hpp"

namespace allot::detail {

/// Where a task may go and with which probabilities.
using Placing = std::function<void(TaskType, const Situation&, std::span<const std::uint32_t> memory,
                                   std::vector<Choice>& out)>;

/// A graph in three levels: state -> completions in it -> states that may follow. Each level is stored
/// contiguously.
struct Exploration {
  StateTable states;
  std::vector<std::pair<std::uint32_t, double>>
      start;                                  ///< states and their probabilities once all have entered
  std::vector<std::size_t> completion_begin;  ///< by state, and one more
  std::vector<double> completion_rate;
  std::vector<std::uint32_t> completion_class;  ///< which of the network's classes completes
  std::vector<std::size_t> choice_begin;        ///< by completion, and one more
  std::vector<std::uint32_t> choice_state;
  std::vector<double> choice_probability;
};

struct ExploreOptions {
  std::uint64_t max_states = 200'000;
  bool random_start = true;
  std::size_t memory = 0;                         ///< the number of words in the policy's memory
  std::function<void(std::uint64_t)> progress{};  ///< called now and then with the number of states so far
};

/// The distribution over states after the threads have entered the empty system one by one, in a random order
/// or as listed; then everything reachable from there, by breadth-first search. Throws InvalidModel if there
/// are more states than allowed. Incomplete if the poll says stop.
Exploration explore(const Network& network, const Placing& placing, const ExploreOptions& options,
                    StopPoll& poll);

/// The same from one given state instead of the empty system.
Exploration explore_from(const Network& network, const Content& start, const Placing& placing,
                         const ExploreOptions& options, StopPoll& poll);

/// "200,000"
std::string with_commas(std::uint64_t value);

}  // namespace allot::detail
