#include "allot/io/detail/read_work.hpp"

#include <algorithm>
#include <array>

#include "allot/io/detail/text.hpp"

namespace allot::detail {
namespace {

constexpr std::array<std::string_view, 2> kThreadKeys = {"count", "sequence"};
constexpr std::array<std::string_view, 3> kPopulationKeys = {"at", "task", "change"};
constexpr std::array<std::string_view, 2> kArrivalKeys = {"task", "rate"};
constexpr std::array<std::string_view, 8> kMeasuredKeys = {"task", "resource", "low",   "high",
                                                           "runs", "alone",    "mixed", "converged"};

std::span<const Node> tables(const TableReader& root, std::string_view key, const Problems& problems) {
  return root.array(key, problems.document().format() == FileFormat::kToml ? "tables" : "objects");
}

/// A type that will have to run somewhere.
std::optional<TaskType> runnable(const Node& where, std::string_view name, const SystemParts& parts,
                                 Problems& problems) {
  const auto task = resolve(parts.task_names, name, where, problems);
  if (!task) return std::nullopt;
  if (parts.runs_nowhere(*task)) {
    problems.add(where,
                 in_quotes(name) + " can run nowhere: its 'rates' need a rate > 0 on at least one resource");
  }
  return task_type(*task);
}

/// Whether some count falls below 0 or rises beyond the limit as the changes come due; equal times in file
/// order.
void check_counts_over_time(std::span<const Node> nodes,
                            const std::vector<std::optional<PopulationChange>>& changes,
                            const SystemParts& parts, Problems& problems) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < changes.size(); ++k) {
    if (!changes[k]) return;  // with one change unknown, the counts after it are too
    order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return changes[a]->at < changes[b]->at; });
  std::vector<Count> counts;
  for (const TaskClass& task : parts.tasks) counts.push_back(task.count);
  for (const std::size_t k : order) {
    Count& count = counts[index(changes[k]->task)];
    const Count before = count;
    count += changes[k]->change;
    if (count >= 0 && count <= kMaxCount) continue;
    problems.add(*nodes[k].find("change"),
                 "'change' would take the count of " + in_quotes(parts.tasks[index(changes[k]->task)].name) +
                     " from " + std::to_string(before) + " to " + std::to_string(count) +
                     "; it must stay from 0 to " + std::to_string(kMaxCount));
    count = before;
  }
}

}  // namespace

std::unordered_set<std::string_view> types_with_other_work(const Node& root) {
  std::unordered_set<std::string_view> names;
  for (const std::string_view key : {"population", "arrivals"}) {
    const Node* const node = root.find(key);
    const auto* array = node ? node->get<Node::Array>() : nullptr;
    if (!array) continue;
    for (const Node& entry : *array) {
      const Node* const task = entry.find("task");
      if (task && task->get<std::string>()) names.insert(*task->get<std::string>());
    }
  }
  return names;
}

std::vector<ThreadGroup> read_threads(const TableReader& root, const SystemParts& parts, Problems& problems) {
  std::vector<ThreadGroup> groups;
  Count total = 0;
  for (const Node& node : tables(root, "threads", problems)) {
    const TableReader table(node, "a group of threads", kThreadKeys, problems);
    table.require("sequence", "the task types that each thread runs, over and over");
    ThreadGroup group;
    group.count = table.whole("count", 1, kMaxCount).value_or(1);
    total += group.count;
    const Node* const sequence = table.find("sequence");
    const auto names = table.array("sequence", "task names");
    if (sequence && sequence->get<Node::Array>() && names.empty()) {
      problems.add(*sequence, "'sequence' needs at least one task name");
    }
    for (const Node& name : names) {
      const auto text = read_text(name, "a task name in 'sequence'", problems);
      const auto task = text ? runnable(name, *text, parts, problems) : std::nullopt;
      if (task) group.sequence.push_back(*task);
    }
    groups.push_back(std::move(group));
  }
  if (total > kMaxCount) {
    problems.add(*root.find("threads"), "the groups have " + std::to_string(total) +
                                            " threads in all; at most " + std::to_string(kMaxCount) +
                                            " are possible");
  }
  return groups;
}

std::vector<PopulationChange> read_population(const TableReader& root, const SystemParts& parts,
                                              Problems& problems) {
  const std::span<const Node> nodes = tables(root, "population", problems);
  std::vector<std::optional<PopulationChange>> changes;
  for (const Node& node : nodes) {
    const TableReader table(node, "a population change", kPopulationKeys, problems);
    table.require("at", "the time of the change in seconds");
    table.require("task", "the task type whose count changes");
    table.require("change", "how many threads come, or go when negative");
    const auto at = table.seconds("at");
    const auto given = table.whole("change", -kMaxCount, kMaxCount);
    const Count change = given.value_or(0);  // 0: absent or wrong
    if (given && change == 0) {
      problems.add(*table.find("change"),
                   "'change' must not be 0: how many threads come, or go when negative");
    }
    std::optional<TaskType> task;
    if (const auto name = table.text("task")) {
      if (change > 0) {
        task = runnable(*table.find("task"), *name, parts, problems);
      } else if (const auto found = resolve(parts.task_names, *name, *table.find("task"), problems)) {
        task = task_type(*found);
      }
    }
    changes.push_back(at && change != 0 && task ? std::optional(PopulationChange{*at, *task, change})
                                                : std::nullopt);
  }
  if (parts.has_sound_counts) check_counts_over_time(nodes, changes, parts, problems);
  std::vector<PopulationChange> out;
  for (const auto& change : changes) {
    if (change) out.push_back(*change);
  }
  return out;
}

std::vector<Arrivals> read_arrivals(const TableReader& root, const SystemParts& parts, Problems& problems) {
  std::vector<Arrivals> out;
  for (const Node& node : tables(root, "arrivals", problems)) {
    const TableReader table(node, "an arrival stream", kArrivalKeys, problems);
    table.require("task", "the type of the tasks that arrive");
    table.require("rate", "how many arrive per second");
    Arrivals arrivals;
    arrivals.rate = table.number("rate").value_or(0.0);
    if (const auto name = table.text("task")) {
      arrivals.task = runnable(*table.find("task"), *name, parts, problems).value_or(TaskType{});
    }
    out.push_back(arrivals);
  }
  return out;
}

std::vector<MeasuredRate> read_measured(const TableReader& root, const SystemParts& parts,
                                        Problems& problems) {
  std::vector<MeasuredRate> out;
  for (const Node& node : tables(root, "measured", problems)) {
    const TableReader table(node, "a measured rate", kMeasuredKeys, problems);
    table.require("task", "the task type that was measured");
    table.require("resource", "where it was measured");
    table.require("low", "the lower end of the rate's 95% interval");
    table.require("high", "the upper end of the rate's 95% interval");
    MeasuredRate rate;
    std::optional<std::size_t> task;
    std::optional<std::size_t> resource;
    if (const auto name = table.text("task"))
      task = resolve(parts.task_names, *name, *table.find("task"), problems);
    if (const auto name = table.text("resource"))
      resource = resolve(parts.resource_names, *name, *table.find("resource"), problems);
    rate.low = table.number("low").value_or(0);
    rate.high = table.number("high").value_or(rate.low);
    if (rate.high < rate.low) problems.add(*table.find("high"), "'high' must not be below 'low'");
    rate.runs = table.whole("runs", 0, kMaxCount).value_or(0);
    rate.alone = table.number("alone");
    rate.mixed = table.number("mixed");
    rate.converged = table.flag("converged").value_or(true);
    if (!task || !resource) continue;
    rate.task = task_type(*task);
    rate.resource = resource_id(*resource);
    out.push_back(rate);
  }
  return out;
}

}  // namespace allot::detail
