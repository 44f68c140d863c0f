#include "allot/run/pipeline_bound.hpp"

#include <algorithm>
#include <vector>

#include "allot/jobs/stages.hpp"
#include "allot/run/batch.hpp"

namespace allot {

std::optional<double> pipeline_bound(const Job& job, const System& system, std::span<const Count> left,
                                     bool packings) {
  std::optional<double> bound = batch_bound(system, left, packings);
  if (!bound || !has_stages(job)) return bound;
  // By type: lower bounds on the begin of its first task and the end of its last one.
  std::vector<double> begin(job.tasks.size(), 0);
  std::vector<double> end(job.tasks.size(), 0);
  for (const TaskType type : stage_order(job)) {
    const JobTask& task = job.tasks[index(type)];
    double together = 0;  // tasks per second, with everything there is
    double fastest = 0;
    for (const ResourceId j : system.resources_for(type)) {
      const double rate = system.rates()(type, j);
      together += rate * static_cast<double>(system.resources()[index(j)].servers);
      fastest = std::max(fastest, rate);
    }
    for (const TaskType before : task.after)
      begin[index(type)] = std::max(begin[index(type)], end[index(before)]);
    if (task.from) begin[index(type)] = std::max(begin[index(type)], begin[index(*task.from)]);
    end[index(type)] = begin[index(type)];
    if (task.from) end[index(type)] = std::max(end[index(type)], end[index(*task.from)]);
    if (left[index(type)] == 0 || !(fastest > 0)) continue;
    const double last =
        task.from && left[index(*task.from)] > 0 ? end[index(*task.from)] : begin[index(type)];
    end[index(type)] =
        std::max({end[index(type)], begin[index(type)] + static_cast<double>(left[index(type)]) / together,
                  last + 1 / fastest});
    bound = std::max(*bound, end[index(type)]);
  }
  return bound;
}

}  // namespace allot
