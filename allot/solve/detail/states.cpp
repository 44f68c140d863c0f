#include "allot/solve/detail/states.hpp"

#include <cmath>

#include "allot/base/numbers.hpp"

namespace allot::detail {

double count_states(const System& system) {
  double states = 1;
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    const double spread = static_cast<double>(system.resources_for(i).size()) - 1;
    double ways = 1;  // C(N + spread, spread)
    for (double k = 1; k <= spread; ++k) {
      ways = ways * (static_cast<double>(system.count(i)) + k) / k;
      if (ways < 0x1p53) ways = std::round(ways);
    }
    states *= ways;
  }
  return states;
}

std::string format_states(double states) {
  if (states >= 1e15) return rounded_text(states, 3);
  std::string grouped = std::to_string(std::llround(states));
  for (int at = static_cast<int>(grouped.size()) - 3; at > 0; at -= 3) {
    grouped.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return grouped;
}

StateVisitor::StateVisitor(const System& system)
    : system_(&system),
      columns_(system.resource_count()),
      left_(system.type_count()),
      counts_(system.type_count(), system.resource_count()) {
  if (system.has_needs()) filled_.emplace(system);
  for (const ResourceId j : system.resource_ids()) {
    columns_[index(j)].servers = system.resource(j).servers;
    columns_[index(j)].min_depth = system.resource(j).min_depth;
    columns_[index(j)].discipline = system.resource(j).discipline;
  }
}

double StateVisitor::value_and_throughputs(std::vector<double>& by_task) const {
  by_task.assign(system_->type_count(), 0.0);
  if (filled_) {
    fill().throughputs(by_task);
    return filled_->value();
  }
  double x = 0;
  for (const ResourceId j : system_->resource_ids()) {
    const Column& column = columns_[index(j)];
    if (column.sums.tasks == 0) continue;
    const CompletionLaw law = completion_law(column.discipline, column.servers, column.sums);
    for (const TaskType i : system_->types()) {
      const Count n = counts_(i, j);
      if (n != 0)
        by_task[index(i)] += static_cast<double>(n) * (law.per_rate * system_->rate(i, j) + law.per_task);
    }
    x += column_value(column.discipline, column.servers, column.sums);
  }
  return x;
}

}  // namespace allot::detail
