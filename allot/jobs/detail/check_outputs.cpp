#include "allot/jobs/detail/check_outputs.hpp"

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "allot/base/quote.hpp"
#include "allot/jobs/detail/read_inputs.hpp"
#include "allot/jobs/output_fence.hpp"

namespace allot::detail {
namespace {

constexpr std::size_t kMostClashes = 5;  // clashes that are reported in full; the rest is only counted

}  // namespace

void check_outputs(const Job& job, std::span<const Node* const> nodes, Problems& problems) {
  const std::vector<JobItem> items = list_items(job);
  std::unordered_map<std::string, std::size_t> writers;
  std::vector<std::size_t> clashes(job.tasks.size(), 0);
  OutputFence fence(job.folder);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::size_t type = index(items[k].type);
    const JobTask& task = job.tasks[type];
    if (!task.output) continue;
    const std::string path = task.output->expand({task.inputs.row(items[k].row), k + 1, 0, {}});
    const std::string meant = std::filesystem::path(path).lexically_normal().string();
    const bool is_file = !meant.empty() && !meant.ends_with('/') && meant != "." && meant != "..";
    const auto [it, is_new] = writers.emplace(meant, k);
    std::string why;
    if (!is_file) {
      why = items[k].identity + " would write " + quote::name(path) + ", which is not a file";
    } else if (!is_new) {
      why =
          items[it->second].identity + " and " + items[k].identity + " would both write " + quote::name(path);
    } else if (!job.outputs_anywhere && !fence.holds(meant)) {
      why = items[k].identity + " would write " + quote::name(path) +
            ", which is outside the job's folder; 'outputs_anywhere = true' at the top of the job "
            "allows that";
    }
    if (!why.empty() && ++clashes[type] <= kMostClashes) problems.add(*nodes[type], line("'output': " + why));
  }
  for (std::size_t type = 0; type < clashes.size(); ++type) {
    if (clashes[type] > kMostClashes) {
      problems.add(*nodes[type], "'output': and " + std::to_string(clashes[type] - kMostClashes) +
                                     " more tasks with the same problem");
    }
  }
}

}  // namespace allot::detail
