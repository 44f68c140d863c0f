#include "allot/solve/detail/shared_climb.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "allot/solve/detail/climb.hpp"

namespace allot::detail {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();
constexpr std::size_t kNone = ~std::size_t{0};
/// Elements compared side by side.
constexpr std::size_t kLanes = 4;
/// The running sums are recomputed after this many moves, so that rounding errors do not accumulate.
constexpr unsigned kSumsInterval = 4096;
/// After this many moves in a row between the same two resources, each further move may take twice as many
/// tasks as the last.
constexpr std::size_t kStreak = 1;
/// At most this many exchanges of two types are tried: all of them on a small machine, some of them on one
/// with hundreds of resources.
constexpr std::size_t kMostExchanges = 20'000;

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
  load(system);
  run_from(start, moves, poll);
}

void SharedClimb::run_from(const Assignment& start, MapMoves moves, StopPoll& poll) {
  place(start);
  climb(moves, poll);
}

void SharedClimb::climb(MapMoves moves, StopPoll& poll) {
  several_ = moves == MapMoves::kBulk;
  const std::size_t types = system_->type_count();
  // `settled`: types without a useful move since the last move. Once these are all types, nothing helps any
  // more. (Algorithm 3 would also find a useful move from an accelerator.)
  for (std::size_t settled = 0; settled < types;) {
    for (std::size_t i = 0; i < types; ++i) {
      const std::size_t home = accelerators_[i];
      if (home == kNone) continue;
      look_at(i);
      while (!poll.should_stop() && optimise_accelerator(i, home)) settled = 0;
    }
    for (std::size_t i = 0; i < types && settled < types; ++i) {
      look_at(i);
      while (!poll.should_stop() && optimise_processors(i)) settled = 0;
      ++settled;
    }
    if (poll.stopped()) return;
    if (settled < types || moves == MapMoves::kSingle) continue;
    for (std::size_t i = 0; i < types; ++i) {
      if (move_all(i)) settled = 0;
    }
  }
}

void SharedClimb::exchange(StopPoll& poll) {
  const std::size_t types = system_->type_count();
  exchanges_left_ = kMostExchanges;
  std::size_t i = 0;
  for (std::size_t unchanged = 0; unchanged < types && !poll.should_stop(); ++unchanged) {
    if (exchange_types(i)) {
      climb(MapMoves::kBulk, poll);
      unchanged = 0;
    }
    i = i + 1 < types ? i + 1 : 0;
  }
}

void SharedClimb::load(const System& system) {
  system_ = &system;
  const std::size_t types = system_->type_count();
  const std::size_t resources = system_->resource_count();
  width_ = (resources + kLanes - 1) / kLanes * kLanes;
  rates_.assign(types * width_, kNever);
  accelerators_.assign(types, kNone);
  fastest_.assign(types, 0.0);
  for (const TaskType i : system_->types()) {
    const std::size_t row = index(i) * width_;
    for (const ResourceId j : system_->resources_for(i)) {
      rates_[row + index(j)] = system_->value_rate(i, j);
      fastest_[index(i)] = std::max(fastest_[index(i)], system_->value_rate(i, j));
    }
    const std::optional<ResourceId> home = system_->home(i);
    if (home && system_->resource(*home).kind == allot::Kind::kSpecialized)
      accelerators_[index(i)] = index(*home);
  }
  servers_.resize(resources);
  double scale = 0;
  for (const ResourceId j : system_->resource_ids()) {
    const Count servers = system_->resource(j).servers;
    servers_[index(j)] = static_cast<double>(servers);
    double fastest = 0;
    for (const TaskType i : system_->types()) fastest = std::max(fastest, system_->value_rate(i, j));
    scale += fastest * static_cast<double>(std::min(servers, system_->reach(j)));
  }
  tolerance_ = 1e-12 * (scale > 0 ? scale : 1);
  throughputs_.resize(resources);
  for (auto* line :
       {&addition_base_, &addition_slope_, &removal_base_, &removal_slope_, &additions_, &removals_}) {
    line->assign(width_, 0.0);
  }
  // Padding at the end of a row can take no tasks. With slope 0, the product with a rate of minus infinity
  // would be NaN.
  std::fill(addition_slope_.begin(), addition_slope_.end(), 1.0);
}

void SharedClimb::place(const Assignment& start) {
  last_from_ = last_to_ = kNone;  // nothing carries over from an earlier climb
  streak_ = 0;
  last_amount_ = 1;
  counts_.assign(system_->type_count() * width_, 0.0);
  for (const TaskType i : system_->types()) {
    const std::size_t row = index(i) * width_;
    for (const ResourceId j : system_->resources_for(i)) {
      counts_[row + index(j)] = static_cast<double>(start(i, j));
    }
  }
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

/// Updates what depends on a column's sums.
inline void SharedClimb::settle(std::size_t j) noexcept {
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
inline void SharedClimb::look_at(std::size_t i) noexcept {
  const double* rates = &rates_[i * width_];
  const double* counts = &counts_[i * width_];
  for (std::size_t j = 0; j < width_; ++j) {
    additions_[j] = addition_base_[j] + addition_slope_[j] * rates[j];
    const double removal = removal_base_[j] - removal_slope_[j] * rates[j];
    removals_[j] = counts[j] > 0 ? removal : kNever;
  }
}

/// The first of the largest values, one resource left out.
inline SharedClimb::End SharedClimb::best(std::vector<double>& values, std::size_t left_out) noexcept {
  const double kept = std::exchange(values[left_out], kNever);
  const End end = best(values);
  values[left_out] = kept;
  return end;
}

inline SharedClimb::End SharedClimb::best(const std::vector<double>& values) const noexcept {
  const std::size_t j = first_largest(values.data(), width_);
  return {j, values[j]};
}

/// Moves n tasks of type i.
inline void SharedClimb::move(std::size_t i, std::size_t a, std::size_t b, double n) noexcept {
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

/// X_j for this number of tasks and this sum of their rates.
inline double SharedClimb::throughput_with(std::size_t j, double tasks, double rates) const noexcept {
  return weight(tasks, servers_[j]) * rates;
}

/// How many tasks a move that helps one should take. As many as fill the free servers, if that gains more; or
/// twice as many as last time in a series of moves between the same two resources, so that counts of millions
/// take no longer than counts of hundreds.
inline double SharedClimb::amount(std::size_t i, const End& from, const End& to) noexcept {
  const std::size_t a = from.resource;
  const std::size_t b = to.resource;
  const bool again = a == last_from_ && b == last_to_;
  last_from_ = a;
  last_to_ = b;
  streak_ = again ? streak_ + 1 : 0;
  const double here = counts_[i * width_ + a];
  double n = std::min(here, servers_[b] - tasks_[b]);
  if (streak_ >= kStreak) n = std::max(n, std::min(here, 2 * last_amount_));
  last_amount_ = 1;
  if (!(n > 1)) return 1;
  const double* rates = &rates_[i * width_];
  const double gain = throughput_with(a, tasks_[a] - n, rate_sums_[a] - n * rates[a]) - throughputs_[a] +
                      throughput_with(b, tasks_[b] + n, rate_sums_[b] + n * rates[b]) - throughputs_[b];
  if (gain > from.value + to.value) last_amount_ = n;
  return last_amount_;
}

/// Moves tasks of the current type if moving one raises the throughput.
inline bool SharedClimb::try_move(std::size_t i, const End& from, const End& to) noexcept {
  if (!(from.value + to.value > tolerance_)) return false;
  move(i, from.resource, to.resource, several_ ? amount(i, from, to) : 1);
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

/// Algorithm 2 for the current type: one task from its accelerator to the resource where it helps most.
bool SharedClimb::optimise_accelerator(std::size_t i, std::size_t home) noexcept {
  if (removals_[home] == kNever) return false;
  return try_move(i, {home, removals_[home]}, best(additions_, home));
}

/// Algorithm 3 for the current type: one task from j_min, where one fewer hurts least, to j_max, where one
/// more helps most.
bool SharedClimb::optimise_processors(std::size_t i) noexcept {
  End from = best(removals_);
  if (from.value == kNever) return false;  // no task at all
  End to = best(additions_);
  if (!(from.value + to.value > tolerance_)) return false;
  part_ends(
      from, to, [&](std::size_t j) { return best(removals_, j); },
      [&](std::size_t j) { return best(additions_, j); });
  return try_move(i, from, to);
}

/// Moves all tasks of a type at one resource to another, where that helps most. X_j is convex in the number
/// of slow tasks: single moves climb to one end, and the other may be higher.
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

/// Moves type i together with another type, if that helps.
bool SharedClimb::exchange_types(std::size_t i) noexcept {
  for (std::size_t a = 0; a < throughputs_.size(); ++a) {
    const double n = counts_[i * width_ + a];
    if (n == 0) continue;
    for (std::size_t b = 0; b < throughputs_.size(); ++b) {
      // While servers stay free, the two moves are independent.
      if (b == a || rates_[i * width_ + b] == kNever || tasks_[b] + n <= servers_[b]) continue;
      if (exchanges_left_ == 0) return false;
      --exchanges_left_;
      if (exchange_through(i, a, b)) return true;
    }
  }
  return false;
}

/// Moves tasks of type i from a to b, and those of another type from b to the best place: all of both, or
/// equal numbers of both.
bool SharedClimb::exchange_through(std::size_t i, std::size_t a, std::size_t b) noexcept {
  const double here = counts_[i * width_ + a];
  const double rate_a = rates_[i * width_ + a];
  const double rate_b = rates_[i * width_ + b];
  const auto left_at_a = [&](double n) {
    return throughput_with(a, tasks_[a] - n, rate_sums_[a] - n * rate_a);
  };
  const double all_gone = left_at_a(here);
  const double before = throughputs_[a] + throughputs_[b];
  double most = tolerance_;
  Exchanged best;
  const auto rate_amounts = [&](std::size_t k, double in, double out, double left) {
    const double* rates = &rates_[k * width_];
    const double at_b =
        throughput_with(b, tasks_[b] + in - out, rate_sums_[b] + in * rate_b - out * rates[b]) - before;
    // No resource gains more from new tasks than their own rates.
    if (at_b + left + out * fastest_[k] <= most) return;
    for (std::size_t d = 0; d < throughputs_.size(); ++d) {
      const double gain =
          d == a
              ? at_b + throughput_with(a, tasks_[a] - in + out, rate_sums_[a] - in * rate_a + out * rates[a])
              : at_b + left + throughput_with(d, tasks_[d] + out, rate_sums_[d] + out * rates[d]) -
                    throughputs_[d];
      if (gain > most && d != b) {
        most = gain;
        best = {in, out, k, d};
      }
    }
  };
  for (std::size_t k = 0; k < system_->type_count(); ++k) {
    const double there = counts_[k * width_ + b];
    if (there == 0 || k == i) continue;
    rate_amounts(k, here, there, all_gone);
    if (here < there) rate_amounts(k, here, here, all_gone);
    if (there < here) rate_amounts(k, there, there, left_at_a(there));
  }
  if (best.in == 0) return false;
  move(i, a, b, best.in);
  move(best.other, b, best.to, best.out);
  return true;
}

double SharedClimb::value() const noexcept {
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
