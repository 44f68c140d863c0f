#include "allot/solve/detail/column_table.hpp"

#include "allot/model/filling.hpp"

namespace allot::detail {

bool ColumnTable::is_needed(const System& system, ResourceId j) {
  if (!system.has_needs()) return false;
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0 || !system.can_run(i, j)) continue;
    const std::span<const Draw> draws = system.needs(i, j);
    if (draws.size() != 1 || draws.front().amount != 1) return true;
  }
  return false;
}

double ColumnTable::size(const System& system, ResourceId j) {
  double contents = 1;
  for (const TaskType i : system.types()) {
    if (system.can_run(i, j)) contents *= static_cast<double>(system.count(i)) + 1;
  }
  return contents;
}

ColumnTable::ColumnTable(const System& system, ResourceId j, std::span<const TaskType> types)
    : types_(types.size()) {
  std::size_t contents = 1;
  std::vector<PairId> pairs;
  for (const TaskType i : types) {
    stride_.push_back(contents);
    contents *= static_cast<std::size_t>(system.count(i)) + 1;
    pairs.push_back({i, j});
  }
  values_.resize(contents);
  completions_.resize(contents * types_);
  EvenSharing sharing(system, pairs);
  std::vector<double> tasks(types_);
  for (std::size_t at = 0; at < contents; ++at) {
    for (std::size_t t = 0; t < types_; ++t) {
      const std::size_t span = static_cast<std::size_t>(system.count(types[t])) + 1;
      tasks[t] = static_cast<double>(at / stride_[t] % span);
    }
    const std::span<const double> served = sharing(tasks).at_full_speed;
    for (std::size_t t = 0; t < types_; ++t) {
      const double completed = system.rate(types[t], j) * served[t];
      completions_[at * types_ + t] = completed;
      values_[at] += system.worth(types[t]) * completed;
    }
  }
}

}  // namespace allot::detail
