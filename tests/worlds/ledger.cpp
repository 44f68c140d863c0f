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

void tell_slots(Job& job) {
  TemplateScope scope;
  for (const JobResource& resource : job.resources) scope.resources.push_back(resource.name);
  std::vector<std::string> problems;
  for (JobTask& task : job.tasks) {
    for (std::size_t r = 0; r < job.resources.size(); ++r)
      task.env.emplace_back("SLOTS_OF_" + std::to_string(r),
                            Template::parse("{%" + job.resources[r].name + "}", scope, problems));
  }
}

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

/// Each slot by itself. Who holds whole slots and a part of one shares no other one with anybody.
std::string Ledger::wrong_slots(ResourceId r) const {
  const JobResource& resource = job_.resources[index(r)];
  std::vector<int> tasks(static_cast<std::size_t>(resource.servers), 0);
  std::vector<double> held(tasks.size(), 0.0);
  const auto part = [&](const Entry& entry) {
    const double needed = need(entry, servers_of(r));
    const double whole = std::floor(needed * kMargin);
    return needed > whole * kMargin ? needed - whole : 0;
  };
  for (const auto& [id, entry] : entries_) {
    const double needed = need(entry, servers_of(r));
    if (static_cast<double>(entry.slots[index(r)].size()) !=
        std::floor(needed * kMargin) + (part(entry) > 0 ? 1 : 0))
      return "a task that needs " + std::to_string(needed) + " slots of " + resource.name + " is told of " +
             std::to_string(entry.slots[index(r)].size());
    for (const Count slot : entry.slots[index(r)]) {
      if (slot < 0 || slot >= resource.servers) return "a task is told of a slot that is not there";
      ++tasks[static_cast<std::size_t>(slot)];
    }
  }
  for (const auto& [id, entry] : entries_) {
    int shared = 0;
    for (const Count slot : entry.slots[index(r)]) {
      if (tasks[static_cast<std::size_t>(slot)] == 1) continue;
      held[static_cast<std::size_t>(slot)] += part(entry);
      if (++shared > (part(entry) > 0 ? 1 : 0))
        return "a slot of " + resource.name + " that a task holds alone is held by another";
    }
  }
  for (std::size_t slot = 0; slot < held.size(); ++slot) {
    if (held[slot] > kMargin)
      return std::to_string(held[slot]) + " of slot " + std::to_string(slot) + " of " + resource.name +
             " are held";
  }
  return "";
}

std::pair<std::uint64_t, std::string> Ledger::begins(TaskType i, ResourceId j,
                                                     const std::vector<std::string>& slots,
                                                     Clock::time_point now) {
  std::erase_if(entries_, [&](const auto& each) { return each.second.end <= now; });
  const std::uint64_t id = next_++;
  Entry& entry = entries_[id];
  entry.type = i;
  entry.resource = j;
  for (const std::string& list : slots) entry.slots.push_back(numbers(list));
  const bool is_plain = std::all_of(job_.tasks.begin(), job_.tasks.end(), [](const JobTask& task) {
    return std::all_of(task.needs.begin(), task.needs.end(), [](const Need& need) {
      return need.capacity == servers_of(need.resource) && need.amount == 1;
    });
  });
  if (is_plain) return {id, ""};  // a lost task may still be at its slot, which is all that it has
  std::string problem = overdrawn();
  for (std::size_t r = 0; r < job_.resources.size() && problem.empty(); ++r)
    problem = wrong_slots(resource_id(r));
  return {id, problem};
}

void Ledger::ends_at(std::uint64_t holding, Clock::time_point end) {
  if (const auto at = entries_.find(holding); at != entries_.end()) at->second.end = end;
}

}  // namespace allot::worlds
