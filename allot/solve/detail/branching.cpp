#include "allot/solve/detail/branching.hpp"

#include <cmath>

namespace allot::detail {

std::optional<TotalCut> undecided_total(const System& system, const std::vector<WeightedContent>& support) {
  std::vector<double> mean(system.resource_count());
  std::vector<double> weight(system.resource_count());
  for (const WeightedContent& part : support) {
    mean[index(part.resource)] += part.weight * static_cast<double>(part.total);
    weight[index(part.resource)] += part.weight;
  }
  std::vector<double> spread(system.resource_count());
  for (const WeightedContent& part : support) {
    const std::size_t j = index(part.resource);
    spread[j] += part.weight * std::abs(static_cast<double>(part.total) - mean[j] / weight[j]);
  }
  std::optional<ResourceId> widest;
  for (const ResourceId j : system.resource_ids()) {
    if (spread[index(j)] > 1e-6 && (!widest || spread[index(j)] > spread[index(*widest)])) widest = j;
  }
  if (!widest) return std::nullopt;
  return TotalCut{*widest, static_cast<Count>(std::floor(mean[index(*widest)] / weight[index(*widest)]))};
}

std::optional<TotalCut> widest_total(const System& system, const std::vector<ColumnDomain>& domains) {
  std::optional<TotalCut> cut;
  Count most = 0;
  for (const ResourceId j : system.resource_ids()) {
    const auto& totals = domains[index(j)].totals;
    const Count extent = totals.back().last - totals.front().first;
    if (extent > most) {
      most = extent;
      cut = {j, totals.front().first + (extent - 1) / 2};
    }
  }
  return cut;
}

std::optional<CountCut> undecided_count(const System& system, const ConfigurationBound& bound,
                                        const std::vector<WeightedContent>& support) {
  std::optional<CountCut> cut;
  double widest = 1e-6;
  for (const ResourceId j : system.resource_ids()) {
    const std::size_t size = bound.pricer(j).types().size();
    for (std::size_t t = 0; t < size; ++t) {
      double weight = 0;
      double mean = 0;
      for (const WeightedContent& part : support) {
        if (part.resource != j) continue;
        weight += part.weight;
        mean += part.weight * static_cast<double>((*part.content)[t]);
      }
      if (weight <= 0) continue;
      mean /= weight;
      double spread = 0;
      for (const WeightedContent& part : support) {
        if (part.resource == j)
          spread += part.weight * std::abs(static_cast<double>((*part.content)[t]) - mean);
      }
      if (spread > widest) {
        widest = spread;
        cut = {j, t, static_cast<Count>(std::floor(mean))};
      }
    }
  }
  return cut;
}

std::optional<CountCut> widest_count(const System& system, const ConfigurationBound& bound,
                                     const std::vector<ColumnDomain>& domains) {
  std::optional<CountCut> cut;
  Count widest = 0;
  for (const ResourceId j : system.resource_ids()) {
    const ColumnDomain& domain = domains[index(j)];
    const auto types = bound.pricer(j).types();
    for (std::size_t t = 0; t < types.size(); ++t) {
      const Count low = domain.lower.empty() ? 0 : domain.lower[t];
      const Count high = domain.upper.empty() ? system.count(types[t]) : domain.upper[t];
      if (high - low > widest) {
        widest = high - low;
        cut = {j, t, low + (high - low - 1) / 2};
      }
    }
  }
  return cut;
}

Assignment least_counts(const System& system, const ConfigurationBound& bound,
                        const std::vector<ColumnDomain>& domains) {
  Assignment least(system.type_count(), system.resource_count());
  for (const ResourceId j : system.resource_ids()) {
    const ColumnDomain& domain = domains[index(j)];
    const auto types = bound.pricer(j).types();
    for (std::size_t t = 0; t < types.size(); ++t)
      least(types[t], j) = domain.lower.empty() ? 0 : domain.lower[t];
  }
  return least;
}

}  // namespace allot::detail
