#include "allot/run/holdings.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace allot {
namespace {

/// Rounding error of a sum of needs, as a part of the capacity.
constexpr double kRounding = 1e-9;
constexpr double kMostPlaces = 100'000;

/// A need of slots: entirely free ones, and a part of one other.
struct SlotNeed {
  std::size_t whole = 0;
  bool has_part = false;
  double part = 0;  // rounded so that sums and differences of parts are exact
};

SlotNeed slot_need(double amount) noexcept {
  const double whole = std::floor(amount + kRounding);
  const bool has_part = whole == 0 || amount > whole + kRounding;
  return {static_cast<std::size_t>(whole), has_part, has_part ? 1 + (amount - whole) - 1 : 0};
}

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
  const auto servers = static_cast<double>(job.resources[index(j)].servers);
  double most = servers;
  for (const JobTask& task : job.tasks) {
    if (!task.commands[index(j)]) continue;
    const auto [whole, has_part, part] = slot_need(servers_taken(task, j));
    // With whole slots there are at most as many tasks as slots.
    if (whole == 0)
      most = std::max(most, std::min(servers * std::floor((1 + kRounding) / part), kMostPlaces));
  }
  return static_cast<Count>(most);
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

// ---- slots

bool have_room(std::span<const double> free, double amount) noexcept {
  const auto [whole, has_part, part] = slot_need(amount);
  std::size_t missing = whole + (has_part ? 1 : 0);
  bool has_place = !has_part;  // for the part, besides entirely free slots
  for (std::size_t s = 0; s < free.size() && missing > 0; ++s) {
    if (free[s] >= 1) {
      --missing;
    } else if (!has_place && free[s] + kRounding >= part) {
      has_place = true;
      --missing;
    }
  }
  return missing == 0;
}

void take_slots(std::span<double> free, ResourceId r, double amount, std::optional<Count> first,
                std::vector<Holding::Server>& taken) {
  SlotNeed need = slot_need(amount);
  const auto take = [&](std::size_t slot, double much) {
    taken.push_back({r, static_cast<Count>(slot), much});
    free[slot] -= much;
  };
  const auto take_whole = [&](std::size_t slot) {
    if (need.whole == 0 || !(free[slot] >= 1)) return;
    take(slot, 1);
    --need.whole;
  };
  if (first && static_cast<std::size_t>(*first) < free.size()) take_whole(static_cast<std::size_t>(*first));
  for (std::size_t s = 0; s < free.size(); ++s) take_whole(s);
  assert(need.whole == 0);
  if (!need.has_part) return;
  std::optional<std::size_t> best;
  for (std::size_t s = 0; s < free.size(); ++s) {
    if (free[s] + kRounding >= need.part && (!best || free[s] < free[*best])) best = s;
  }
  assert(best);
  if (best) take(*best, need.part);
}

// ---- free amounts

bool Holdings::is_enough(const Draw& draw, double free) const noexcept {
  return shape_->is_shared(draw.capacity) || draw.amount <= free + kRounding * shape_->amount(draw.capacity);
}

bool Holdings::is_room(const Draw& draw) const noexcept {
  return is_enough(draw, free_[index(draw.capacity)]) &&
         (!shape_->is_servers(draw.capacity) || have_room(servers_[index(draw.capacity)], draw.amount));
}

bool Holdings::is_room_for(TaskType i, ResourceId j) const noexcept {
  if (!any_) return true;
  const auto draws = needs(i, j);
  return std::all_of(draws.begin(), draws.end(), [&](const Draw& draw) { return is_room(draw); });
}

bool Holdings::fits(TaskType i, ResourceId j) const {
  if (!is_room_for(i, j)) return false;
  if (!any_ || !kept_for_ || kept_for_->first == i) return true;
  for (const Draw& mine : needs(i, j)) {
    for (const Draw& theirs : needs(kept_for_->first, kept_for_->second)) {
      if (theirs.capacity != mine.capacity) continue;
      if (!is_enough(theirs, free_[index(mine.capacity)] - mine.amount)) return false;
      if (!shape_->is_servers(mine.capacity)) continue;
      std::vector<double> slots = servers_[index(mine.capacity)];
      std::vector<Holding::Server> taken;
      take_slots(slots, resource_id(index(mine.capacity)), mine.amount, std::nullopt, taken);
      if (!have_room(slots, theirs.amount)) return false;
    }
  }
  return true;
}

bool Holdings::will_fit(TaskType i, ResourceId j) const {
  if (!any_) return true;
  const auto draws = needs(i, j);
  return std::all_of(draws.begin(), draws.end(), [&](const Draw& draw) {
    if (!is_enough(draw, shape_->amount(draw.capacity) - held_by(lingering_tasks_, draw.capacity)))
      return false;
    if (!shape_->is_servers(draw.capacity) || (lingering_.empty() && stuck_.empty())) return true;
    std::vector<double> slots(servers_[index(draw.capacity)].size(), 1.0);
    const auto take = [&](const Holding& holding) {
      for (const Holding::Server& server : holding.servers) {
        if (index(server.resource) == index(draw.capacity))
          slots[static_cast<std::size_t>(server.number)] -= server.part;
      }
    };
    for (const auto& [when, holding] : lingering_) take(holding);
    for (const auto& [slot, holding] : stuck_) take(holding);
    return have_room(slots, draw.amount);
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

Holding Holdings::take(TaskType i, ResourceId j, Count slot) {
  Holding holding{i, j, {}};
  if (!any_) {
    holding.servers.push_back({j, slot, 1});
    return holding;
  }
  for (const Draw& draw : needs(i, j)) {
    if (!shape_->is_servers(draw.capacity)) continue;
    const ResourceId r = resource_id(index(draw.capacity));
    take_slots(servers_[index(r)], r, draw.amount, r == j ? std::optional(slot) : std::nullopt,
               holding.servers);
  }
  count(i, j, 1);
  return holding;
}

void Holdings::give_back(const Holding& holding) {
  if (!any_) return;
  for (const Holding::Server& server : holding.servers) {
    servers_[index(server.resource)][static_cast<std::size_t>(server.number)] += server.part;
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
