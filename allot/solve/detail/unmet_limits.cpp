#include "allot/solve/detail/unmet_limits.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "allot/base/numbers.hpp"
#include "allot/base/quote.hpp"
#include "allot/model/throughput.hpp"

namespace allot::detail {
namespace {

std::string text(double value) { return rounded_text(value, 6); }

/// The max_response of a type, if it is stricter than the floor.
std::optional<double> response(const System& system, TaskType i) {
  const TaskClass& task = system.task(i);
  if (!task.max_response || system.floor(i) <= task.floor.value_or(0)) return {};
  return task.max_response;
}

std::vector<TaskType> limited(const System& system) {
  std::vector<TaskType> types;
  for (const TaskType i : system.types()) {
    if (system.floor(i) > 0) types.push_back(i);
  }
  return types;
}

std::optional<TaskType> first_missed(const System& system, std::span<const double> completions) {
  for (const TaskType i : limited(system)) {
    if (completions[index(i)] < system.floor(i) * (1 - kFloorTolerance)) return i;
  }
  return {};
}

/// ": its 6 threads need 30 tasks/s, and `who` reaches 27.4", and what may help.
std::string how_far(const System& system, TaskType i, double reached, const std::string& who) {
  const std::string name = quote::name(system.task(i).name);
  const Count count = system.count(i);
  const std::optional<double> seconds = response(system, i);
  if (!seconds) return ": " + who + " reaches " + text(reached);
  std::string far =
      std::string(": ") +
      (count == 1 ? "its only thread needs " : "its " + std::to_string(count) + " threads need ") +
      text(system.floor(i)) + " tasks/s, and " + who + " reaches " + text(reached);
  double fastest = 0;
  for (const ResourceId j : system.resources_for(i)) fastest = std::max(fastest, system.rate(i, j));
  if (1 / fastest > *seconds) {
    return far + "; where it is fastest, a task of " + name + " takes " + text(1 / fastest) + " s even alone";
  }
  return far + (count == 1 ? "; more servers may help"
                           : "; fewer threads of " + name + ", or more servers, may help");
}

}  // namespace

std::string limit_name(const System& system, TaskType i) {
  const std::string name = quote::name(system.task(i).name);
  if (const std::optional<double> seconds = response(system, i))
    return "the max_response of " + name + " (" + text(*seconds) + " s)";
  return "the floor of " + name + " (" + text(system.floor(i)) + " tasks/s)";
}

std::string limits_in_words(const System& system) {
  bool has_floor = false;
  bool has_response = false;
  for (const TaskType i : limited(system)) (response(system, i) ? has_response : has_floor) = true;
  std::vector<std::string> words;
  if (system.has_depths() || !system.has_floors()) words.emplace_back("every minimum depth");
  if (has_floor) words.emplace_back("every floor");
  if (has_response) words.emplace_back("every max_response");
  std::string all = words.front();
  for (std::size_t at = 1; at < words.size(); ++at)
    all += (at + 1 < words.size() ? ", " : " and ") + words[at];
  return all;
}

std::string missed_floor(const System& system, std::span<const double> completions) {
  const std::optional<TaskType> i = first_missed(system, completions);
  if (!i) return {};
  const std::optional<double> seconds = response(system, *i);
  return "task type " + quote::name(system.task(*i).name) + " completes " + text(completions[index(*i)]) +
         " tasks/s, below " +
         (seconds
              ? "the " + text(system.floor(*i)) + " that its max_response (" + text(*seconds) + " s) needs"
              : "its floor of " + text(system.floor(*i)));
}

std::string no_assignment_meets(const System& system, const Assignment& nearest) {
  const std::vector<TaskType> types = limited(system);
  const bool is_one = types.size() == 1 && !system.has_depths();
  const std::vector<double> completions = evaluate(system, nearest).throughput_by_task;
  const std::optional<TaskType> missed = first_missed(system, completions);
  std::string all =
      "no assignment meets " + (is_one ? limit_name(system, types.front()) : limits_in_words(system));
  if (!missed) return all;
  const double reached = completions[index(*missed)];
  if (is_one) return all + how_far(system, *missed, reached, "the nearest answer");
  return all + "; the nearest answer misses " + limit_name(system, *missed) +
         how_far(system, *missed, reached, "it");
}

}  // namespace allot::detail
