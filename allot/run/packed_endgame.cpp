#include "allot/run/packed_endgame.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace allot {
namespace {

constexpr double kPackedNever = std::numeric_limits<double>::infinity();
/// Rounding error, as a part of a capacity or a time.
constexpr double kPackedRounding = 1e-9;
/// Maximum effort for an answer, in tasks squared times resources per schedule; and for the first answer.
constexpr double kEffort = 5e5;
constexpr double kFirstEffort = 1e7;
/// Maximum improvements of one order.
constexpr int kImprovements = 16;
/// With more slots of resources that tasks need parts of, only their sum is in the schedule.
constexpr std::size_t kMostSlots = 256;

/// The free amount of each capacity over time; of resources that tasks need parts of, also of each slot.
class Timeline {
 public:
  explicit Timeline(const System& system)
      : width_(system.capacity_count()), begins_{0}, slots_of_(system.resource_count()) {
    for (const CapacityId r : system.capacity_ids()) {
      slack_.push_back(kPackedRounding * system.amount(r));
      free_.push_back(system.is_shared(r) ? kPackedNever : system.amount(r));
    }
    for (const TaskType i : system.types()) {
      for (const ResourceId j : system.resources_for(i)) {
        for (const Draw& draw : system.needs(i, j)) {
          if (system.is_servers(draw.capacity) && draw.amount != std::floor(draw.amount))
            has_slots(system, index(draw.capacity));
        }
      }
    }
  }

  /// Amounts at each time, beside those of the system's capacities.
  std::size_t slots() const noexcept { return width_ - slack_.size(); }

  /// The first time from which there is room for this long.
  double first_room(std::span<const Draw> needs, double length) const {
    std::size_t first = 0;  // the step in which it begins
    for (std::size_t at = 0; at < begins_.size(); ++at) {
      if (begins_[at] >= begins_[first] + length * (1 - kPackedRounding)) break;
      first = has_room(at, needs) ? first_with_slots(first, at, needs) : at + 1;
      if (first == begins_.size()) return kPackedNever;
    }
    return begins_[first];
  }

  /// `held`: the slots; empty: those that are free all the time.
  void take(std::span<const Draw> needs, double begin, double end,
            std::span<const Holding::Server> held = {}) {
    const std::size_t first = split(begin);
    const std::size_t last = end < kPackedNever ? split(end) : begins_.size();
    std::vector<Holding::Server> taken(held.begin(), held.end());
    for (const Draw& draw : needs) {
      const auto [column, count] = slots_at(draw);
      if (count == 0 || !held.empty()) continue;
      std::vector<double> least(count, 1.0);
      // Not the rounding error after which there was no room.
      for (std::size_t at = first; at < last; ++at) {
        if (begins_[at] < begin + (end - begin) * (1 - kPackedRounding)) restrict_to(at, column, least);
      }
      take_slots(least, resource_id(index(draw.capacity)), draw.amount, std::nullopt, taken);
    }
    for (std::size_t at = first; at < last; ++at) {
      for (const Draw& draw : needs) free_[at * width_ + index(draw.capacity)] -= draw.amount;
      for (const Holding::Server& server : taken) {
        const auto [column, count] = slots_of_[index(server.resource)];
        if (count > 0) free_[at * width_ + column + static_cast<std::size_t>(server.number)] -= server.part;
      }
    }
  }

 private:
  struct Columns {
    std::size_t first = 0;
    std::size_t count = 0;
  };

  void has_slots(const System& system, std::size_t r) {
    const auto count = static_cast<std::size_t>(system.resource(resource_id(r)).servers);
    if (slots_of_[r].count > 0 || slots() + count > kMostSlots) return;
    slots_of_[r] = {width_, count};
    width_ += count;
    free_.insert(free_.end(), count, 1.0);
  }
  Columns slots_at(const Draw& draw) const {
    return index(draw.capacity) < slots_of_.size() ? slots_of_[index(draw.capacity)] : Columns();
  }
  /// What is free of each slot in a step, too.
  void restrict_to(std::size_t at, std::size_t column, std::vector<double>& least) const {
    for (std::size_t s = 0; s < least.size(); ++s)
      least[s] = std::min(least[s], free_[at * width_ + column + s]);
  }
  /// The first step, not before `first`, from which the same slots have room until the end of step `at`;
  /// the step after it if there is none.
  std::size_t first_with_slots(std::size_t first, std::size_t at, std::span<const Draw> needs) const {
    for (const Draw& draw : needs) {
      const auto [column, count] = slots_at(draw);
      if (count == 0) continue;
      std::vector<double> least(count, 1.0);
      for (std::size_t step = at + 1; step-- > first;) {
        restrict_to(step, column, least);
        if (!have_room(least, draw.amount)) first = step + 1;
      }
    }
    return first;
  }

  bool has_room(std::size_t at, std::span<const Draw> needs) const {
    return std::all_of(needs.begin(), needs.end(), [&](const Draw& draw) {
      const std::size_t r = index(draw.capacity);
      return draw.amount <= free_[at * width_ + r] + slack_[r];
    });
  }
  /// The step that begins at a time; splits a step if necessary.
  std::size_t split(double time) {
    const auto after = std::upper_bound(begins_.begin(), begins_.end(), time);
    const auto at = static_cast<std::size_t>(after - begins_.begin());
    if (begins_[at - 1] == time) return at - 1;
    const auto from = static_cast<std::ptrdiff_t>((at - 1) * width_);
    const std::vector<double> same(free_.begin() + from,
                                   free_.begin() + from + static_cast<std::ptrdiff_t>(width_));
    begins_.insert(after, time);
    free_.insert(free_.begin() + static_cast<std::ptrdiff_t>(at * width_), same.begin(), same.end());
    return at;
  }

  std::size_t width_;
  std::vector<double> begins_;
  std::vector<double> free_;       // by step: of each capacity, and of slots
  std::vector<double> slack_;      // by capacity
  std::vector<Columns> slots_of_;  // by resource
};

struct PackedSchedule {
  std::vector<std::pair<std::size_t, ResourceId>> start;
  double finish = 0;
  double total = 0;      // work: if two schedules end together, the one with less is better
  std::size_t last = 0;  // position in the order of the task that ends last
  bool operator<(const PackedSchedule& other) const noexcept {
    const double margin = kPackedRounding * std::max(finish, other.finish);
    if (finish < other.finish - margin) return true;
    if (finish > other.finish + margin) return false;
    return total < other.total * (1 - kPackedRounding);
  }
};

class PackedPlanner {
 public:
  PackedPlanner(const System& system, std::span<const PackedGroup> groups, const PerPair<double>& seconds,
                std::span<const PackedRunning> running, std::span<const double> planned)
      : system_(system), groups_(groups), seconds_(seconds), by_plan_(seconds), now_(system) {
    for (std::size_t g = 0; g < groups.size() && !planned.empty(); ++g) {
      const std::span<double> row = by_plan_.row(task_type(g));
      const auto part = planned.subspan(index(groups[g].type) * row.size(), row.size());
      bool any = false;
      for (std::size_t j = 0; j < row.size(); ++j) any |= row[j] > 0 && part[j] > 0;
      for (std::size_t j = 0; any && j < row.size(); ++j) row[j] = part[j] > 0 ? row[j] : 0;
    }
    for (const PackedRunning& task : running)
      now_.take(system.needs(task.type, task.resource), 0, task.free_in, task.servers);
  }

  /// `kept`: the types of the previous order, and whether it followed the plan; set to those of the best
  /// order. `asked`: the number of calls so far.
  PackedPlan plan(std::vector<TaskType>& kept, bool& by_plan, std::size_t asked) const {
    std::vector<Order> all = orders();
    const auto tasks = static_cast<double>(all.front().groups.size());
    const double cost = tasks * tasks * static_cast<double>(seconds_.resources() * (1 + now_.slots())) + 1;
    double effort = kFirstEffort / cost;
    if (!kept.empty()) {  // the previous order, and one of the others in turn
      Order before{continued(kept, all.front().groups.size()), by_plan};
      all = {std::move(before), std::move(all[asked % all.size()])};
      effort = kEffort / cost;
    }
    const int improvements = static_cast<int>(
        std::min<double>(kImprovements, std::max(1.0, effort / static_cast<double>(all.size()))));
    PackedSchedule best = listed(all.front());
    Order best_order = all.front();
    for (Order& order : all) {
      PackedSchedule schedule = listed(order);
      for (int round = 0;; ++round) {
        if (schedule < best) {
          best = schedule;
          best_order = order;
        }
        if (round == improvements || schedule.last == 0) break;
        const auto begin = order.groups.begin();
        std::rotate(begin, begin + static_cast<std::ptrdiff_t>(schedule.last),
                    begin + static_cast<std::ptrdiff_t>(schedule.last) + 1);
        schedule = listed(order);
      }
    }
    kept.clear();
    for (const std::size_t g : best_order.groups) kept.push_back(groups_[g].type);
    by_plan = best_order.by_plan;
    return {std::move(best.start), best.finish};
  }

 private:
  struct Order {
    std::vector<std::size_t> groups;  // of the tasks, one by one
    bool by_plan = false;             // only at places of the plan
  };

  /// The shortest time of a task of a group, and the largest part of a capacity that it holds then.
  std::pair<double, double> size_of(std::size_t g) const {
    double least = kPackedNever;
    double width = 0;
    for (const ResourceId j : seconds_.resource_ids()) {
      const double takes = seconds_(task_type(g), j);
      if (!(takes > 0) || takes >= least) continue;
      least = takes;
      width = 0;
      for (const Draw& draw : system_.needs(groups_[g].type, j)) {
        if (!system_.is_shared(draw.capacity))
          width = std::max(width, draw.amount / system_.amount(draw.capacity));
      }
    }
    return {least, width};
  }

  /// The previous order without the tasks that have started since: the first ones of each type. New tasks
  /// come first.
  std::vector<std::size_t> continued(std::span<const TaskType> kept, std::size_t size) const {
    std::vector<std::vector<std::size_t>> waiting(system_.type_count());  // groups; the last one goes first
    for (std::size_t g = groups_.size(); g-- > 0;) {
      if (size_of(g).first < kPackedNever)
        waiting[index(groups_[g].type)].insert(waiting[index(groups_[g].type)].end(),
                                               static_cast<std::size_t>(groups_[g].count), g);
    }
    std::vector<std::size_t> order;
    for (auto type = kept.rbegin(); type != kept.rend(); ++type) {
      std::vector<std::size_t>& of_type = waiting[index(*type)];
      if (of_type.empty()) continue;
      order.push_back(of_type.front());
      of_type.erase(of_type.begin());
    }
    for (const std::vector<std::size_t>& of_type : waiting)
      order.insert(order.end(), of_type.begin(), of_type.end());
    std::reverse(order.begin(), order.end());
    assert(order.size() == size);
    (void)size;
    return order;
  }

  std::vector<Order> orders() const {
    std::vector<std::size_t> known;
    std::vector<std::pair<double, double>> sizes(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      sizes[g] = size_of(g);
      if (groups_[g].count > 0 && sizes[g].first < kPackedNever) known.push_back(g);
    }
    std::vector<std::vector<std::size_t>> all;
    const auto add_by = [&](const auto& score) {
      std::vector<std::size_t> sorted = known;
      std::stable_sort(sorted.begin(), sorted.end(),
                       [&](std::size_t a, std::size_t b) { return score(a) > score(b); });
      std::vector<std::size_t>& order = all.emplace_back();
      for (const std::size_t g : sorted)
        order.insert(order.end(), static_cast<std::size_t>(groups_[g].count), g);
    };
    add_by([&](std::size_t g) { return sizes[g].first * sizes[g].second; });
    add_by([&](std::size_t g) { return sizes[g].first; });
    add_by([&](std::size_t g) { return sizes[g].second; });
    // Evenly mixed: the k-th of n tasks is at (k + 1/2) / n.
    std::vector<std::pair<double, std::size_t>> mixed;
    for (const std::size_t g : all.front()) mixed.emplace_back(0, g);
    std::vector<Count> taken(groups_.size(), 0);
    for (auto& [place, g] : mixed)
      place = (static_cast<double>(taken[g]++) + 0.5) / static_cast<double>(groups_[g].count);
    std::stable_sort(mixed.begin(), mixed.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<std::size_t>& order = all.emplace_back();
    for (const auto& [place, g] : mixed) order.push_back(g);
    std::vector<Order> each;
    for (const std::vector<std::size_t>& groups : all) {
      each.push_back({groups, false});
      if (by_plan_.values() != seconds_.values()) each.push_back({groups, true});
    }
    return each;
  }

  PackedSchedule listed(const Order& order) const {
    const PerPair<double>& seconds = order.by_plan ? by_plan_ : seconds_;
    Timeline timeline = now_;
    PackedSchedule schedule;
    for (std::size_t at = 0; at < order.groups.size(); ++at) {
      const std::size_t g = order.groups[at];
      double best_end = kPackedNever;
      double best_begin = 0;
      ResourceId best{};
      for (const ResourceId j : seconds_.resource_ids()) {
        const double takes = seconds(task_type(g), j);
        if (!(takes > 0)) continue;
        const double begin = timeline.first_room(system_.needs(groups_[g].type, j), takes);
        if (begin + takes >= best_end) continue;
        best_end = begin + takes;
        best_begin = begin;
        best = j;
      }
      if (best_end == kPackedNever) continue;
      timeline.take(system_.needs(groups_[g].type, best), best_begin, best_end);
      if (best_begin == 0) schedule.start.emplace_back(g, best);
      schedule.total += best_end - best_begin;
      if (best_end > schedule.finish) {
        schedule.finish = best_end;
        schedule.last = at;
      }
    }
    return schedule;
  }

  const System& system_;
  std::span<const PackedGroup> groups_;
  const PerPair<double>& seconds_;
  PerPair<double> by_plan_;  // also 0 where the plan has none
  Timeline now_;
};

}  // namespace

PackedPlan PackedEndgame::plan(const System& system, std::span<const PackedGroup> groups,
                               const PerPair<double>& seconds, std::span<const PackedRunning> running,
                               std::span<const double> planned) {
  // If a resource was added or lost, start from scratch.
  std::vector<bool> places(system.type_count() * system.resource_count(), false);
  for (const TaskType g : seconds.type_ids()) {
    for (const ResourceId j : seconds.resource_ids()) {
      if (seconds(g, j) > 0) places[index(groups[index(g)].type) * system.resource_count() + index(j)] = true;
    }
  }
  for (std::size_t at = 0; at < places.size() && !order_.empty(); ++at) {
    if (places[at] && !places_[at]) order_.clear();
  }
  places_ = std::move(places);
  return PackedPlanner(system, groups, seconds, running, planned).plan(order_, by_plan_, asked_++);
}

}  // namespace allot
