#include "allot/policy/service_order.hpp"

#include <algorithm>
#include <limits>

namespace allot {
namespace {

/// The weight of the latest task in a type's mean service.
constexpr double kMeanStep = 0.2;

/// For kIdleFarAhead, in tasks of the type. With a smaller kFarAhead, servers idle for nothing; with a larger
/// one, tasks are missing elsewhere. Missed service is made up for, but only up to a limit that is the same
/// time for all types: otherwise a type that can never keep up would go before all others forever.
constexpr double kFarAhead = 2;
constexpr double kMissed = 100;

/// The part of a resource for a type without weight there.
constexpr double kStrayWeight = 0.01;

}  // namespace

ServiceOrder::ServiceOrder(std::size_t types, WhenAhead when_ahead)
    : when_ahead_(when_ahead), accounts_(types) {}

template <typename Number>
void ServiceOrder::weigh(std::span<const Number> weights) {
  accounts_.resize(std::max(accounts_.size(), weights.size()));
  const auto given = [&](std::size_t i) {
    const double weight = i < weights.size() ? static_cast<double>(weights[i]) : 0.0;
    return weight > 0 ? weight : 0.0;  // NaN: none
  };
  double sum = 0;
  for (std::size_t i = 0; i < accounts_.size(); ++i) sum += given(i);
  const double stray = sum > 0 ? kStrayWeight * sum : 1.0;
  stray_ = stray;
  // A type is ahead by seconds of service: 20 ms that it had without a weight must not count like seconds
  // once it has one.
  const bool may_idle = when_ahead_ != WhenAhead::kServe;
  const double present = may_idle ? now_ : minimum_;
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    Account& account = accounts_[i];
    // If servers idle at once, a negligible weight counts as none: the type would wait very long after one
    // task.
    const double least = when_ahead_ == WhenAhead::kIdle ? stray : 0.0;
    const double weight = given(i) > least ? given(i) : stray;
    if (account.tag > present) account.tag = present + (account.tag - present) * account.weight / weight;
    const bool is_stray = !(given(i) > least);
    if (account.is_stray && !is_stray) account.tag = std::max(account.tag, present);
    account.is_stray = is_stray;
    account.weight = weight;
  }
}

void ServiceOrder::expect(std::span<const double> seconds) {
  for (std::size_t i = 0; i < std::min(seconds.size(), accounts_.size()); ++i) {
    if (accounts_[i].mean_service == 0) accounts_[i].mean_service = seconds[i];
  }
}

void ServiceOrder::settle() noexcept {
  minimum_ = std::max(minimum_, now_);
  for (Account& account : accounts_) account.tag = now_;
}

void ServiceOrder::set_weights(std::span<const double> weights) { weigh(weights); }
void ServiceOrder::set_weights(std::span<const Count> counts) { weigh(counts); }

std::optional<TaskType> ServiceOrder::next(std::span<const Count> waiting, double now, bool idling_helps) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const bool may_idle = when_ahead_ != WhenAhead::kServe;
  const std::size_t types = std::min(accounts_.size(), waiting.size());
  idle_until_.reset();
  now_ = now;

  // The present minimum is over the types that were present at the latest call; types that come back start at
  // it.
  double least = kNever;
  for (const Account& account : accounts_) {
    if (account.present) least = std::min(least, account.tag);
  }
  if (when_ahead_ == WhenAhead::kIdleFarAhead) {
    longest_turn_ = 0;
    for (const Account& account : accounts_) {
      if (account.weight >= stray_)
        longest_turn_ = std::max(longest_turn_, account.mean_service / account.weight);
    }
  }
  if (least < kNever) {
    minimum_ = std::max(minimum_, least);
  } else if (may_idle) {
    minimum_ = std::max(minimum_, now);  // time in which nobody asked gives no type a claim
  }

  std::optional<std::size_t> best;
  double ask_at = kNever;
  for (std::size_t i = 0; i < types; ++i) {
    Account& account = accounts_[i];
    const bool was_present = account.present;
    account.present = waiting[i] > 0 || account.in_service > 0;
    if (waiting[i] <= 0) continue;
    if (!was_present && when_ahead_ != WhenAhead::kIdleFarAhead)
      account.tag = std::max(account.tag, minimum_);
    if (may_idle && idling_helps) {
      const double start_at = earliest_start(account);
      if (start_at > now) {
        ask_at = std::min(ask_at, start_at);
        continue;
      }
    }
    if (!best || account.tag < accounts_[*best].tag) best = i;
  }
  if (!best) {
    if (ask_at < kNever) idle_until_ = ask_at;
    return std::nullopt;
  }
  Account& chosen = accounts_[*best];
  ++chosen.in_service;
  chosen.charged += chosen.mean_service;
  chosen.tag += chosen.mean_service / chosen.weight;
  return task_type(*best);
}

/// When the next task of a type is due by the clock.
double ServiceOrder::earliest_start(Account& account) const noexcept {
  if (when_ahead_ == WhenAhead::kIdle) return account.tag;
  account.tag = std::max(account.tag, now_ - kMissed * longest_turn_);
  return account.tag - kFarAhead * account.mean_service / account.weight;
}

bool ServiceOrder::may_start(TaskType i, double now) const noexcept {
  const double ahead = when_ahead_ == WhenAhead::kIdle ? 0.0 : kFarAhead * turn(i);
  return reached(i) - ahead <= now;
}

/// Removes the expected service of a task that is no longer in service, and returns it.
double ServiceOrder::take_charge(Account& account) noexcept {
  if (account.in_service == 0) return 0;
  const double charge = account.charged / static_cast<double>(account.in_service);
  account.charged -= charge;
  --account.in_service;
  return charge;
}

void ServiceOrder::given_back(TaskType i) {
  Account& account = accounts_[index(i)];
  account.tag -= take_charge(account) / account.weight;
}

void ServiceOrder::served(TaskType i, double seconds) {
  Account& account = accounts_[index(i)];
  account.tag += (seconds - take_charge(account)) / account.weight;
  account.mean_service = account.mean_service == 0
                             ? seconds
                             : account.mean_service + kMeanStep * (seconds - account.mean_service);
}

}  // namespace allot
