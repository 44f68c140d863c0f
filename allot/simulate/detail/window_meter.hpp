// Measures a simulation between two moments.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "allot/base/ids.hpp"
#include "allot/base/statistics.hpp"
#include "allot/simulate/detail/engine.hpp"

namespace allot::detail {

class WindowMeter {
 public:
  /// `capacities`: the number of capacities whose use is also measured, or 0.
  WindowMeter(std::size_t types, std::size_t resources, std::size_t capacities,
              std::span<const ThreadGroup> groups)
      : types_(types),
        resources_(resources),
        busy_(resources),
        busy_since_(resources),
        used_(capacities),
        used_since_(capacities) {
    window_.completions_by_pair.assign(types, resources, 0);
    window_.response_by_type.assign(types, 0.0);
    window_.busy.assign(resources, 0.0);
    window_.used.assign(capacities, 0.0);
    for (const ThreadGroup& group : groups) window_.steps.emplace_back(group.sequence.size(), 0);
  }

  /// `ages`: of all tasks present, together.
  void begin(double now, double ages) {
    start_ = now;
    completions_ = 0;
    window_.completions_by_pair.assign(types_, resources_, 0);
    for (std::vector<std::uint64_t>& steps : window_.steps) std::fill(steps.begin(), steps.end(), 0);
    std::fill(window_.response_by_type.begin(), window_.response_by_type.end(), 0.0);
    std::fill(window_.busy.begin(), window_.busy.end(), 0.0);
    std::fill(busy_since_.begin(), busy_since_.end(), now);
    std::fill(window_.used.begin(), window_.used.end(), 0.0);
    std::fill(used_since_.begin(), used_since_.end(), now);
    responses_.clear();
    population_integral_ = 0;
    population_since_ = now;
    ages_at_start_ = ages;
  }

  /// Call `count_population` first.
  const Window& end(double now, double ages, double oldest) {
    for (std::size_t j = 0; j < resources_; ++j) account_busy(j, busy_[j], now);
    for (std::size_t r = 0; r < used_.size(); ++r) set_used(r, used_[r], now);
    window_.seconds = now - start_;
    window_.completions = completions_;
    window_.population_integral = population_integral_;
    const double expected = population_integral_ + ages_at_start_ - ages;
    const double scale = std::max({std::abs(expected), population_integral_, 1e-300});
    window_.little_residual = std::abs(response_sum() - expected) / scale;
    window_.oldest = oldest;
    return window_;
  }

  [[gnu::always_inline]] void complete(std::uint32_t type, std::size_t j, double response) {
    ++completions_;
    ++window_.completions_by_pair(task_type(type), resource_id(j));
    window_.response_by_type[type] += response;
    responses_.add(response);
  }

  /// Counts a completion as this step of a group's sequence.
  void complete_step(std::uint32_t group, std::uint32_t step) noexcept { ++window_.steps[group][step]; }

  /// From now on, this many servers of the resource are busy.
  [[gnu::always_inline]] void set_busy(std::size_t j, double busy, double now) noexcept {
    if (busy != busy_[j]) account_busy(j, busy, now);
  }

  /// From now on, this amount of the capacity is in use.
  void set_used(std::size_t r, double used, double now) noexcept {
    window_.used[r] += used_[r] * (now - used_since_[r]);
    used_since_[r] = now;
    used_[r] = used;
  }

  /// The population was this until now.
  void count_population(std::span<const Count> population, double now) noexcept {
    Count threads = 0;
    for (const Count n : population) threads += n;
    population_integral_ += static_cast<double>(threads) * (now - population_since_);
    population_since_ = now;
  }

  /// Its counts are up to date; its times are not.
  const Window& counted() const noexcept { return window_; }
  const LogHistogram& responses() const noexcept { return responses_; }
  double response_sum() const noexcept {
    return std::accumulate(window_.response_by_type.begin(), window_.response_by_type.end(), 0.0);
  }

 private:
  void account_busy(std::size_t j, double busy, double now) noexcept {
    window_.busy[j] += busy_[j] * (now - busy_since_[j]);
    busy_since_[j] = now;
    busy_[j] = busy;
  }

  std::size_t types_;
  std::size_t resources_;
  Window window_;
  LogHistogram responses_;
  std::uint64_t completions_ = 0;
  double start_ = 0;
  std::vector<double> busy_;
  std::vector<double> busy_since_;
  std::vector<double> used_;
  std::vector<double> used_since_;
  double population_integral_ = 0;
  double population_since_ = 0;
  double ages_at_start_ = 0;
};

}  // namespace allot::detail
