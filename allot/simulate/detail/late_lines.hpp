// Late binding: tasks that wait for no resource in particular.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "allot/policy/policy.hpp"
#include "allot/simulate/detail/queues.hpp"

namespace allot::detail {

/// A line for each type, and who says which of them a free server takes from.
class LateLines {
 public:
  /// Without a binding nobody may wait here.
  LateLines(std::unique_ptr<LateBinding> binding, std::size_t types)
      : binding_(std::move(binding)), lines_(types), waiting_(types, 0) {}

  bool are_used() const noexcept { return binding_ != nullptr; }
  LateBinding& binding() noexcept { return *binding_; }
  /// Whether tasks of the type get their turn at all.
  bool serve(TaskType i) const noexcept { return binding_ == nullptr || binding_->serves(i); }
  std::span<const Count> waiting() const noexcept { return waiting_; }

  void wait(std::uint32_t type, ThreadId thread) {
    lines_[type].push(thread);
    ++waiting_[type];
    ++all_waiting_;
  }

  /// Whose task a free server of the resource takes now.
  std::optional<ThreadId> take(ResourceId j, const Situation& situation, RandomStream& random) {
    if (all_waiting_ == 0) return std::nullopt;
    const std::optional<TaskType> type = binding_->next(j, situation, random);
    if (!type) return std::nullopt;
    --waiting_[index(*type)];
    --all_waiting_;
    return lines_[index(*type)].pop();
  }

  /// When a resource that found nothing to take is to ask again.
  double ask_again(ResourceId j) const noexcept {
    return all_waiting_ == 0 ? kNever : binding_->idle_until(j).value_or(kNever);
  }

 private:
  std::unique_ptr<LateBinding> binding_;
  std::vector<FifoQueue<ThreadId>> lines_;
  std::vector<Count> waiting_;
  Count all_waiting_ = 0;
};

}  // namespace allot::detail
