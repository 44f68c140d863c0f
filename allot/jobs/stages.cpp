#include "allot/jobs/stages.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

namespace allot {
namespace {

/// An output as the path that its taker sees: as written, relative to the job's folder; absolute if the taker
/// runs in another folder.
std::string taken_path(std::string output, const Job& job, const JobTask& taker) {
  if (!taker.directory.empty()) {
    const std::filesystem::path folder = std::filesystem::absolute(job.folder).lexically_normal();
    return (folder / output).lexically_normal().string();
  }
  if (output.starts_with('-')) output.insert(0, "./");  // no file name becomes an option
  return output;
}

}  // namespace

bool has_stages(const Job& job) noexcept {
  return std::any_of(job.tasks.begin(), job.tasks.end(),
                     [](const JobTask& task) { return task.from || !task.after.empty(); });
}

TaskType first_stage(const Job& job, TaskType type) noexcept {
  while (job.tasks[index(type)].from) type = *job.tasks[index(type)].from;
  return type;
}

std::vector<std::vector<TaskType>> takers(const Job& job) {
  std::vector<std::vector<TaskType>> all(job.tasks.size());
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (job.tasks[i].from) all[index(*job.tasks[i].from)].push_back(task_type(i));
  }
  return all;
}

std::vector<TaskType> stage_order(const Job& job) {
  std::vector<std::size_t> waits_for(job.tasks.size());
  std::vector<std::vector<std::size_t>> followers(job.tasks.size());
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    const JobTask& task = job.tasks[i];
    waits_for[i] = task.after.size() + (task.from ? 1 : 0);
    if (task.from) followers[index(*task.from)].push_back(i);
    for (const TaskType before : task.after) followers[index(before)].push_back(i);
  }
  std::vector<TaskType> order;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    if (waits_for[i] == 0) order.push_back(task_type(i));
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (const std::size_t i : followers[index(order[at])]) {
      if (--waits_for[i] == 0) order.push_back(task_type(i));
    }
  }
  return order;
}

std::vector<TaskType> way_of_waiting(const Job& job, TaskType first, TaskType last, bool limited) {
  const std::vector<std::vector<TaskType>> takers = allot::takers(job);
  std::vector<std::optional<TaskType>> back(job.tasks.size());
  std::vector<TaskType> seen = {first};
  back[index(first)] = first;
  for (std::size_t at = 0; at < seen.size(); ++at) {
    const JobTask& task = job.tasks[index(seen[at])];
    std::vector<TaskType> waits_for = task.after;
    if (task.from) waits_for.push_back(*task.from);
    if (limited && task.at_most) {
      const std::vector<TaskType>& more = takers[index(seen[at])];
      waits_for.insert(waits_for.end(), more.begin(), more.end());
    }
    for (const TaskType next : waits_for) {
      if (back[index(next)]) continue;
      back[index(next)] = seen[at];
      seen.push_back(next);
    }
  }
  if (!back[index(last)]) return {};
  std::vector<TaskType> steps = {last};
  while (steps.back() != first) steps.push_back(*back[index(steps.back())]);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::vector<std::string> columns_from(const std::vector<std::string>& columns) {
  std::vector<std::string> out = {"", "from"};
  for (const std::string& column : columns) {
    if (!column.empty()) out.push_back("from." + column);
  }
  return out;
}

void fill_stages(Job& job) {
  std::vector<std::size_t> first_number(job.tasks.size());
  std::size_t number = 1;
  for (std::size_t i = 0; i < job.tasks.size(); ++i) {
    first_number[i] = number;
    number += job.tasks[index(first_stage(job, task_type(i)))].inputs.rows();
  }
  for (const TaskType type : stage_order(job)) {
    JobTask& task = job.tasks[index(type)];
    if (!task.from) continue;
    const JobTask& before = job.tasks[index(*task.from)];
    task.inputs.values.clear();
    task.inputs.values.reserve(before.inputs.rows() * task.inputs.columns.size());
    for (std::size_t row = 0; row < before.inputs.rows(); ++row) {
      const std::span<const std::string> values = before.inputs.row(row);
      std::string output = before.output->expand({values, first_number[index(*task.from)] + row, 0, {}});
      task.inputs.values.push_back(taken_path(std::move(output), job, task));
      task.inputs.values.push_back(values.front());
      for (std::size_t k = 0; k < values.size(); ++k) {
        if (!before.inputs.columns[k].empty()) task.inputs.values.push_back(values[k]);
      }
    }
  }
}

}  // namespace allot
