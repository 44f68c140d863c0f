#include "tests/worlds/ledger.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace allot::worlds {
namespace {

constexpr double kMargin = 1 + 1e-7;

std::vector<Count> numbers(const std::string& list) {
  std::vector<Count> out;
  std::istringstream text(list);
  for (std::string word; std::getline(text, word, ',');) out.push_back(std::stoll(word));
  return out;
}

}  // namespace

double Ledger::need(const Entry& entry, CapacityId capacity) const {
  for (const Need& need : job_.tasks[index(entry.type)].needs) {
    if (need.resource == entry.resource && need.capacity == capacity) return need.amount;
  }
  return capacity == servers_of(entry.resource) ? 1 : 0;
}

/// Machine 0 is this one; those behind a launcher are one each.
bool Ledger::is_at(const Entry& entry, std::size_t capacity, std::size_t machine) const {
  if (job_.capacities[capacity].per == JobCapacity::Per::kAll) return machine == 0;
  const bool is_here = job_.resources[index(entry.resource)].launch.empty();
  return machine == (is_here ? 0 : 1 + index(entry.resource));
}

std::string Ledger::overdrawn() const {
  const std::size_t resources = job_.resources.size();
  for (std::size_t j = 0; j < resources; ++j) {
    double held = 0;
    for (const auto& [id, entry] : entries_) held += need(entry, servers_of(resource_id(j)));
    if (held > static_cast<double>(job_.resources[j].servers) * kMargin)
      return std::to_string(held) + " servers of " + job_.resources[j].name + " are held, and there are " +
             std::to_string(job_.resources[j].servers);
  }
  for (std::size_t c = 0; c < job_.capacities.size(); ++c) {
    if (job_.capacities[c].shared) continue;
    for (std::size_t machine = 0; machine <= resources; ++machine) {
      double held = 0;
      for (const auto& [id, entry] : entries_) {
        if (is_at(entry, c, machine)) held += need(entry, capacity_id(resources + c));
      }
      if (held > job_.capacities[c].amount * kMargin)
        return std::to_string(held) + " of " + job_.capacities[c].name + " are held, and there are " +
               std::to_string(job_.capacities[c].amount);
    }
  }
  return "";
}

/// As many as it needs, and nobody else's where all hold whole ones.
std::string Ledger::wrong_slots(const Entry& entry) const {
  const double needed = need(entry, servers_of(entry.resource));
  const auto servers = job_.resources[index(entry.resource)].servers;
  if (static_cast<double>(entry.slots.size()) < std::floor(needed / kMargin))
    return "a task is told of fewer slots than it needs";
  const auto whole = [&](const Entry& one) {
    return std::all_of(job_.tasks.begin(), job_.tasks.end(), [&](const JobTask& task) {
      return std::all_of(task.needs.begin(), task.needs.end(), [&](const Need& other) {
        return other.capacity != servers_of(one.resource) || other.amount == std::floor(other.amount);
      });
    });
  };
  for (const Count slot : entry.slots) {
    if (slot < 0 || slot >= servers) return "a task is told of a slot that is not there";
    if (!whole(entry)) continue;
    for (const auto& [id, other] : entries_) {
      if (&other != &entry && other.resource == entry.resource &&
          std::find(other.slots.begin(), other.slots.end(), slot) != other.slots.end())
        return "two tasks are told of the same slot";
    }
  }
  return "";
}

std::pair<std::uint64_t, std::string> Ledger::begins(TaskType i, ResourceId j, const std::string& slots,
                                                     Clock::time_point now) {
  std::erase_if(entries_, [&](const auto& each) { return each.second.end <= now; });
  const auto& entry = *entries_.insert({next_++, {i, j, numbers(slots)}}).first;
  const bool is_plain = std::all_of(job_.tasks.begin(), job_.tasks.end(), [](const JobTask& task) {
    return std::all_of(task.needs.begin(), task.needs.end(), [](const Need& need) {
      return need.capacity == servers_of(need.resource) && need.amount == 1;
    });
  });
  if (is_plain) return {entry.first, ""};  // a lost task may still be at its slot, which is all that it has
  std::string problem = overdrawn();
  if (problem.empty()) problem = wrong_slots(entry.second);
  return {entry.first, problem};
}

void Ledger::ends_at(std::uint64_t holding, Clock::time_point end) {
  if (const auto at = entries_.find(holding); at != entries_.end()) at->second.end = end;
}

}  // namespace allot::worlds
