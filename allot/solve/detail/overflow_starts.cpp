#include "allot/solve/detail/overflow_starts.hpp"

#include <algorithm>
#include <limits>

namespace allot::detail {

void OverflowStarts::make(const System& system, const std::vector<bool>& closed) {
  system_ = &system;
  closed_ = closed;
  pairs_.clear();
  ranked_.clear();
  for (const TaskType i : system.types()) {
    if (system.count(i) == 0) continue;
    const std::size_t before = pairs_.size();
    for (const ResourceId j : system.resources_for(i)) {
      if (is_closed(index(j))) continue;
      pairs_.push_back({system.value_rate(i, j), static_cast<std::uint32_t>(index(i)),
                        static_cast<std::uint32_t>(index(j))});
    }
    if (pairs_.size() == before) return;
  }
  std::sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
    if (a.rate != b.rate) return a.rate > b.rate;
    return a.type != b.type ? a.type < b.type : a.resource < b.resource;
  });
  types_.assign(system.resource_count(), 0);
  for (const Pair& pair : pairs_) ++types_[pair.resource];
  // A resource that only one type can use does not help the others; but there may be no other.
  const std::uint32_t enough = std::min(2U, *std::max_element(types_.begin(), types_.end()));
  if (enough == 0) return;
  for (std::size_t overflow = 0; overflow < system.resource_count(); ++overflow) {
    if (types_[overflow] < enough) continue;
    fill(overflow);
    double x = 0;
    for (std::uint32_t j = 0; j < contents_.size(); ++j) x += throughput(j, contents_[j]);
    const auto same = [x](const Ranked& other) { return other.throughput == x; };
    if (std::none_of(ranked_.begin(), ranked_.end(), same)) ranked_.push_back({x, overflow});
  }
  std::sort(ranked_.begin(), ranked_.end(), [](const Ranked& a, const Ranked& b) {
    return a.throughput != b.throughput ? a.throughput > b.throughput : a.overflow < b.overflow;
  });
}

void OverflowStarts::write(std::size_t rank, Assignment& assignment) {
  assignment.reset(system_->type_count(), system_->resource_count());
  fill(ranked_[rank].overflow);
  for (const Placed& placed : placed_) {
    assignment(task_type(placed.type), resource_id(placed.resource)) += placed.n;
  }
}

void OverflowStarts::put(std::uint32_t type, std::uint32_t resource, Count n) {
  contents_[resource] = plus(contents_[resource], type, resource, n);
  placed_.push_back({type, resource, n});
}

/// Gives the free servers of all resources but one to the fastest pairs, then spills the rest.
void OverflowStarts::fill(std::size_t overflow) {
  left_.clear();
  placed_.clear();
  for (const TaskClass& task : system_->tasks()) left_.push_back(task.count);
  contents_.assign(system_->resource_count(), {});
  std::size_t open = system_->resource_count() - 1;  // at most
  for (const Pair& pair : pairs_) {
    if (pair.resource == overflow || left_[pair.type] == 0) continue;
    const Count free = system_->resource(resource_id(pair.resource)).servers - contents_[pair.resource].tasks;
    if (free == 0) continue;
    const Count n = std::min(left_[pair.type], free);
    left_[pair.type] -= n;
    put(pair.type, pair.resource, n);
    if (n == free && --open == 0) break;
  }
  spill(overflow);
}

/// The rest goes to the resource that takes the overflow. Types that cannot run there come first, since they
/// may push others out to it.
void OverflowStarts::spill(std::size_t overflow) {
  const auto to = static_cast<std::uint32_t>(overflow);
  for (std::uint32_t i = 0; i < left_.size(); ++i) {
    if (left_[i] > 0 && !system_->can_run(task_type(i), resource_id(to))) spill_elsewhere(i, to);
  }
  for (std::uint32_t i = 0; i < left_.size(); ++i) {
    if (left_[i] > 0) put(i, to, left_[i]);
  }
}

/// To where it costs least, with or without pushing the slowest tasks there out to the overflow.
void OverflowStarts::spill_elsewhere(std::uint32_t type, std::uint32_t overflow) {
  const Count n = left_[type];
  left_[type] = 0;
  double most = -std::numeric_limits<double>::infinity();
  std::uint32_t to = 0;
  bool pushes = false;
  for (const ResourceId resource : system_->resources_for(task_type(type))) {
    const auto j = static_cast<std::uint32_t>(index(resource));
    if (is_closed(j)) continue;
    const ColumnSums joined = plus(contents_[j], type, j, n);
    const double before = throughput(j, contents_[j]);
    if (const double gain = throughput(j, joined) - before; gain > most) {
      most = gain;
      to = j;
      pushes = false;
    }
    if (const double gain = push_out(j, overflow, n, joined) - before; gain > most) {
      most = gain;
      to = j;
      pushes = true;
    }
  }
  if (pushes) push_out(to, overflow, n);
  put(type, to, n);
}

/// The throughput of a resource with the given content once its n slowest tasks that can move have gone to
/// the overflow, plus what the overflow gains by them.
double OverflowStarts::push_out(std::uint32_t resource, std::uint32_t overflow, Count n,
                                ColumnSums content) const noexcept {
  ColumnSums there = contents_[overflow];
  for (auto placed = placed_.rbegin(); placed != placed_.rend() && n > 0; ++placed) {
    if (placed->resource != resource || !system_->can_run(task_type(placed->type), resource_id(overflow)))
      continue;
    const Count gone = std::min(n, placed->n);
    n -= gone;
    content = plus(content, placed->type, resource, -gone);
    there = plus(there, placed->type, overflow, gone);
  }
  return throughput(resource, content) + throughput(overflow, there) -
         throughput(overflow, contents_[overflow]);
}

void OverflowStarts::push_out(std::uint32_t resource, std::uint32_t overflow, Count n) {
  for (std::size_t at = placed_.size(); at > 0 && n > 0; --at) {
    const Placed placed = placed_[at - 1];
    if (placed.resource != resource || !system_->can_run(task_type(placed.type), resource_id(overflow)))
      continue;
    const Count gone = std::min(n, placed.n);
    n -= gone;
    placed_[at - 1].n -= gone;
    contents_[resource] = plus(contents_[resource], placed.type, resource, -gone);
    put(placed.type, overflow, gone);
  }
}

}  // namespace allot::detail
