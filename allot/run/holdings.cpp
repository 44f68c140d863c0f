#include "allot/run/holdings.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace allot {
namespace {

/// Rounding error of a sum of needs, as a part of the capacity.
constexpr double kRounding = 1e-9;
constexpr Count kMostPlaces = 100'000;

PerPair<double> ones(const Job& job) {
  PerPair<double> rates(job.tasks.size(), job.resources.size());
  for (const TaskType i : rates.type_ids()) {
    for (const ResourceId j : rates.resource_ids())
      rates(i, j) = job.tasks[index(i)].commands[index(j)] ? 1.0 : 0.0;
  }
  return rates;
}

}  // namespace

std::string Holding::list(ResourceId j) const {
  std::vector<Count> numbers;
  for (const Server& server : servers) {
    if (server.resource == j) numbers.push_back(server.number);
  }
  std::sort(numbers.begin(), numbers.end());
  std::string text;
  for (const Count number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

double servers_taken(const JobTask& task, ResourceId j) noexcept {
  for (const Need& need : task.needs) {
    if (need.resource == j && need.capacity == servers_of(j)) return need.amount;
  }
  return 1;
}

Count places(const Job& job, ResourceId j) {
  const Count servers = job.resources[index(j)].servers;
  Count most = servers;
  for (const JobTask& task : job.tasks) {
    if (!task.commands[index(j)]) continue;
    const double tasks = std::floor(static_cast<double>(servers) / servers_taken(task, j) * (1 + kRounding));
    most = std::max(most, static_cast<Count>(std::min(tasks, static_cast<double>(kMostPlaces))));
  }
  return most;
}

System job_system(const Job& job, std::span<const double> rates, std::span<const Count> counts) {
  JobNeeds all = needs_of(job);
  std::vector<TaskClass> types(job.tasks.begin(), job.tasks.end());
  const PairSpan rate(rates, job.resources.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    types[i].count = counts[i];
    types[i].needs = std::move(all.needs[i]);
    std::erase_if(types[i].needs, [&](const Need& need) { return !(rate(task_type(i), need.resource) > 0); });
    if (types[i].home && !(rate(task_type(i), *types[i].home) > 0)) types[i].home.reset();
  }
  return System(
      std::vector<Resource>(job.resources.begin(), job.resources.end()), std::move(types),
      Rates(job.tasks.size(), job.resources.size(), std::vector<double>(rates.begin(), rates.end())),
      std::move(all.capacities));
}

Holdings::Holdings(const Job& job) : any_(needs_of(job).any) {
  if (!any_) return;
  shape_.emplace(job_system(job, ones(job).values(), std::vector<Count>(job.tasks.size(), 0)));
  tasks_.assign(job.tasks.size(), job.resources.size(), 0);
  lingering_tasks_ = tasks_;
  for (const CapacityId r : shape_->capacity_ids()) free_.push_back(shape_->amount(r));
  for (const JobResource& resource : job.resources) {
    is_far_.push_back(!resource.launch.empty());
    servers_.emplace_back(static_cast<std::size_t>(resource.servers), 1.0);
  }
}

double Holdings::held_by(const PerPair<Count>& tasks, CapacityId capacity) const noexcept {
  double held = 0;
  for (const TaskType i : tasks.type_ids()) {
    for (const ResourceId j : tasks.resource_ids()) {
      if (tasks(i, j) == 0) continue;
      for (const Draw& draw : needs(i, j)) {
        if (draw.capacity == capacity) held += draw.amount * static_cast<double>(tasks(i, j));
      }
    }
  }
  return held;
}

// ---- free amounts

bool Holdings::is_enough(const Draw& draw, double free) const noexcept {
  return shape_->is_shared(draw.capacity) || draw.amount <= free + kRounding * shape_->amount(draw.capacity);
}

bool Holdings::is_room_for(TaskType i, ResourceId j) const noexcept {
  if (!any_) return true;
  const auto draws = needs(i, j);
  return std::all_of(draws.begin(), draws.end(),
                     [&](const Draw& draw) { return is_enough(draw, free_[index(draw.capacity)]); });
}

bool Holdings::fits(TaskType i, ResourceId j) const noexcept {
  if (!is_room_for(i, j)) return false;
  if (!any_ || !kept_for_ || kept_for_->first == i) return true;
  for (const Draw& mine : needs(i, j)) {
    for (const Draw& theirs : needs(kept_for_->first, kept_for_->second)) {
      if (theirs.capacity == mine.capacity && !is_enough(theirs, free_[index(mine.capacity)] - mine.amount))
        return false;
    }
  }
  return true;
}

bool Holdings::will_fit(TaskType i, ResourceId j) const noexcept {
  if (!any_) return true;
  const auto draws = needs(i, j);
  return std::all_of(draws.begin(), draws.end(), [&](const Draw& draw) {
    return is_enough(draw, shape_->amount(draw.capacity) - held_by(lingering_tasks_, draw.capacity));
  });
}

bool Holdings::is_free(ResourceId j, Count slot) const noexcept {
  if (!any_) return true;
  if (!is_far_[index(j)]) return free_[index(servers_of(j))] > kRounding;
  return servers_[index(j)][static_cast<std::size_t>(slot)] >= 1;
}

// ---- taking and giving back

/// Sums up again what is held of each capacity that the pair needs: running sums would drift.
void Holdings::count(TaskType i, ResourceId j, Count change) {
  tasks_(i, j) += change;
  for (const Draw& draw : needs(i, j)) {
    if (shape_->is_shared(draw.capacity)) continue;
    const double held = held_by(tasks_, draw.capacity);
    assert(held <= shape_->amount(draw.capacity) * (1 + 2 * kRounding));
    free_[index(draw.capacity)] = shape_->amount(draw.capacity) - held;
  }
}

/// Takes whole servers as far as they are free, `first` before others; then a part of another: the fullest
/// server that has room for all of the rest.
void Holdings::take_servers(ResourceId r, double amount, std::optional<Count> first, Holding& holding) {
  std::vector<double>& free = servers_[index(r)];
  const auto take = [&](std::size_t number, double part) {
    holding.servers.push_back({r, static_cast<Count>(number), part});
    free[number] = free[number] - part > kRounding ? free[number] - part : 0;
    amount -= part;
  };
  const auto whole = static_cast<double>(free.size()) * kRounding;
  if (first && static_cast<std::size_t>(*first) < free.size() &&
      free[static_cast<std::size_t>(*first)] >= 1 && amount > 1 - whole)
    take(static_cast<std::size_t>(*first), 1);
  for (std::size_t s = 0; s < free.size() && amount > 1 - whole; ++s) {
    if (free[s] >= 1) take(s, 1);
  }
  while (amount > whole) {
    std::size_t best = free.size();
    for (std::size_t s = 0; s < free.size(); ++s) {
      if (!(free[s] > 0)) continue;
      const bool holds_all = free[s] >= amount - whole;
      if (best == free.size()) {
        best = s;
        continue;
      }
      const bool best_holds_all = free[best] >= amount - whole;
      if (holds_all != best_holds_all ? holds_all : holds_all ? free[s] < free[best] : free[s] > free[best])
        best = s;
    }
    if (best == free.size()) break;  // rounding
    take(best, std::min(amount, free[best]));
  }
}

Holding Holdings::take(TaskType i, ResourceId j, Count slot) {
  Holding holding{i, j, {}};
  if (!any_) {
    holding.servers.push_back({j, slot, 1});
    return holding;
  }
  for (const Draw& draw : needs(i, j)) {
    if (!shape_->is_servers(draw.capacity)) continue;
    const ResourceId r = resource_id(index(draw.capacity));
    take_servers(r, draw.amount, r == j ? std::optional(slot) : std::nullopt, holding);
  }
  count(i, j, 1);
  return holding;
}

void Holdings::give_back(const Holding& holding) {
  if (!any_) return;
  for (const Holding::Server& server : holding.servers) {
    double& free = servers_[index(server.resource)][static_cast<std::size_t>(server.number)];
    free = free + server.part > 1 - kRounding ? 1 : free + server.part;
  }
  count(holding.type, holding.resource, -1);
}

// ---- holdings of tasks that may still run

void Holdings::give_back_at(Holding holding, Clock::time_point when) {
  if (!any_) return;
  ++lingering_tasks_(holding.type, holding.resource);
  lingering_.emplace_back(when, std::move(holding));
}

void Holdings::keep_while_stuck(Holding holding, std::size_t slot) {
  if (!any_) return;
  ++lingering_tasks_(holding.type, holding.resource);
  stuck_.emplace_back(slot, std::move(holding));
}

Holding Holdings::no_longer_stuck(std::size_t at) {
  Holding holding = std::move(stuck_[at].second);
  stuck_.erase(stuck_.begin() + static_cast<std::ptrdiff_t>(at));
  --lingering_tasks_(holding.type, holding.resource);
  return holding;
}

void Holdings::wake(Clock::time_point now) {
  for (std::size_t at = lingering_.size(); at-- > 0;) {
    if (lingering_[at].first > now) continue;
    const Holding holding = std::move(lingering_[at].second);
    lingering_.erase(lingering_.begin() + static_cast<std::ptrdiff_t>(at));
    --lingering_tasks_(holding.type, holding.resource);
    give_back(holding);
  }
}

Clock::time_point Holdings::next() const noexcept {
  Clock::time_point next = Clock::time_point::max();
  for (const auto& [when, holding] : lingering_) next = std::min(next, when);
  return next;
}

void Holdings::slept(Clock::duration time) noexcept {
  for (auto& [when, holding] : lingering_) when += time;
}

}  // namespace allot
