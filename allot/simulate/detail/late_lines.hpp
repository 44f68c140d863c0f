// Late binding: tasks that wait without being bound to a resource.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "allot/policy/policy.hpp"
#include "allot/simulate/detail/queues.hpp"
#include "allot/simulate/detail/threads.hpp"

namespace allot::detail {

/// A line for each type, or for each type and party if the binding knows parties, and the binding that
/// decides which one a free server takes from.
class LateLines {
 public:
  /// Without a binding, no task may wait here.
  LateLines(std::unique_ptr<LateBinding> binding, std::size_t types, std::size_t groups)
      : binding_(std::move(binding)),
        parties_(binding_ != nullptr && binding_->knows_parties() ? 1 + groups : 1),
        lines_(types * parties_),
        waiting_by_party_(types * parties_, 0),
        waiting_(types, 0) {}

  bool are_used() const noexcept { return binding_ != nullptr; }
  LateBinding& binding() noexcept { return *binding_; }
  std::span<const Count> waiting() const noexcept { return waiting_; }
  /// Whether tasks of the type are ever served. `group`: of threads, or kNone.
  bool serve(std::uint32_t type, std::uint32_t group) const noexcept {
    return binding_ == nullptr || binding_->serves(task_type(type), party_of(group));
  }

  void wait(std::uint32_t type, std::uint32_t group, ThreadId thread) {
    const std::size_t party = party_of(group);
    lines_[type * parties_ + party].push(thread);
    ++waiting_by_party_[type * parties_ + party];
    if (!binding_->serves(task_type(type), party)) return;
    ++waiting_[type];
    ++all_waiting_;
  }

  /// The policy has another plan, which may serve other types or parties.
  void renew() {
    binding_->renew();
    all_waiting_ = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      waiting_[i] = 0;
      for (std::size_t p = 0; p < parties_; ++p) {
        if (binding_->serves(task_type(i), p)) waiting_[i] += waiting_by_party_[i * parties_ + p];
      }
      all_waiting_ += waiting_[i];
    }
  }

  /// The thread whose task a free server of the resource takes now.
  [[gnu::always_inline]] std::optional<ThreadId> take(ResourceId j, const Situation& situation,
                                                      RandomStream& random) {
    if (all_waiting_ == 0) return std::nullopt;
    const std::optional<TaskType> type = binding_->next(j, situation, random);
    if (!type) return std::nullopt;
    const std::span<const Count> parties =
        std::span(waiting_by_party_).subspan(index(*type) * parties_, parties_);
    const std::size_t at = index(*type) * parties_ + (parties_ == 1 ? 0 : binding_->party(*type, parties));
    --waiting_by_party_[at];
    --waiting_[index(*type)];
    --all_waiting_;
    return lines_[at].pop();
  }

  /// When a resource that found nothing to take should ask again.
  double ask_again(ResourceId j) const noexcept {
    return all_waiting_ == 0 ? kNever : binding_->idle_until(j).value_or(kNever);
  }

 private:
  std::size_t party_of(std::uint32_t group) const noexcept {
    return parties_ == 1 || group == kNone ? 0 : std::size_t{group} + 1;
  }

  std::unique_ptr<LateBinding> binding_;
  std::size_t parties_;
  std::vector<FifoQueue<ThreadId>> lines_;  // by type, then by party
  std::vector<Count> waiting_by_party_;
  std::vector<Count> waiting_;  // by type, only those that are served
  Count all_waiting_ = 0;
};

}  // namespace allot::detail
