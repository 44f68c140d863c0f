#include "allot/run/request.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace allot {

std::string temporary_output(const std::string& final_output, const std::string& run_id, int attempt) {
  constexpr std::size_t kLongestName = 255;
  const std::size_t slash = final_output.rfind('/');
  const std::size_t name = slash == std::string::npos ? 0 : slash + 1;
  const std::string prefix = ".allot-" + run_id + "-" + std::to_string(attempt) + "-";
  std::string_view rest = std::string_view(final_output).substr(name);
  if (prefix.size() + rest.size() > kLongestName && prefix.size() < kLongestName) {
    rest.remove_prefix(prefix.size() + rest.size() - kLongestName);
    while (!rest.empty() && (static_cast<unsigned char>(rest.front()) & 0xC0U) == 0x80U)
      rest.remove_prefix(1);
  }
  return final_output.substr(0, name) + prefix + std::string(rest);
}

std::string output_path(const Job& job, const JobItem& item, std::uint64_t number) {
  const JobTask& task = job.tasks[index(item.type)];
  if (!task.output) return {};
  TemplateValues values;
  values.columns = task.inputs.row(item.row);
  values.number = number;
  const std::filesystem::path folder = std::filesystem::absolute(job.folder).lexically_normal();
  // The same path that was checked: with a link on the way, `..` would lead to another place.
  return (folder / task.output->expand(values)).lexically_normal().string();
}

bool has_input(const Job& job, TaskType type, std::size_t row) {
  const JobTask& task = job.tasks[index(type)];
  std::error_code error;
  return !task.from ||
         std::filesystem::exists(std::filesystem::path(job.folder) / task.inputs.row(row).front(), error);
}

TaskRequest make_request(const Job& job, const Attempt& attempt, const std::string& run_id) {
  const JobItem& item = *attempt.item;
  const JobTask& task = job.tasks[index(item.type)];
  const JobResource& resource = job.resources[index(attempt.resource)];
  const std::filesystem::path folder = std::filesystem::absolute(job.folder).lexically_normal();

  TemplateValues values;
  values.columns = task.inputs.row(item.row);
  values.number = attempt.number;
  values.slot = static_cast<std::uint64_t>(attempt.slot);
  const Holding its_slot{item.type, attempt.resource, {{attempt.resource, attempt.slot, 1}}};
  std::vector<std::string> slots;
  for (std::size_t j = 0; j < job.resources.size(); ++j)
    slots.push_back((attempt.holding != nullptr ? *attempt.holding : its_slot).list(resource_id(j)));
  values.slots = slots[index(attempt.resource)];
  values.slots_of = slots;

  TaskRequest request;
  if (task.output) {
    request.final_output = output_path(job, item, attempt.number);
    request.temporary_output = temporary_output(request.final_output, run_id, attempt.attempt);
    values.output = request.temporary_output;
  }
  const CommandTemplate& command = *task.commands[index(attempt.resource)];
  request.argv = command.expand(values);
  // Relative to the job file, wherever the run was started.
  request.directory =
      (task.directory.empty() ? folder : (folder / task.directory).lexically_normal()).string();
  request.environment = {"ALLOT_RUN_ID=" + run_id,
                         "ALLOT_TASK=" + item.identity,
                         "ALLOT_ATTEMPT=" + std::to_string(attempt.attempt),
                         "ALLOT_RESOURCE=" + resource.name,
                         "ALLOT_SLOT=" + std::to_string(attempt.slot),
                         "ALLOT_SLOTS=" + slots[index(attempt.resource)]};
  for (const auto& [name, value] : resource.env)
    request.environment.push_back(name + "=" + value.expand(values));
  for (const auto& [name, value] : task.env) request.environment.push_back(name + "=" + value.expand(values));
  // A task without a reference to the output path writes its output to standard output.
  if (task.output && !command.uses(Placeholder::kOutput) &&
      std::none_of(task.env.begin(), task.env.end(),
                   [](const auto& entry) { return entry.second.uses(Placeholder::kOutput); })) {
    request.stdout_path = request.temporary_output;
  }
  request.timeout_s = task.timeout_s.value_or(0);
  return request;
}

}  // namespace allot
