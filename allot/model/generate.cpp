#include "allot/model/generate.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "allot/base/error.hpp"
#include "allot/base/random.hpp"

namespace allot {
namespace {

/// Each kind of draw has its own stream, so that asking for priorities does not change the rates.
enum Purpose : std::uint64_t { kRateStream, kCounts, kPriorities, kPowers };

void check(const GenerateOptions& options, std::size_t size) {
  if (size == 0) throw InvalidModel("gps", "a system needs at least one resource");
  if (options.general == 0 && options.rule == AffinityRule::kOrdered) {
    throw InvalidModel("rule", "'ordered' needs at least one GP");
  }
  if (size > 4096) throw InvalidModel("gps", "at most 4096 resources, got " + std::to_string(size));
  if (options.threads < static_cast<Count>(size) || options.threads > kMaxCount) {
    throw InvalidModel("threads", "must be from " + std::to_string(size) + " (one per task type) to " +
                                      std::to_string(kMaxCount) + ", is " + std::to_string(options.threads));
  }
  if (!(options.lowest_rate >= 0) || !(options.highest_rate > options.lowest_rate) ||
      options.highest_rate > kMaxNumber) {
    throw InvalidModel("rates", "need 0 <= LO < HI <= 1e100");
  }
}

}  // namespace

Scenario generate(const GenerateOptions& options) {
  const std::size_t size = options.general + options.specialized;
  check(options, size);
  const auto may_run = [&](std::size_t i, std::size_t j) { return j < options.general || i == j; };

  RandomStream rate_stream(options.seed, kRateStream);
  std::vector<double> rates(size * size, 0.0);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      if (may_run(i, j)) rates[i * size + j] = rate_stream.uniform(options.lowest_rate, options.highest_rate);
    }
  }
  for (std::size_t k = 0; k < size; ++k) {
    std::vector<std::size_t> line;  // positions in `rates` of row k, or of column k
    for (std::size_t other = 0; other < size; ++other) {
      const std::size_t i = options.rule == AffinityRule::kColumn ? other : k;
      const std::size_t j = options.rule == AffinityRule::kColumn ? k : other;
      if (may_run(i, j)) line.push_back(i * size + j);
    }
    if (options.rule == AffinityRule::kRow || options.rule == AffinityRule::kColumn) {
      const auto largest = *std::max_element(
          line.begin(), line.end(), [&](std::size_t a, std::size_t b) { return rates[a] < rates[b]; });
      std::swap(rates[largest], rates[k * size + k]);
    } else if (options.rule == AffinityRule::kOrdered) {
      std::vector<double> sorted;
      for (const std::size_t at : line) sorted.push_back(rates[at]);
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (std::size_t at = 0; at < line.size(); ++at) rates[line[at]] = sorted[at];
    }
  }

  RandomStream count_stream(options.seed, kCounts);
  RandomStream priority_stream(options.seed, kPriorities);
  RandomStream power_stream(options.seed, kPowers);
  const bool has_own_homes = options.rule == AffinityRule::kRow || options.rule == AffinityRule::kColumn;
  std::vector<Resource> resources(size);
  std::vector<TaskClass> tasks(size);
  for (std::size_t k = 0; k < size; ++k) {
    const bool special = k >= options.general;
    resources[k].name =
        special ? "sa" + std::to_string(k - options.general + 1) : "gp" + std::to_string(k + 1);
    resources[k].kind = special ? Kind::kSpecialized : Kind::kGeneral;
    if (options.powers) resources[k].power = power_stream.uniform(1, 10);
    tasks[k].name = "t" + std::to_string(k + 1);
    tasks[k].count = 1;
    if (has_own_homes) tasks[k].home = resource_id(k);
    if (options.priorities) tasks[k].priority = priority_stream.uniform(0.05, 1);
  }
  for (Count thread = static_cast<Count>(size); thread < options.threads; ++thread) {
    ++tasks[count_stream.below(size)].count;
  }
  return Scenario{"generated, seed " + std::to_string(options.seed),
                  System(std::move(resources), std::move(tasks), Rates(size, size, std::move(rates))),
                  {},
                  {},
                  {},
                  {}};
}

}  // namespace allot
