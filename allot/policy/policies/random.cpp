// Random placement (RD): uniform over the resources that can run the type, or by a given table of
// probabilities.
#include <cmath>
#include <numeric>
#include <string>

#include "allot/base/error.hpp"
#include "allot/policy/policy.hpp"

namespace allot::policies {
namespace {

class UniformPlacement final : public Policy {
 public:
  ResourceId place(TaskType i, const Situation& situation, PolicyMemory,
                   RandomStream& random) const noexcept override {
    const auto allowed = situation.system->resources_for(i);
    return allowed[random.below(allowed.size())];
  }

  void choices(TaskType i, const Situation& situation, std::span<const std::uint32_t>,
               std::vector<Choice>& out) const override {
    const auto allowed = situation.system->resources_for(i);
    out.clear();
    for (const ResourceId j : allowed) out.push_back({j, 1.0 / static_cast<double>(allowed.size()), {}});
  }
};

/// A table by type, independent of the state.
class TablePlacement final : public Policy {
 public:
  /// Rows must be valid: see `check_rows`.
  TablePlacement(const System& system, std::vector<double> probabilities)
      : probabilities_(system.type_count(), system.resource_count(), std::move(probabilities)) {
    for (const TaskType i : system.types()) {
      const std::span<double> row = probabilities_.row(i);
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& probability : row) probability /= sum > 0 ? sum : 1.0;
    }
  }

  ResourceId place(TaskType i, const Situation&, PolicyMemory, RandomStream& random) const noexcept override {
    double left = random.uniform();
    ResourceId last{};
    for (const ResourceId j : probabilities_.resource_ids()) {
      const double probability = probabilities_(i, j);
      if (probability == 0) continue;
      if (left < probability) return j;
      left -= probability;
      last = j;  // what rounding leaves over belongs to the last
    }
    return last;
  }

  void choices(TaskType i, const Situation&, std::span<const std::uint32_t>,
               std::vector<Choice>& out) const override {
    out.clear();
    for (const ResourceId j : probabilities_.resource_ids()) {
      if (probabilities_(i, j) > 0) out.push_back({j, probabilities_(i, j), {}});
    }
  }

 private:
  PerPair<double> probabilities_;
};

/// Throws unless there is a row for each type that sums to 1 and is 0 where the type cannot run.
void check_rows(const System& system, const std::vector<double>& probabilities) {
  if (probabilities.size() != system.type_count() * system.resource_count()) {
    throw InvalidModel("placement_probabilities", "needs one row per task type and one column per resource");
  }
  const PairSpan table(probabilities, system.resource_count());
  for (const TaskType i : system.types()) {
    const std::string row = "placement_probabilities[" + std::to_string(index(i)) + "]";
    double sum = 0;
    for (const ResourceId j : system.resource_ids()) {
      const double p = table(i, j);
      const std::string entry = row + "[" + std::to_string(index(j)) + "]";
      if (!std::isfinite(p) || p < 0)
        throw InvalidModel(entry, "must be a probability, is " + std::to_string(p));
      if (p > 0 && !system.can_run(i, j)) throw InvalidModel(entry, "must be 0: the type cannot run there");
      sum += p;
    }
    if (!system.resources_for(i).empty() && std::abs(sum - 1) > 1e-9) {
      throw InvalidModel(row, "must sum to 1, sums to " + std::to_string(sum));
    }
  }
}

std::unique_ptr<Policy> make(const System& system, const PolicyOptions& options) {
  if (options.placement_probabilities.empty()) return std::make_unique<UniformPlacement>();
  check_rows(system, options.placement_probabilities);
  return std::make_unique<TablePlacement>(system, options.placement_probabilities);
}

}  // namespace

extern const PolicyInfo random;
const PolicyInfo random{.name = "random",
                        .summary = "at random among the resources that can run the task",
                        .make = make,
                        .takes_probabilities = true,
                        .looks_at = Looks::kNothing};

}  // namespace allot::policies
