// The affinity matrix mu of the paper (Eq. 2).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "allot/base/per.hpp"

namespace allot {

/// The largest number that a rate, a power, a priority, a floor or a time may be, and one over the smallest
/// positive rate: far beyond any machine, and far from where sums and products overflow.
inline constexpr double kMaxNumber = 1e100;

/// Affinity matrix mu: rate(i, j) is how fast one server of resource j completes i-type tasks (paper Eq. 2).
/// Immutable once built, so every holder may trust it. Rate 0 means "cannot run there".
class Rates {
 public:
  /// Row-major, tasks per second. Throws InvalidModel, naming the entry, unless there are types * resources
  /// values, each 0 or from 1 / kMaxNumber to kMaxNumber.
  Rates(std::size_t types, std::size_t resources, std::vector<double> values);
  explicit Rates(PerPair<double> values);

  double operator()(TaskType i, ResourceId j) const noexcept { return values_(i, j); }
  /// The rates of a type, one per resource.
  std::span<const double> row(TaskType i) const noexcept { return values_.row(i); }
  std::size_t types() const noexcept { return values_.types(); }
  std::size_t resources() const noexcept { return values_.resources(); }
  const std::vector<double>& values() const noexcept { return values_.values(); }
  const PerPair<double>& pairs() const noexcept { return values_; }

  /// A copy with one entry replaced. Throws like the constructor.
  Rates with(TaskType i, ResourceId j, double rate) const;

  friend bool operator==(const Rates&, const Rates&) = default;

 private:
  PerPair<double> values_;
};

}  // namespace allot
