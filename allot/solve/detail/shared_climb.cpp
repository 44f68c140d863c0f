#include "allot/solve/detail/shared_climb.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace allot::detail {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = ~std::size_t{0};
/// Elements compared side by side.
constexpr std::size_t kLanes = 4;
/// After so many moves the running sums are made afresh, so that rounding cannot pile up.
constexpr unsigned kSumsInterval = 4096;

/// The first of the largest elements; `width` is a multiple of the lanes.
std::size_t first_largest(const double* values, std::size_t width) noexcept {
  double lane[kLanes] = {values[0], values[1], values[2], values[3]};
  for (std::size_t j = kLanes; j < width; j += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lane[l] = values[j + l] > lane[l] ? values[j + l] : lane[l];
  }
  const double most = std::max(std::max(lane[0], lane[1]), std::max(lane[2], lane[3]));
  std::size_t j = 0;
  while (values[j] != most) ++j;
  return j;
}

/// X_j = weight * (sum of the rates) with n tasks on c servers.
double weight(double n, double c) noexcept { return n > c ? c / n : (n > 0 ? 1.0 : 0.0); }

}  // namespace

void SharedClimb::run(const System& system, const Assignment& start, MapMoves moves, StopPoll& poll) {
  assert(!system.has_floors() && !system.has_depths());
  system_ = &system;
  reset(start);
  const std::size_t types = system.type_count();
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < types; ++i) {
      const std::size_t home = accelerators_[i];
      if (home == kNone) continue;
      look_at(i);
      while (!poll.should_stop() && optimise_accelerator(i, home)) changed = true;
    }
    for (std::size_t i = 0; i < types; ++i) {
      look_at(i);
      while (!poll.should_stop() && optimise_processors(i)) changed = true;
    }
    if (poll.stopped()) return;
    if (!changed && moves == MapMoves::kBulk) {
      for (std::size_t i = 0; i < types; ++i) changed |= move_all(i);
    }
  }
}

void SharedClimb::reset(const Assignment& start) {
  const std::size_t types = system_->type_count();
  const std::size_t resources = system_->resource_count();
  width_ = (resources + kLanes - 1) / kLanes * kLanes;
  rates_.assign(types * width_, kNever);
  counts_.assign(types * width_, 0.0);
  accelerators_.assign(types, kNone);
  for (const TaskType i : system_->types()) {
    const std::size_t row = index(i) * width_;
    for (const ResourceId j : system_->resources_for(i)) {
      rates_[row + index(j)] = system_->rate(i, j);
      counts_[row + index(j)] = static_cast<double>(start(i, j));
    }
    const std::optional<ResourceId> home = system_->home(i);
    if (home && system_->resource(*home).kind == Kind::kSpecialized) accelerators_[index(i)] = index(*home);
  }
  servers_.resize(resources);
  double scale = 0;
  for (const ResourceId j : system_->resource_ids()) {
    const Count servers = system_->resource(j).servers;
    servers_[index(j)] = static_cast<double>(servers);
    double fastest = 0;
    for (const TaskType i : system_->types()) fastest = std::max(fastest, system_->rate(i, j));
    scale += fastest * static_cast<double>(std::min(servers, system_->reach(j)));
  }
  tolerance_ = 1e-12 * (scale > 0 ? scale : 1);
  throughputs_.resize(resources);
  for (auto* line :
       {&addition_base_, &addition_slope_, &removal_base_, &removal_slope_, &additions_, &removals_}) {
    line->assign(width_, 0.0);
  }
  // Nothing can go to what only fills up a row: minus infinity as base and slope 0 times minus infinity would
  // not be a number.
  std::fill(addition_slope_.begin(), addition_slope_.end(), 1.0);
  sum_columns();
}

void SharedClimb::sum_columns() {
  moves_since_sums_ = 0;
  const std::size_t resources = system_->resource_count();
  tasks_.assign(resources, 0.0);
  rate_sums_.assign(resources, 0.0);
  for (const TaskType i : system_->types()) {
    const std::size_t row = index(i) * width_;
    for (std::size_t j = 0; j < resources; ++j) {
      if (counts_[row + j] == 0) continue;
      tasks_[j] += counts_[row + j];
      rate_sums_[j] += counts_[row + j] * rates_[row + j];
    }
  }
  for (std::size_t j = 0; j < resources; ++j) settle(j);
}

/// Brings what follows from a column's sums up to date.
void SharedClimb::settle(std::size_t j) noexcept {
  const double n = tasks_[j];
  const double c = servers_[j];
  if (n == 0) rate_sums_[j] = 0;
  const double more = weight(n + 1, c);
  const double fewer = weight(n - 1, c);
  throughputs_[j] = weight(n, c) * rate_sums_[j];
  addition_base_[j] = more * rate_sums_[j] - throughputs_[j];
  addition_slope_[j] = more;
  removal_base_[j] = fewer * rate_sums_[j] - throughputs_[j];
  removal_slope_[j] = fewer;
}

/// What one task of type i more, or fewer, is worth at every resource.
void SharedClimb::look_at(std::size_t i) noexcept {
  const double* rates = &rates_[i * width_];
  const double* counts = &counts_[i * width_];
  for (std::size_t j = 0; j < width_; ++j) {
    additions_[j] = addition_base_[j] + addition_slope_[j] * rates[j];
    const double removal = removal_base_[j] - removal_slope_[j] * rates[j];
    removals_[j] = counts[j] > 0 ? removal : kNever;
  }
}

/// The first of the largest values, one resource left out.
SharedClimb::End SharedClimb::best(std::vector<double>& values, std::size_t left_out) noexcept {
  const double kept = std::exchange(values[left_out], kNever);
  const End end = best(values);
  values[left_out] = kept;
  return end;
}

SharedClimb::End SharedClimb::best(const std::vector<double>& values) const noexcept {
  const std::size_t j = first_largest(values.data(), width_);
  return {j, values[j]};
}

/// Moves n tasks of type i.
void SharedClimb::move(std::size_t i, std::size_t a, std::size_t b, double n) noexcept {
  double* counts = &counts_[i * width_];
  const double* rates = &rates_[i * width_];
  counts[a] -= n;
  counts[b] += n;
  tasks_[a] -= n;
  tasks_[b] += n;
  rate_sums_[a] -= n * rates[a];
  rate_sums_[b] += n * rates[b];
  if (++moves_since_sums_ >= kSumsInterval) {
    sum_columns();
  } else {
    settle(a);
    settle(b);
  }
}

/// Keeps the move of one task of the type looked at, if the throughput rises.
bool SharedClimb::try_move(std::size_t i, const End& from, const End& to) noexcept {
  if (!(from.value + to.value > tolerance_)) return false;
  move(i, from.resource, to.resource, 1);
  if (moves_since_sums_ == 0) {
    look_at(i);
    return true;
  }
  for (const std::size_t j : {from.resource, to.resource}) {
    const double rate = rates_[i * width_ + j];
    additions_[j] = addition_base_[j] + addition_slope_[j] * rate;
    removals_[j] = counts_[i * width_ + j] > 0 ? removal_base_[j] - removal_slope_[j] * rate : kNever;
  }
  return true;
}

/// Algorithm 2 for the type looked at: one task from its accelerator to the resource where it helps most.
bool SharedClimb::optimise_accelerator(std::size_t i, std::size_t home) noexcept {
  if (removals_[home] == kNever) return false;
  return try_move(i, {home, removals_[home]}, best(additions_, home));
}

/// Algorithm 3 for the type looked at: one task from j_min, where one fewer hurts least, to j_max, where one
/// more helps most.
bool SharedClimb::optimise_processors(std::size_t i) noexcept {
  End from = best(removals_);
  if (from.value == kNever) return false;  // no task at all
  End to = best(additions_);
  if (from.resource == to.resource) {  // best at both ends: the better of the two runners-up
    const End next_to = best(additions_, to.resource);
    const End next_from = best(removals_, from.resource);
    if (from.value + next_to.value >= next_from.value + to.value) {
      to = next_to;
    } else {
      from = next_from;
    }
  }
  return try_move(i, from, to);
}

/// All tasks of a type at one resource to another, where that helps most. X_j is convex in the number of slow
/// tasks: single moves climb to one end, and the other may be higher.
bool SharedClimb::move_all(std::size_t i) noexcept {
  const double* rates = &rates_[i * width_];
  const double* counts = &counts_[i * width_];
  double most = tolerance_;
  std::size_t best_a = kNone;
  std::size_t best_b = kNone;
  for (std::size_t a = 0; a < throughputs_.size(); ++a) {
    const double n = counts[a];
    if (n <= 1) continue;
    const double loss = throughputs_[a] - weight(tasks_[a] - n, servers_[a]) * (rate_sums_[a] - n * rates[a]);
    for (std::size_t b = 0; b < throughputs_.size(); ++b) {
      const double gain =
          weight(tasks_[b] + n, servers_[b]) * (rate_sums_[b] + n * rates[b]) - throughputs_[b] - loss;
      if (gain > most && b != a) {
        most = gain;
        best_a = a;
        best_b = b;
      }
    }
  }
  if (best_a == kNone) return false;
  move(i, best_a, best_b, counts[best_a]);
  return true;
}

double SharedClimb::throughput() const noexcept {
  double x = 0;
  for (const double x_j : throughputs_) x += x_j;
  return x;
}

void SharedClimb::write(Assignment& assignment) const {
  assignment.reset(system_->type_count(), system_->resource_count());
  for (const TaskType i : system_->types()) {
    for (const ResourceId j : system_->resources_for(i)) {
      assignment(i, j) = static_cast<Count>(counts_[index(i) * width_ + index(j)]);
    }
  }
}

}  // namespace allot::detail
