// The closed network as a Markov chain: where tasks are, which are served, and what completes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allot/analyze/detail/state_table.hpp"
#include "allot/model/filling.hpp"
#include "allot/model/scenario.hpp"
#include "allot/model/system.hpp"
#include "allot/policy/policy.hpp"

namespace allot::detail {

/// One kind of task. With constant types there is one class per type, its own successor; a thread whose types
/// change is in one class per step of its sequence.
struct TaskClassInChain {
  TaskType type{};
  std::uint32_t successor = 0;
  Count entering = 0;  ///< how many tasks of the class enter at the start
  Count most = 0;      ///< how many can be in the system at a time
  double worth = 1;    ///< of one completion; if types change, of a round, which the last step completes
};

std::vector<TaskClassInChain> constant_classes(const System& system);
/// Throws InvalidModel for a sequence that is empty or has a type that can run nowhere.
std::vector<TaskClassInChain> changing_classes(const System& system, std::span<const ThreadGroup> threads);

/// Uneven sharing (weighted service): the weight of one task of each type at each resource, and how many
/// servers of a resource should work.
struct ServiceWeights {
  std::vector<double> by_task;  ///< row-major: type by resource; empty: even sharing
  std::vector<double> units;    ///< of each resource; empty: all
};

/// The tasks of one state, unpacked.
struct Content {
  std::vector<Count> by_class;  ///< class by resource, row-major
  std::vector<Count> by_type;   ///< type by resource, row-major
  std::vector<Count> totals;    ///< by resource
  std::vector<Count> served;    ///< class by resource: tasks in service, where the order matters
  std::vector<std::vector<std::uint32_t>>
      queues;  ///< classes of the waiting tasks, first come first; ordered only
};

/// A completion that can come next.
struct Completion {
  std::uint32_t task_class = 0;
  ResourceId resource{};
  double rate = 0;
};

/// Packs and unpacks states, and computes the rates in them, including those that depend on other resources
/// through needs; therefore not thread-safe. Under ps, and where no task can wait or only one
/// class can be, the counts are sufficient; at other fcfs resources, the state holds the tasks in service and
/// the queue in order.
class Network {
 public:
  /// Throws InvalidModel if the counts are not sufficient for the needs.
  Network(const System& system, std::vector<TaskClassInChain> classes, ServiceWeights weights = {});

  const System& system() const noexcept { return *system_; }
  const std::vector<TaskClassInChain>& classes() const noexcept { return classes_; }
  bool has_order() const noexcept;
  Count population() const noexcept;
  /// The number of states without order and memory; may be infinite.
  double count_states() const;

  /// No tasks anywhere.
  Content empty() const;
  void pack(const Content& content, std::span<const Word> memory, std::vector<Word>& words) const;
  /// Returns the memory, the rest of the words.
  std::span<const Word> unpack(std::span<const Word> words, Content& content) const;

  /// A task arrives, and is served or waits.
  void add(Content& content, std::uint32_t task_class, std::size_t resource) const;
  /// Undoes the last `add`, which must have had these arguments.
  void undo_add(Content& content, std::uint32_t task_class, std::size_t resource) const;
  /// A task in service completes and leaves; the first in the queue is served next.
  void remove(Content& content, std::uint32_t task_class, std::size_t resource) const;

  /// The possible completions in this state and their rates, ordered by resource, then class.
  void completions(const Content& content, std::vector<Completion>& out) const;

 private:
  double rate_per_unit(std::uint32_t c, std::size_t j) const noexcept {
    return system_->rate(classes_[c].type, resource_id(j));
  }
  std::size_t at(std::size_t c, std::size_t j) const noexcept { return c * resources_ + j; }
  void count(Content& content, std::uint32_t c, std::size_t j, Count change) const;
  /// With needs: the fraction of full speed of a task of each type at each resource under ps.
  std::span<const double> speeds(const Content& content) const;
  void weighted_completions(const Content& content, std::size_t j, std::vector<Completion>& out) const;

  const System* system_;
  std::vector<TaskClassInChain> classes_;
  ServiceWeights weights_;
  std::size_t resources_;
  std::vector<bool> ordered_;
  std::vector<std::vector<std::uint32_t>> classes_at_;  ///< by resource: the classes that can be there
  mutable std::optional<EvenSharing> sharing_;          ///< if tasks have needs
  mutable std::vector<double> speeds_;                  ///< scratch of `speeds`
};

}  // namespace allot::detail
