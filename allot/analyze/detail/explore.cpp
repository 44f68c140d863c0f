#include "allot/analyze/detail/explore.hpp"

#include <bit>
#include <cmath>
#include <cstdio>

#include "allot/base/error.hpp"
#include "allot/base/memory.hpp"

namespace allot::detail {
namespace {

/// Two layers of the start are alive at a time and neither has transitions, so they may be larger than the
/// chain.
constexpr std::uint64_t kStartLayerFactor = 8;
constexpr std::size_t kStatesBetweenReports = 1024;

class Explorer {
 public:
  Explorer(const Network& network, const Placing& placing, const ExploreOptions& options, StopPoll& poll)
      : network_(network), placing_(placing), options_(options), poll_(poll), content_(network.empty()) {
    situation_.system = &network.system();
  }

  void enter_one_by_one(Exploration& out) {
    StateTable layer;
    std::vector<double> probability = {1.0};
    network_.pack(content_, std::vector<Word>(options_.memory, 0), words_);
    layer.intern(words_);
    for (Count left = network_.population(); left > 0; --left) {
      StateTable next;
      std::vector<double> next_probability;
      for (std::size_t s = 0; s < layer.size(); ++s) {
        if (poll_.should_stop()) return;
        enter(layer[s], probability[s], static_cast<double>(left), next, next_probability);
        if (next.size() > kStartLayerFactor * options_.max_states) refuse_start();
      }
      layer = std::move(next);
      probability = std::move(next_probability);
    }
    if (layer.size() > options_.max_states) refuse(layer.size());
    for (std::size_t s = 0; s < layer.size(); ++s) {
      out.start.emplace_back(out.states.intern(layer[s]).first, probability[s]);
    }
  }

  void search(Exploration& out) {
    out.completion_begin = {0};
    out.choice_begin = {0};
    std::vector<Word> from;
    std::vector<Completion> completions;
    for (std::size_t s = 0; s < out.states.size(); ++s) {
      if (poll_.should_stop()) return;
      if (options_.progress && s % kStatesBetweenReports == 0) options_.progress(out.states.size());
      const std::span<const Word> words = out.states[s];
      from.assign(words.begin(), words.end());  // new states move the table's words
      network_.unpack(from, content_);
      network_.completions(content_, completions);
      for (std::size_t e = 0; e < completions.size(); ++e) {
        const Completion& completion = completions[e];
        const std::span<const Word> memory = network_.unpack(from, content_);
        network_.remove(content_, completion.task_class, index(completion.resource));
        const std::uint32_t successor = network_.classes()[completion.task_class].successor;
        for_each_choice(successor, memory, [&](const std::vector<Word>& next, double chance) {
          const auto [number, is_new] = out.states.intern(next);
          if (is_new && out.states.size() > options_.max_states) refuse(out.states.size());
          if (is_new && std::has_single_bit(out.states.size())) check_memory(out);
          out.choice_state.push_back(number);
          out.choice_probability.push_back(chance);
        });
        out.completion_rate.push_back(completion.rate);
        out.completion_class.push_back(completion.task_class);
        out.choice_begin.push_back(out.choice_state.size());
      }
      out.completion_begin.push_back(out.completion_rate.size());
    }
  }

 private:
  /// Calls `visit(words, probability)` for each state that placing a task may lead to.
  template <typename Visit>
  void for_each_choice(std::uint32_t task_class, std::span<const Word> memory, Visit&& visit) {
    situation_.counts = content_.by_type;
    situation_.totals = content_.totals;
    placing_(network_.classes()[task_class].type, situation_, memory, choices_);
    for (const Choice& choice : choices_) {
      if (!(choice.probability > 0)) continue;
      network_.add(content_, task_class, index(choice.resource));
      network_.pack(content_, choice.memory, words_);
      network_.undo_add(content_, task_class, index(choice.resource));
      visit(words_, choice.probability);
    }
  }

  void enter(std::span<const Word> from, double probability, double left, StateTable& next,
             std::vector<double>& next_probability) {
    const std::span<const Word> memory = network_.unpack(from, content_);
    const std::size_t resources = content_.totals.size();
    for (std::uint32_t c = 0; c < network_.classes().size(); ++c) {
      Count outside = network_.classes()[c].entering;
      for (std::size_t j = 0; j < resources; ++j) outside -= content_.by_class[c * resources + j];
      if (outside == 0) continue;
      const double chance = options_.random_start ? static_cast<double>(outside) / left : 1.0;
      for_each_choice(c, memory, [&](const std::vector<Word>& words, double choice) {
        const auto [number, is_new] = next.intern(words);
        if (is_new) next_probability.push_back(0);
        next_probability[number] += probability * chance * choice;
      });
      if (!options_.random_start) break;
    }
  }

  /// The data has doubled: the same amount again must fit, with room for growing tables and for the solution.
  static void check_memory(const Exploration& out) {
    const auto states = static_cast<double>(out.states.size());
    const double words = static_cast<double>(out.states[0].size() * sizeof(Word));
    const double transitions =
        static_cast<double>(out.choice_state.size() * (sizeof(std::uint32_t) + sizeof(double)));
    require_memory(
        3 * (states * (words + 40) + transitions), "max_states",
        "a chain of " + with_commas(2 * out.states.size()) + " states, twice the number found so far,");
  }

  [[noreturn]] void refuse(std::size_t found) const {
    std::string message = "the chain has more than " + with_commas(options_.max_states) + " states (" +
                          with_commas(found) + " found so far";
    if (const double all = network_.count_states(); all < 1e15 && !network_.has_order()) {
      message += "; " + with_commas(static_cast<std::uint64_t>(all)) + " assignments in all";
    }
    throw InvalidModel("max_states", message + ")");
  }

  [[noreturn]] void refuse_start() const {
    throw InvalidModel("max_states",
                       "more than " + with_commas(kStartLayerFactor * options_.max_states) +
                           " states while the threads enter in a random order; a listed order has far fewer");
  }

  const Network& network_;
  const Placing& placing_;
  const ExploreOptions& options_;
  StopPoll& poll_;
  Content content_;
  Situation situation_;
  std::vector<Choice> choices_;
  std::vector<Word> words_;
};

}  // namespace

std::string with_commas(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

Exploration explore(const Network& network, const Placing& placing, const ExploreOptions& options,
                    StopPoll& poll) {
  Exploration out;
  Explorer explorer(network, placing, options, poll);
  explorer.enter_one_by_one(out);
  if (!poll.stopped()) explorer.search(out);
  return out;
}

Exploration explore_from(const Network& network, const Content& start, const Placing& placing,
                         const ExploreOptions& options, StopPoll& poll) {
  Exploration out;
  std::vector<Word> words;
  network.pack(start, std::vector<Word>(options.memory, 0), words);
  out.start.emplace_back(out.states.intern(words).first, 1.0);
  Explorer(network, placing, options, poll).search(out);
  return out;
}

}  // namespace allot::detail
