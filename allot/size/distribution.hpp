// Task sizes: positive random numbers with mean 1.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allot/base/random.hpp"

namespace allot {

/// A distribution of task sizes, scaled to mean 1. Immutable: may be shared between threads. Samples depend
/// on the stream alone and are the same to the last bit on every platform: own samplers, own elementary
/// functions.
class Distribution {
 public:
  virtual ~Distribution() = default;

  /// Fills `out` with independent samples. The same numbers whether asked for in one call or in several.
  virtual void sample(RandomStream& random, std::span<double> out) const noexcept = 0;
  /// Of the scaled distribution; may be infinite.
  virtual double variance() const noexcept = 0;
  double mean() const noexcept { return 1.0; }
  /// The name with all parameters, such as `bounded-pareto:alpha=1.5,ratio=1000`: `make_distribution` reads
  /// it.
  virtual std::string spec() const = 0;
};

/// A built-in kind of distribution.
struct DistributionInfo {
  std::string_view name;
  std::string_view summary;
  /// The parameters it takes with their defaults, such as `alpha=1.5,ratio=1000`; empty: none.
  std::string_view parameters;
  /// From the text after the colon (empty if there is none). Throws InvalidModel, which names the parameter.
  std::unique_ptr<const Distribution> (*make)(std::string_view parameters);
  bool needs_file = false;
};

/// All built-in kinds, in the order of the source list in CMakeLists.txt.
std::span<const DistributionInfo* const> builtin_distributions() noexcept;

/// Null if there is no kind of that name.
const DistributionInfo* find_distribution(std::string_view name) noexcept;

/// From `name` or `name:key=value,...` (`trace:PATH` takes a path). Throws InvalidModel for an unknown name
/// (and lists the known names), an unknown or impossible parameter, or an unreadable trace.
std::unique_ptr<const Distribution> make_distribution(std::string_view spec);

/// Drawn at random, with replacement, from `sizes`, which are scaled to mean 1. `name`: the text of `spec`,
/// which cannot be read back. Throws InvalidModel unless all are positive, finite numbers.
std::unique_ptr<const Distribution> sampled_distribution(std::string name, std::vector<double> sizes);

}  // namespace allot
