#include "allot/jobs/job.hpp"

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "allot/base/sha256.hpp"
#include "allot/jobs/identity.hpp"
#include "allot/jobs/stages.hpp"

namespace allot {
namespace {

std::string text_of(const std::vector<std::pair<std::string, Template>>& env) {
  std::string out;
  for (const auto& [name, value] : env) out += (out.empty() ? "" : " ") + name + "=" + value.source();
  return out;
}

/// Distinguishes values without revealing them.
std::string digest_of(const std::vector<std::pair<std::string, Template>>& env) {
  std::string out;
  for (const auto& [name, value] : env) {
    out +=
        (out.empty() ? "" : " ") + name + "=sha256:" + sha256_hex(name + '\0' + value.source()).substr(0, 32);
  }
  return out;
}

/// An identity that is too long for a row of the journal, the environment or a screen is shortened to its
/// beginning and a digest.
std::string shortened(std::string text) {
  constexpr std::size_t kLongest = std::size_t{64} << 10;
  constexpr std::size_t kBeginning = 200;
  if (text.size() <= kLongest) return text;
  std::size_t end = kBeginning;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;  // whole characters
  return text.substr(0, end) + "...sha256:" + sha256_hex(text);
}

}  // namespace

std::vector<JobItem> list_items(const Job& job) {
  std::vector<JobItem> items;
  items.reserve(job.task_count());
  for (std::size_t type = 0; type < job.tasks.size(); ++type) {
    const JobTask& task = job.tasks[type];
    // Identities use the inputs of the first stage: intermediate file names may change.
    const InputTable& first = job.tasks[index(first_stage(job, task_type(type)))].inputs;
    std::unordered_map<std::string, std::size_t> seen;
    for (std::size_t row = 0; row < task.inputs.rows(); ++row) {
      std::string text = shortened(identity_text(task.name, first.row(row), 1));
      const std::size_t occurrence = ++seen[text];
      if (occurrence > 1) text += "#" + std::to_string(occurrence);
      items.push_back({task_type(type), row, std::move(text)});
    }
  }
  return items;
}

JobNeeds needs_of(const Job& job) {
  JobNeeds result;
  const std::size_t resources = job.resources.size();
  std::map<std::pair<std::size_t, std::size_t>, CapacityId> known;  // by position in the file and machine
  // Machine 0 is this one; it also stands for capacities that all machines share.
  const auto capacity_at = [&](std::size_t r, ResourceId j) {
    const JobCapacity& capacity = job.capacities[r];
    const bool is_far = capacity.per == JobCapacity::Per::kMachine && !job.resources[index(j)].launch.empty();
    const auto [at, is_new] = known.try_emplace({r, is_far ? 1 + index(j) : 0});
    if (is_new) {
      at->second = capacity_id(resources + result.capacities.size());
      result.capacities.push_back(capacity);
      if (is_far) result.capacities.back().name += " of " + job.resources[index(j)].name;
    }
    return at->second;
  };
  for (const JobTask& task : job.tasks) {
    std::vector<Need>& needs = result.needs.emplace_back();
    for (Need need : task.needs) {
      if (index(need.capacity) >= resources)
        need.capacity = capacity_at(index(need.capacity) - resources, need.resource);
      result.any |= need.capacity != servers_of(need.resource) || need.amount != 1;
      needs.push_back(need);
    }
  }
  return result;
}

std::vector<WorkDefinition> definitions(const Job& job) {
  std::vector<WorkDefinition> out;
  for (const JobTask& task : job.tasks) {
    for (std::size_t j = 0; j < task.commands.size(); ++j) {
      if (task.commands[j])
        out.push_back({task.name, "command", job.resources[j].name, task.commands[j]->source(), ""});
    }
    out.push_back({task.name, "output", "", task.output ? task.output->source() : "", ""});
    out.push_back({task.name, "directory", "", task.directory, ""});
    if (task.from) out.push_back({task.name, "from", "", job.tasks[index(*task.from)].name, ""});
    out.push_back({task.name, "env", "", digest_of(task.env), text_of(task.env)});
    if (job.record_env) out.push_back({task.name, "env values", "", text_of(task.env), ""});
  }
  return out;
}

}  // namespace allot
